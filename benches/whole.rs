//! The whole hot path: recalls through a service in this process, over its real layers. HTTP/2 on the loopback address, a
//! signed token, a database file that is synced for each decision, contexts kept in memory, the log as `serve` writes it.
//! One thread runs client and service, one call at a time; the store has its own.

use std::path::Path;
use std::sync::Arc;

use recall_gate::api::proto::capture_service_client::CaptureServiceClient;
use recall_gate::api::proto::recall_service_client::RecallServiceClient;
use recall_gate::api::proto::{
    Budget, CaptureRequest, Consent, ConsentState, Context, Evidence, Level, Nomination, ProjectContext, Query,
    RecallRequest, Scope, Source, context,
};
use recall_gate::gate::{Clock, ManualClock};
use recall_gate::identity::{
    Authenticator, DEVELOPMENT_AUDIENCE, DEVELOPMENT_ISSUER, DEVELOPMENT_KEY_ID, Grants, JwtVerifier, KeySet,
    ProjectClaim, SigningKey, Ticket, mint,
};
use recall_gate::policy::Policy;
use recall_gate::server::Embedded;
use recall_gate::telemetry::{self, Logs};
use tonic::Request;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Channel, Endpoint};

use crate::stage::{NOW, VALUE};
use crate::workload::mark;

const SUBJECT: &str = "subject";
const PROJECT: &str = "project";
const PURPOSE: &str = "converse";
/// Memories of the context, of which ten are nominated.
const MEMORIES: u32 = 40;
const NOMINATIONS: u32 = 10;
/// Calls before those that count: the first ones read the context.
const WARM_UP: u32 = 20;

/// A running service, and one who calls it.
pub(crate) struct Whole {
    service: Embedded,
    channel: Channel,
    token: MetadataValue<Ascii>,
}

impl Whole {
    /// So many recalls, after those that warm it up.
    pub(crate) fn recall_times(iterations: u32) {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let traces = telemetry::start(&Logs::default(), None).expect("a log");
            let whole = Self::start(&folder.path().join("counted.db")).await;
            let request = recalling(whole.capture().await);
            let mut client = RecallServiceClient::new(whole.channel.clone());
            for call in 0..=WARM_UP + iterations {
                if call == WARM_UP || call == WARM_UP + iterations {
                    mark();
                }
                let reply = client.recall(whole.request(request.clone())).await.expect("a reply").into_inner();
                assert_eq!(reply.envelope.map(|envelope| envelope.facts.len()), Some(10), "all are admitted");
            }
            whole.service.stop().await.expect("an end in order");
            traces.stop().await;
        });
    }

    async fn start(database: &Path) -> Self {
        let key = SigningKey::generate().unwrap();
        let keys = KeySet::of(DEVELOPMENT_KEY_ID, &key);
        let authenticator = Authenticator::required(JwtVerifier::new(DEVELOPMENT_ISSUER, DEVELOPMENT_AUDIENCE, keys));
        let clock = Arc::new(ManualClock::at(NOW));
        let token = mint(&key, &ticket(), clock.now()).unwrap();
        let service = Embedded::start(database, Policy::compiled_in().unwrap(), clock, authenticator).await.unwrap();
        let endpoint = Endpoint::from_shared(format!("http://{}", service.address())).unwrap();
        let channel = endpoint.connect().await.unwrap();
        Self { service, channel, token: format!("Bearer {token}").parse().unwrap() }
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.metadata_mut().insert("authorization", self.token.clone());
        request
    }

    /// The ids of all memories.
    async fn capture(&self) -> Vec<String> {
        let mut client = CaptureServiceClient::new(self.channel.clone());
        let mut ids = Vec::new();
        for number in 0..MEMORIES {
            let reply = client.capture(self.request(capturing(number))).await.unwrap();
            ids.push(reply.into_inner().memory_id);
        }
        ids
    }
}

fn ticket() -> Ticket {
    Ticket {
        issuer: DEVELOPMENT_ISSUER.to_owned(),
        audience: DEVELOPMENT_AUDIENCE.to_owned(),
        kid: DEVELOPMENT_KEY_ID.to_owned(),
        tenant: "tenant".to_owned(),
        principal: "agent".to_owned(),
        subject: Some(SUBJECT.to_owned()),
        projects: vec![ProjectClaim { id: PROJECT.to_owned(), tasks: None }],
        grants: Grants::all().names(),
        lifetime_seconds: 86_400,
    }
}

fn capturing(number: u32) -> CaptureRequest {
    let (level, project_id) = match number % 2 {
        1 => (Level::Project, PROJECT.to_owned()),
        _ => (Level::General, String::new()),
    };
    CaptureRequest {
        subject_id: SUBJECT.to_owned(),
        scope: Some(Scope { level: level.into(), project_id, ..Scope::default() }),
        kind: "experience".to_owned(),
        value: format!("{VALUE} {number}"),
        source: Some(Source {
            kind: "user_message".to_owned(),
            reference: format!("message {number}"),
            ..Source::default()
        }),
        evidence: Evidence::UserConfirmed.into(),
        consent: Some(Consent { state: ConsentState::Granted.into(), purposes: vec![PURPOSE.to_owned()] }),
        ..CaptureRequest::default()
    }
}

/// The first ten in the project.
fn recalling(ids: Vec<String>) -> RecallRequest {
    let nominations = (0..NOMINATIONS).zip(ids).map(|(rank, memory_id)| Nomination {
        memory_id,
        value_version: Some(1),
        score: Some(1.0 / (1.0 + f64::from(rank))),
        derived_store_id: "index".to_owned(),
    });
    let project = ProjectContext { project_id: PROJECT.to_owned() };
    RecallRequest {
        subject_id: SUBJECT.to_owned(),
        context: Some(Context { context: Some(context::Context::Project(project)) }),
        purpose: PURPOSE.to_owned(),
        query: Some(Query { nominations: nominations.collect(), ..Query::default() }),
        budget: Some(Budget { max_items: Some(20), max_value_chars: Some(100_000) }),
        min_confidence: None,
    }
}
