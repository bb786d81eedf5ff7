//! `grpc.health.v1`: readiness, liveness, and each service by its name.

use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};

/// Readiness.
const READINESS: &str = "";

/// Serving for as long as the process answers, whatever its database does.
pub const LIVENESS: &str = "liveness";

/// The services of the API.
pub const SERVICES: [&str; 5] = [
    "recallgate.v1.CaptureService",
    "recallgate.v1.CorrectService",
    "recallgate.v1.RecallService",
    "recallgate.v1.DeleteService",
    "recallgate.v1.DiscoveryService",
];

/// What health says. Not ready until told.
#[derive(Debug, Clone)]
pub struct Health {
    reporter: HealthReporter,
}

impl Health {
    /// Alive and not ready.
    pub async fn new() -> Self {
        let health = Self { reporter: HealthReporter::new() };
        health.reporter.set_service_status(LIVENESS, ServingStatus::Serving).await;
        health.set(ServingStatus::NotServing).await;
        health
    }

    /// Calls are welcome.
    pub async fn ready(&self) {
        self.set(ServingStatus::Serving).await;
    }

    /// Calls are not welcome: the store cannot be reached, is migrated, or is recovered.
    pub async fn not_ready(&self) {
        self.set(ServingStatus::NotServing).await;
    }

    /// Says `NOT_SERVING`, then ends the watches: a watch has no end of its own and would hold up the drain.
    pub(super) async fn drain(&self) {
        self.not_ready().await;
        let mut reporter = self.reporter.clone();
        for service in names().chain([LIVENESS]) {
            reporter.clear_service_status(service).await;
        }
    }

    pub(super) fn service(&self) -> HealthServer<HealthService> {
        HealthServer::new(HealthService::from_health_reporter(self.reporter.clone()))
    }

    async fn set(&self, status: ServingStatus) {
        for service in names() {
            self.reporter.set_service_status(service, status).await;
        }
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    [READINESS].into_iter().chain(SERVICES)
}
