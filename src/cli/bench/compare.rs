//! What the service is compared with, in the same invocation and driven by the same code.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::appending::{Append, To};
use super::args::Baseline;
use super::caller::Caller;
use super::direct::{Direct, Rows, reach};
use super::drive::Measured;
use super::echo::Told;
use super::mix::Method;
use super::place::{Kind, Ready};
use super::report::{Report, Run};
use super::service::Process;
use super::wire::Wire;
use super::{Bench, Failure, stores};
use crate::config::Database;
use crate::store::bare::Body;

/// What the service answered, to be answered again.
pub(super) struct Samples {
    answers: BTreeMap<String, Vec<u8>>,
    /// Whose memories were recalled.
    recalled: (u32, u32),
}

impl Samples {
    pub(super) async fn of(caller: &Caller, methods: impl Iterator<Item = Method>) -> Result<Self, Failure> {
        let mut samples = Self { answers: BTreeMap::new(), recalled: (0, 0) };
        for method in methods {
            let (call, reply) = caller.sample(method).await?;
            samples.answers.insert(call.method.path().to_owned(), reply.to_vec());
            if call.method == Method::Recall {
                samples.recalled = (call.tenant, call.subject);
            }
        }
        Ok(samples)
    }
}

impl Bench {
    /// Each that was asked for. The service has stopped, unless it is another's.
    pub(super) async fn compare(
        &self,
        ready: &Ready,
        caller: &Caller,
        samples: &Samples,
        run: i64,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let rows = Rows { world: self.world, run: run.unsigned_abs() };
        for baseline in [Baseline::Echo, Baseline::EchoInsert, Baseline::Sql] {
            if !self.baselines().contains(&baseline) {
                continue;
            }
            match (baseline, &ready.kind) {
                (Baseline::EchoInsert, Kind::Own { settings, policy, .. }) => {
                    let to = match &settings.database {
                        Database::File(_) => {
                            let path = ready.folder().join("append.db");
                            stores::open(&Database::File(path.clone()), policy).await?.close().await;
                            To::File(path)
                        }
                        Database::Postgres(options) => To::Postgres(options.ledger.clone()),
                    };
                    let Body { key_id, bytes } = body(&settings.database, samples).await?;
                    let append = Append { to, rows, key_id, body: bytes };
                    self.echo("echo-insert", ready, caller, samples, Some(append), report).await?;
                }
                (Baseline::Sql, Kind::Own { settings, .. }) => {
                    let body = body(&settings.database, samples).await?;
                    let bare = stores::bare(&settings.database).await?;
                    let direct = Direct::new(bare, rows, body, self.nominations, self.seed);
                    let measured = self.warmed("sql", &Arc::new(direct), self.pace.pace(), None).await?;
                    add("sql", &measured, report)?;
                }
                (Baseline::Echo | Baseline::EchoInsert | Baseline::Sql, _) => {
                    self.echo("echo", ready, caller, samples, None, report).await?;
                }
            }
        }
        Ok(())
    }

    /// The same requests to a server that only answers.
    async fn echo(
        &self,
        name: &'static str,
        ready: &Ready,
        caller: &Caller,
        samples: &Samples,
        append: Option<Append>,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let told = Told { answers: samples.answers.clone(), append };
        let told = serde_json::to_vec(&told).map_err(|error| Failure::because("no answers", &error))?;
        let process = Process::start(ready.folder(), name, vec!["bench-echo".to_owned()], told).await?;
        let wire = Wire::connect(&process.address, self.connections).await?;
        let echoed = Arc::new(caller.echoed(wire));
        let measured = self.warmed(name, &echoed, self.pace.pace(), Some(process.id())).await?;
        add(name, &measured, report)
    }
}

/// What the service kept of a recall.
async fn body(database: &Database, samples: &Samples) -> Result<Body, Failure> {
    let (tenant, subject) = samples.recalled;
    let reach = reach(tenant, subject).map_err(|error| Failure::because("no subject", &error))?;
    let body = stores::bare(database).await?.body(&reach).await;
    let body = body.map_err(|error| Failure::because("no decision can be read", &error))?;
    body.ok_or_else(|| Failure::failed("the service kept no decision of a recall"))
}

fn add(baseline: &'static str, measured: &Measured, report: &mut Report) -> Result<(), Failure> {
    let run = Run::of(baseline, measured)?;
    if let Some(service) = report.runs.first() {
        report.ratios.insert(baseline, service.answered_per_second / run.answered_per_second);
    }
    report.runs.push(run);
    Ok(())
}
