//! The whole service on a temporary store, with a clock that tests move, and callers with tokens of their own.

use std::sync::Arc;

use recall_gate::api::proto::capture_service_client::CaptureServiceClient;
use recall_gate::api::proto::correct_service_client::CorrectServiceClient;
use recall_gate::api::proto::delete_service_client::DeleteServiceClient;
use recall_gate::api::proto::discovery_service_client::DiscoveryServiceClient;
use recall_gate::api::proto::recall_service_client::RecallServiceClient;
use recall_gate::gate::{Clock, ManualClock};
use recall_gate::identity::{
    Authenticator, DEVELOPMENT_AUDIENCE, DEVELOPMENT_ISSUER, DEVELOPMENT_KEY_ID, Grants, JwtVerifier, KeySet,
    ProjectClaim, SigningKey, Ticket, mint,
};
use recall_gate::memory::{Span, Time};
use recall_gate::policy::Policy;
use recall_gate::server::Embedded;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

use crate::home::{Engine, Home};

/// The instant at which every test begins: 2026-01-01 00:00 UTC.
pub(crate) const BEGIN_SECONDS: i64 = 1_767_225_600;

/// The engine that the whole binary runs on: that of `GATE_TEST_ENGINE`, else SQLite.
fn engine() -> Engine {
    #[expect(clippy::disallowed_methods, reason = "what tests run on is said by their environment")]
    let name = std::env::var("GATE_TEST_ENGINE");
    match name.as_deref() {
        Err(_) | Ok("sqlite") => Engine::Sqlite,
        Ok("postgres") => Engine::Postgres,
        Ok(other) => panic!("GATE_TEST_ENGINE: {other}"),
    }
}

/// A running service.
pub(crate) struct Service {
    pub(crate) embedded: Embedded,
    pub(crate) clock: Arc<ManualClock>,
    key: SigningKey,
    pub(crate) home: Home,
}

/// Sends a token along.
#[derive(Clone)]
pub(crate) struct Bearer(pub(crate) MetadataValue<Ascii>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        request.metadata_mut().insert("authorization", self.0.clone());
        Ok(request)
    }
}

pub(crate) type Client = InterceptedService<Channel, Bearer>;

/// One caller's clients, over a connection of their own.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) capture: CaptureServiceClient<Client>,
    pub(crate) correct: CorrectServiceClient<Client>,
    pub(crate) recall: RecallServiceClient<Client>,
    pub(crate) delete: DeleteServiceClient<Client>,
    pub(crate) discovery: DiscoveryServiceClient<Client>,
}

/// A token to be made: tenant `t1`, subject `s1`, project `p1`, every grant, unless a test says otherwise.
pub(crate) fn ticket() -> Ticket {
    Ticket {
        issuer: DEVELOPMENT_ISSUER.to_owned(),
        audience: DEVELOPMENT_AUDIENCE.to_owned(),
        kid: DEVELOPMENT_KEY_ID.to_owned(),
        tenant: "t1".to_owned(),
        principal: "agent".to_owned(),
        subject: Some("s1".to_owned()),
        projects: vec![project("p1")],
        grants: Grants::all().names(),
        lifetime_seconds: 86_400,
    }
}

/// A project with all its tasks.
pub(crate) fn project(id: &str) -> ProjectClaim {
    ProjectClaim { id: id.to_owned(), tasks: None }
}

/// Every grant but those that start with one of these.
pub(crate) fn all_but(without: &[&str]) -> Vec<String> {
    Grants::all().names().into_iter().filter(|grant| !without.iter().any(|prefix| grant.starts_with(prefix))).collect()
}

impl Service {
    /// Starts one with the compiled-in policy.
    pub(crate) async fn start() -> Self {
        Self::start_with(Policy::compiled_in().unwrap()).await
    }

    /// Starts one with another policy.
    pub(crate) async fn start_with(policy: Policy) -> Self {
        Self::start_in(Home::of(engine()).await, policy).await
    }

    /// Starts one where a store may lie already. Callers need a token: there is no development identity.
    pub(crate) async fn start_in(home: Home, policy: Policy) -> Self {
        crate::listening::listen();
        let key = SigningKey::generate().unwrap();
        let keys = KeySet::of(DEVELOPMENT_KEY_ID, &key);
        let verifier = JwtVerifier::new(DEVELOPMENT_ISSUER, DEVELOPMENT_AUDIENCE, keys);
        let clock = Arc::new(ManualClock::at(Time::from_parts(BEGIN_SECONDS, 0).unwrap()));
        let store = home.open().await;
        let embedded =
            Embedded::start_over(store, policy, clock.clone(), Authenticator::required(verifier)).await.unwrap();
        Self { embedded, clock, key, home }
    }

    /// Stops it and starts another on the same database.
    pub(crate) async fn restart(self) -> Self {
        let Self { embedded, clock, home, .. } = self;
        let now = clock.now();
        embedded.stop().await.unwrap();
        let again = Self::start_in(home, Policy::compiled_in().unwrap()).await;
        again.clock.set(now);
        again
    }

    /// Moves the clock forward.
    pub(crate) fn pass(&self, seconds: i64) {
        self.clock.advance(Span::from_seconds(seconds));
    }

    /// Seconds since 1970 by the service's clock.
    pub(crate) fn now_seconds(&self) -> i64 {
        self.clock.now().parts().0
    }

    /// The token itself.
    pub(crate) fn token(&self, ticket: &Ticket) -> String {
        mint(&self.key, ticket, self.clock.now()).unwrap()
    }

    /// Tenant `t1`, subject `s1`, every grant.
    pub(crate) async fn caller(&self) -> Caller {
        self.caller_of(&ticket()).await
    }

    /// A caller with that token.
    pub(crate) async fn caller_of(&self, ticket: &Ticket) -> Caller {
        let bearer = Bearer(format!("Bearer {}", self.token(ticket)).parse().unwrap());
        let channel = self.channel().await;
        let client = || InterceptedService::new(channel.clone(), bearer.clone());
        Caller {
            capture: CaptureServiceClient::new(client()),
            correct: CorrectServiceClient::new(client()),
            recall: RecallServiceClient::new(client()),
            delete: DeleteServiceClient::new(client()),
            discovery: DiscoveryServiceClient::new(client()),
        }
    }

    /// A connection without a credential.
    pub(crate) async fn channel(&self) -> Channel {
        Endpoint::from_shared(format!("http://{}", self.embedded.address())).unwrap().connect().await.unwrap()
    }
}
