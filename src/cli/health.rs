//! `recall-gate health`.

use std::io::Write;
use std::time::Duration;

use clap::Args;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use super::Failure;

#[derive(Debug, Args)]
pub(super) struct Health {
    /// Address of the service
    #[arg(long, value_name = "ADDRESS", env = "RECALL_GATE_ADDRESS", default_value = crate::config::DEFAULT_LISTEN)]
    address: String,
    /// What to ask about: nothing for readiness, `liveness`, or the whole name of a service
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    service: String,
    /// Seconds to wait for the answer
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=300))]
    timeout_seconds: u64,
}

impl Health {
    pub(super) async fn run(self, out: &mut impl Write) -> Result<(), Failure> {
        let uri = if self.address.contains("://") { self.address.clone() } else { format!("http://{}", self.address) };
        let endpoint = Endpoint::from_shared(uri)
            .map_err(|_| Failure::Usage(vec![format!("`{}` is no address", self.address)]))?;
        let asked = async {
            let channel = endpoint.connect().await.map_err(|error| self.unreachable(&error))?;
            let request = HealthCheckRequest { service: self.service.clone() };
            HealthClient::new(channel).check(request).await.map_err(|status| {
                let code = crate::telemetry::names::status(status.code());
                Failure::failed(format!("`{}` answered {code}: {}", self.address, status.message()))
            })
        };
        let reply = tokio::time::timeout(Duration::from_secs(self.timeout_seconds), asked)
            .await
            .map_err(|late| self.unreachable(&late))??;
        let status = reply.into_inner().status();
        writeln!(out, "{}", status.as_str_name())?;
        match status {
            ServingStatus::Serving => Ok(()),
            other => Err(Failure::failed(format!("`{}` is {}", self.address, other.as_str_name()))),
        }
    }

    fn unreachable(&self, error: &(dyn std::error::Error + 'static)) -> Failure {
        Failure::because(&format!("`{}` does not answer", self.address), error)
    }
}
