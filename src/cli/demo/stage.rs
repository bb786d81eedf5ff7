//! The service, its clock, and callers with tokens of their own.

use std::path::Path;
use std::sync::Arc;

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

use super::DemoError;
use crate::api::proto::capture_service_client::CaptureServiceClient;
use crate::api::proto::correct_service_client::CorrectServiceClient;
use crate::api::proto::delete_service_client::DeleteServiceClient;
use crate::api::proto::recall_service_client::RecallServiceClient;
use crate::gate::{Clock, ManualClock};
use crate::identity::{
    Authenticator, DEVELOPMENT_AUDIENCE, DEVELOPMENT_ISSUER, DEVELOPMENT_KEY_ID, Grants, ProjectClaim, SigningKey,
    Ticket, mint,
};
use crate::memory::{Span, Time};
use crate::policy::Policy;
use crate::server::Embedded;

/// The instant at which the demonstration begins: 2026-01-01 00:00 UTC.
const BEGIN: Time = Time::from_micros(1_767_225_600_000_000);

/// The service on a temporary store.
pub(super) struct Stage {
    service: Embedded,
    clock: Arc<ManualClock>,
    key: SigningKey,
    // Removed when the stage is dropped.
    folder: tempfile::TempDir,
}

type Client = InterceptedService<Channel, Bearer>;

/// Somebody who calls.
pub(super) struct Actor {
    pub(super) capture: CaptureServiceClient<Client>,
    pub(super) correct: CorrectServiceClient<Client>,
    pub(super) recall: RecallServiceClient<Client>,
    pub(super) delete: DeleteServiceClient<Client>,
}

/// Sends a token along.
#[derive(Clone)]
pub(super) struct Bearer(MetadataValue<Ascii>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.clone());
        Ok(request)
    }
}

fn start(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> DemoError {
    DemoError::Start(error.into())
}

impl Stage {
    pub(super) async fn open() -> Result<Self, DemoError> {
        let folder = tempfile::tempdir().map_err(start)?;
        let key = SigningKey::generate().map_err(start)?;
        let clock = Arc::new(ManualClock::at(BEGIN));
        let database: &Path = &folder.path().join("demo.db");
        let policy = Policy::compiled_in().map_err(start)?;
        let service = Embedded::start(database, policy, clock.clone(), Authenticator::development(&key)).await;
        Ok(Self { service: service.map_err(start)?, clock, key, folder })
    }

    pub(super) fn address(&self) -> std::net::SocketAddr {
        self.service.address()
    }

    pub(super) fn now(&self) -> Time {
        self.clock.now()
    }

    pub(super) fn pass(&self, seconds: i64) {
        self.clock.advance(Span::from_seconds(seconds));
    }

    /// A caller of that tenant and subject with these projects and every grant.
    pub(super) async fn actor(&self, tenant: &str, subject: &str, projects: &[&str]) -> Result<Actor, DemoError> {
        let project = |id: &&str| ProjectClaim { id: (*id).to_owned(), tasks: None };
        let ticket = Ticket {
            issuer: DEVELOPMENT_ISSUER.to_owned(),
            audience: DEVELOPMENT_AUDIENCE.to_owned(),
            kid: DEVELOPMENT_KEY_ID.to_owned(),
            tenant: tenant.to_owned(),
            principal: "demo-agent".to_owned(),
            subject: Some(subject.to_owned()),
            projects: projects.iter().map(project).collect(),
            grants: Grants::all().names(),
            lifetime_seconds: 86_400,
        };
        let token = mint(&self.key, &ticket, self.now()).map_err(start)?;
        let bearer = Bearer(format!("Bearer {token}").parse().map_err(start)?);
        let channel = Endpoint::from_shared(format!("http://{}", self.address())).map_err(start)?;
        let channel = channel.connect().await.map_err(start)?;
        let client = || InterceptedService::new(channel.clone(), bearer.clone());
        Ok(Actor {
            capture: CaptureServiceClient::new(client()),
            correct: CorrectServiceClient::new(client()),
            recall: RecallServiceClient::new(client()),
            delete: DeleteServiceClient::new(client()),
        })
    }

    pub(super) async fn close(self) {
        self.service.stop().await;
        drop(self.folder);
    }
}
