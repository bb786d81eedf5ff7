//! `recall-gate token`.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{ConfigFile, Failure};
use crate::config::{Layer, Settings};
use crate::gate::{Clock, SystemClock};
use crate::identity::{
    DEVELOPMENT_AUDIENCE, DEVELOPMENT_ISSUER, DEVELOPMENT_KEY_ID, Grants, MAX_LIFETIME_SECONDS, MintError,
    ProjectClaim, SigningKey, Ticket, load_development_key, mint,
};

#[derive(Debug, Args)]
pub(super) struct Token {
    #[command(flatten)]
    config: ConfigFile,

    /// Database whose development key signs [default: recall-gate.db]
    #[arg(long, value_name = "FILE", env = "RECALL_GATE_DATABASE", hide_env_values = true)]
    database: Option<String>,

    /// Private key that signs, instead of the development key: its `kid`, and its file (Ed25519, PKCS#8 PEM)
    #[arg(long, value_name = "KID=FILE", requires_all = ["issuer", "audience"])]
    key: Option<String>,

    /// Issuer (`iss`)
    #[arg(long, value_name = "NAME", requires = "key")]
    issuer: Option<String>,

    /// Audience (`aud`)
    #[arg(long, value_name = "NAME", requires = "key")]
    audience: Option<String>,

    /// The organisation
    #[arg(long, value_name = "ID", default_value = "dev")]
    tenant: String,

    /// Who will be calling (`sub`)
    #[arg(long, value_name = "ID", default_value = "dev")]
    principal: String,

    /// Whom calls are about unless they say otherwise
    #[arg(long, value_name = "ID")]
    subject: Option<String>,

    /// A project that is held: `p` with all its tasks, or `p:task1,task2` with these alone. May be given several times
    #[arg(long = "project", value_name = "PROJECT[:TASK,…]")]
    projects: Vec<String>,

    /// What may be done: `recall`, `purpose:converse`, `attest:user_confirmed`, … May be given several times; without
    /// any, everything
    #[arg(long = "grant", value_name = "GRANT")]
    grants: Vec<String>,

    /// How long the token is valid, in seconds, at most a day
    #[arg(
        long = "lifetime",
        value_name = "SECONDS",
        default_value_t = 3600,
        value_parser = clap::value_parser!(i64).range(1..=MAX_LIFETIME_SECONDS)
    )]
    lifetime_seconds: i64,

    /// Make no token but a key pair: the private key into FILE, the public key into FILE.pub
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["key", "issuer", "audience", "tenant", "principal", "subject", "projects", "grants"]
    )]
    generate_key: Option<PathBuf>,
}

impl Token {
    pub(super) fn run(self, out: &mut impl Write) -> Result<(), Failure> {
        if let Some(path) = &self.generate_key {
            return generate(path, out);
        }
        let signer = match (self.key, self.issuer, self.audience) {
            (Some(key), Some(issuer), Some(audience)) => Signer::configured(&key, issuer, audience)?,
            (None, ..) | (_, None, _) | (.., None) => Signer::development(self.database, &self.config)?,
        };
        let grants = if self.grants.is_empty() { Grants::all().names() } else { self.grants };
        let ticket = Ticket {
            issuer: signer.issuer,
            audience: signer.audience,
            kid: signer.kid,
            tenant: self.tenant,
            principal: self.principal,
            subject: self.subject,
            projects: self.projects.iter().map(|project| project_claim(project)).collect(),
            grants,
            lifetime_seconds: self.lifetime_seconds,
        };
        let token = mint(&signer.key, &ticket, SystemClock.now()).map_err(|error| match error {
            MintError::Token(fault) => Failure::Usage(vec![fault.to_string()]),
            error => Failure::because("no token", &error),
        })?;
        writeln!(out, "{token}")?;
        Ok(())
    }
}

struct Signer {
    key: SigningKey,
    kid: String,
    issuer: String,
    audience: String,
}

impl Signer {
    fn configured(key: &str, issuer: String, audience: String) -> Result<Self, Failure> {
        let named = key.split_once('=').filter(|(kid, file)| !kid.is_empty() && !file.is_empty());
        let (kid, file) = named.ok_or_else(|| Failure::Usage(vec![format!("`--key` must be `KID=FILE`: `{key}`")]))?;
        let key = SigningKey::read(Path::new(file)).map_err(|error| Failure::because("key", &error))?;
        Ok(Self { key, kid: kid.to_owned(), issuer, audience })
    }

    fn development(database: Option<String>, config: &ConfigFile) -> Result<Self, Failure> {
        let flags = Layer { database, ..Layer::default() };
        let settings = Settings::load(flags, config.config.as_deref())?;
        let key = load_development_key(settings.database.path()).map_err(|error| {
            Failure::because("no development key; `recall-gate serve` makes one at its first start", &error)
        })?;
        Ok(Self {
            key,
            kid: DEVELOPMENT_KEY_ID.to_owned(),
            issuer: DEVELOPMENT_ISSUER.to_owned(),
            audience: DEVELOPMENT_AUDIENCE.to_owned(),
        })
    }
}

fn project_claim(project: &str) -> ProjectClaim {
    match project.split_once(':') {
        None => ProjectClaim { id: project.to_owned(), tasks: None },
        Some((id, tasks)) => {
            ProjectClaim { id: id.to_owned(), tasks: Some(tasks.split(',').map(str::to_owned).collect()) }
        }
    }
}

fn generate(path: &Path, out: &mut impl Write) -> Result<(), Failure> {
    let failed = |error| Failure::because("no key", &error);
    let key = SigningKey::generate().map_err(failed)?;
    let public = key.public_pem().map_err(failed)?;
    let mut public_path = path.as_os_str().to_owned();
    public_path.push(".pub");
    let public_path = PathBuf::from(public_path);
    key.write_new(path).map_err(failed)?;
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&public_path)
        .and_then(|mut file| file.write_all(public.as_bytes()))
        .map_err(|error| Failure::because(&format!("`{}`", public_path.display()), &error))?;
    writeln!(out, "private key: {}\npublic key: {}", path.display(), public_path.display())?;
    Ok(())
}
