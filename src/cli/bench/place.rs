//! Where the service is: started for this run, or somewhere else.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Parser};
use tempfile::TempDir;
use tonic::metadata::{Ascii, MetadataValue};

use super::service::Process;
use super::world::{PRINCIPAL, PROJECT, World};
use super::{Failure, policy};
use crate::cli::token::Signer;
use crate::config::{Layer, Settings};
use crate::gate::{Clock, SystemClock};
use crate::identity::{Grants, MAX_LIFETIME_SECONDS, ProjectClaim, SigningKey, Ticket, mint};
use crate::policy::Policy;

const NAME: &str = "recall-gate bench";
const KID: &str = "bench";

/// Where the service is.
#[derive(Debug, Default, Args)]
pub(super) struct Place {
    /// Database file, or PostgreSQL database (migrated), of the service that is started [default: a file in a new folder
    /// below this one, which is removed at the end]
    #[arg(long, value_name = "FILE|URL", conflicts_with = "target")]
    database: Option<String>,
    /// File of the digest key, with PostgreSQL
    #[arg(long, value_name = "FILE", requires = "database")]
    digest_key: Option<String>,
    /// Address of a service that runs already; none is started. It gets memories of tenants `bench-0`, `bench-1`, …
    #[arg(long, value_name = "ADDRESS", requires = "key")]
    target: Option<String>,
    /// With `--target`: the private key that signs credentials, its `kid` and its file
    #[arg(long, value_name = "KID=FILE", requires_all = ["target", "issuer", "audience"])]
    key: Option<String>,
    /// With `--target`: issuer (`iss`)
    #[arg(long, value_name = "NAME", requires = "key")]
    issuer: Option<String>,
    /// With `--target`: audience (`aud`)
    #[arg(long, value_name = "NAME", requires = "key")]
    audience: Option<String>,
    /// With `--target`: the process of that service, if it runs here, to measure what it uses
    #[arg(long, value_name = "ID", requires = "target")]
    server_process: Option<u32>,
    /// Further settings of the service that is started, as `serve` takes them
    #[arg(last = true, value_name = "SETTING", conflicts_with = "target")]
    serve: Vec<String>,
}

/// `serve`, to read its settings.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Served {
    #[command(flatten)]
    layer: Layer,
}

/// A place made ready.
pub(super) struct Ready {
    signer: Signer,
    folder: TempDir,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// A service that is started here.
    Own { settings: Box<Settings>, policy: Arc<Policy>, arguments: Vec<String> },
    /// One that runs already.
    Target { address: String, process: Option<u32> },
}

impl Place {
    pub(super) const fn is_target(&self) -> bool {
        self.target.is_some()
    }

    pub(super) fn prepare(self) -> Result<Ready, Failure> {
        let failed = |error| Failure::because("no folder for this run", &error);
        let here = std::env::current_dir().map_err(failed)?;
        let folder = tempfile::Builder::new().prefix("recall-gate-bench-").tempdir_in(here).map_err(failed)?;
        if let (Some(address), Some(key)) = (self.target, &self.key) {
            let signer = Signer::configured(key, self.issuer.unwrap_or_default(), self.audience.unwrap_or_default())?;
            return Ok(Ready { signer, folder, kind: Kind::Target { address, process: self.server_process } });
        }
        let no_key = |error| Failure::because("no key", &error);
        let key = SigningKey::generate().map_err(no_key)?;
        let public: PathBuf = folder.path().join("key.pub");
        let pem = key.public_pem().map_err(no_key)?;
        std::fs::write(&public, pem).map_err(|error| Failure::because("no key", &error))?;
        let database = self.database.unwrap_or_else(|| folder.path().join("recall-gate.db").display().to_string());
        let mut arguments = vec!["--database".to_owned(), database];
        if let Some(digest_key) = self.digest_key {
            arguments.extend(["--digest-key".to_owned(), digest_key]);
        }
        let named = format!("{KID}={}", public.display());
        for (name, value) in [("--key", named.as_str()), ("--issuer", NAME), ("--audience", NAME)] {
            arguments.extend([name.to_owned(), value.to_owned()]);
        }
        arguments.extend(["--listen".to_owned(), "127.0.0.1:0".to_owned()]);
        arguments.extend(self.serve);
        let served = Served::try_parse_from(&arguments).map_err(|error| {
            Failure::Usage(vec![error.to_string().trim_start_matches("error: ").trim_end().to_owned()])
        })?;
        let settings = Settings::load(served.layer, None)?;
        let policy = Arc::new(policy::load(settings.policy.as_deref())?);
        let signer = Signer { key, kid: KID.to_owned(), issuer: NAME.to_owned(), audience: NAME.to_owned() };
        Ok(Ready { signer, folder, kind: Kind::Own { settings: Box::new(settings), policy, arguments } })
    }
}

impl Ready {
    /// The folder of this run.
    pub(super) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Starts the service, unless one runs already.
    pub(super) async fn start(&self) -> Result<Option<Process>, Failure> {
        let Kind::Own { arguments, .. } = &self.kind else { return Ok(None) };
        let arguments = std::iter::once("bench-serve".to_owned()).chain(arguments.iter().cloned()).collect();
        Process::start(self.folder(), "serve", arguments, Vec::new()).await.map(Some)
    }

    /// A credential for each tenant, with every grant.
    pub(super) fn tokens(&self, world: &World) -> Result<Vec<MetadataValue<Ascii>>, Failure> {
        let token = |tenant| {
            let ticket = Ticket {
                issuer: self.signer.issuer.clone(),
                audience: self.signer.audience.clone(),
                kid: self.signer.kid.clone(),
                tenant: World::tenant(tenant),
                principal: PRINCIPAL.to_owned(),
                subject: None,
                projects: vec![ProjectClaim { id: PROJECT.to_owned(), tasks: None }],
                grants: Grants::all().names(),
                lifetime_seconds: MAX_LIFETIME_SECONDS,
            };
            let token = mint(&self.signer.key, &ticket, SystemClock.now());
            let token = token.map_err(|error| Failure::because("no token", &error))?;
            format!("Bearer {token}").parse().map_err(|error| Failure::because("no token", &error))
        };
        (0..world.tenants).map(token).collect()
    }
}
