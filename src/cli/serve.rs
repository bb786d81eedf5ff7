//! `recall-gate serve`.

use std::convert::Infallible;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::signals::{Hangups, Signals};
use super::{ConfigFile, Failure, policy};
use crate::config::{Identity, Layer, Settings};
use crate::gate::{Clock, Gate, SystemClock};
use crate::identity::{Authenticator, JwtVerifier, KeySet, development_key, development_key_path};
use crate::memory::{PolicyVersion, Span};
use crate::server::{Drained, Health, Limits, Server, Upkeep, assemble};
use crate::telemetry;

#[derive(Debug, Args)]
pub(super) struct Serve {
    #[command(flatten)]
    config: ConfigFile,
    #[command(flatten)]
    layer: Layer,
}

impl Serve {
    pub(super) async fn run(self, out: &mut (impl Write + Send), err: &mut (impl Write + Send)) -> Result<(), Failure> {
        let settings = Settings::load(self.layer, self.config.config.as_deref())?;
        let traces = telemetry::start(&settings.logs, settings.otlp_endpoint.as_ref())
            .map_err(|error| Failure::because("no log", &error))?;
        let mut signals = Signals::install().map_err(|error| Failure::because("signals cannot be received", &error))?;
        let hangups = Hangups::install().map_err(|error| Failure::because("signals cannot be received", &error))?;
        let (stop, stopped) = oneshot::channel();
        let served = async {
            let outcome = serve(&settings, stopped, hangups, out, err).await;
            traces.stop().await;
            outcome
        };
        tokio::select! {
            outcome = served => outcome,
            () = twice(&mut signals, stop) => {
                Err(Failure::failed("ended at once by a second signal; calls in flight were cut off"))
            }
        }
    }
}

/// The first signal stops the service, the second ends the wait for it.
async fn twice(signals: &mut Signals, stop: oneshot::Sender<()>) {
    let signal = signals.next().await;
    tracing::info!(signal, "stopping");
    // Nobody receives it only where the service has ended already.
    let _ = stop.send(());
    signals.next().await;
}

async fn serve(
    settings: &Settings,
    stopped: oneshot::Receiver<()>,
    hangups: Hangups,
    out: &mut (impl Write + Send),
    err: &mut (impl Write + Send),
) -> Result<(), Failure> {
    let policy = policy::load(settings.policy.as_deref())?;
    let required = required(settings)?;
    let listener = TcpListener::bind(settings.listen)
        .await
        .map_err(|error| Failure::because(&format!("`{}` cannot be listened on", settings.listen), &error))?;
    let address = listener.local_addr().map_err(|error| Failure::because("no address", &error))?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let policy_version = policy.version;
    let upkeep = Upkeep {
        decision_retention: settings
            .decision_retention
            .map(|retention| Span::from_seconds(i64::try_from(retention.as_secs()).unwrap_or(i64::MAX))),
        min_free_bytes: settings.min_free_bytes,
        context_cache_bytes: settings.context_cache_bytes,
    };
    let assembled = assemble(&settings.database, policy, Arc::clone(&clock), upkeep)
        .await
        .map_err(|error| Failure::because(&format!("`{}`", settings.database), &error))?;
    let authenticator = match required {
        Some(required) => required,
        None => development(settings, err)?,
    };
    let limits = Limits {
        max_call: settings.max_call,
        max_concurrent_calls: settings.max_concurrent_calls,
        max_connections: settings.max_connections,
        max_connection_age: settings.max_connection_age,
        idle_connection: settings.idle_connection,
        ..Limits::default()
    };
    let server = Server {
        routes: assembled.routes,
        authenticator: Arc::new(authenticator),
        store: Arc::clone(&assembled.store),
        ready: assembled.ready,
        clock,
        drain: settings.drain,
        limits,
    };
    tracing::info!(%address, database = %settings.database, policy = %policy_version, "listening");
    writeln!(out, "listening on {address}").and_then(|()| out.flush())?;
    let serving = server.run(listener, Health::new().await, async { stopped.await.unwrap_or_default() });
    let outcome = tokio::select! {
        outcome = serving => outcome.map_err(|error| Failure::because("serving failed", &error)),
        never = reloading(hangups, &assembled.gate, settings.policy.as_deref()) => match never {},
    };
    drop(assembled.upkeep);
    assembled.store.close().await;
    match outcome? {
        Drained::Whole => tracing::info!("stopped"),
        Drained::Cut => tracing::warn!("stopped; calls that were not answered in time were cut off"),
    }
    Ok(())
}

/// Reads the policy again at each SIGHUP.
async fn reloading(mut hangups: Hangups, gate: &Gate, file: Option<&Path>) -> Infallible {
    loop {
        hangups.next().await;
        if let Some(file) = file {
            reload(gate, file).await;
        } else {
            tracing::info!("SIGHUP is ignored: no policy file is set");
        }
    }
}

/// Puts the policy of a file in force, or says everything that speaks against it.
async fn reload(gate: &Gate, file: &Path) {
    let kept = gate.policy().version;
    match read_again(gate, file).await {
        Ok(policy) if policy == kept => tracing::info!(%policy, "the policy file says what is in force already"),
        Ok(policy) => tracing::info!(%policy, before = %kept, "another policy is in force"),
        Err(failure) => {
            for reason in failure.reasons() {
                tracing::error!("{reason}");
            }
            tracing::error!(policy = %kept, "the policy was not read again; the one in force stays");
        }
    }
}

async fn read_again(gate: &Gate, file: &Path) -> Result<PolicyVersion, Failure> {
    let path = file.to_owned();
    // Patterns are compiled and compared, which takes a while: not where calls are answered.
    let policy = tokio::task::spawn_blocking(move || policy::load(Some(&path)))
        .await
        .map_err(|error| Failure::because("the policy could not be read", &error))??;
    let version = policy.version;
    gate.replace_policy(policy).await.map_err(|error| Failure::because("the policy cannot be kept", &error))?;
    Ok(version)
}

/// Who may call, where keys are set; `None`: development.
fn required(settings: &Settings) -> Result<Option<Authenticator>, Failure> {
    let Identity::Tokens { issuer, audience, keys } = &settings.identity else { return Ok(None) };
    let files = keys.iter().map(|(kid, path)| (kid.as_str(), path.as_path()));
    let keys = KeySet::read(files)
        .map_err(|faults| Failure::Failed(faults.iter().map(|fault| format!("key {fault}")).collect()))?;
    Ok(Some(Authenticator::required(JwtVerifier::new(issuer, audience, keys))))
}

/// The development identity, with a key beside the database, which is open by now.
fn development(settings: &Settings, err: &mut impl Write) -> Result<Authenticator, Failure> {
    let key = development_key(settings.database.path())
        .map_err(|error| Failure::because("the development key cannot be used", &error))?;
    warn(settings.database.path(), err)?;
    Ok(Authenticator::development(&key))
}

/// To the log; straight to standard error where the filter would hide it.
fn warn(database: &Path, err: &mut impl Write) -> Result<(), Failure> {
    let key = development_key_path(database);
    for line in [
        "DEVELOPMENT MODE: no identity key is set, so callers are NOT verified".to_owned(),
        "every process on this host may call, as tenant `dev` and subject `dev`, with every grant".to_owned(),
        format!("tokens of the key `{}` are taken too: `recall-gate token --subject alice`", key.display()),
        "for anything else set `issuer`, `audience` and `key`: see `recall-gate serve --help`".to_owned(),
    ] {
        if tracing::enabled!(tracing::Level::WARN) {
            tracing::warn!("{line}");
        } else {
            writeln!(err, "warning: {line}")?;
        }
    }
    Ok(())
}
