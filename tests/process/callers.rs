//! Clients of a running service, and requests to vary.

use recall_gate::api::proto::capture_service_client::CaptureServiceClient;
use recall_gate::api::proto::correct_service_client::CorrectServiceClient;
use recall_gate::api::proto::delete_service_client::DeleteServiceClient;
use recall_gate::api::proto::discovery_service_client::DiscoveryServiceClient;
use recall_gate::api::proto::recall_service_client::RecallServiceClient;
use recall_gate::api::proto::{
    AllQuery, CaptureRequest, Context, CorrectRequest, DeleteRequest, Evidence, GeneralContext, Level, MemoryName,
    ProjectContext, Query, RecallRequest, RecallResponse, RestoreRequest, Scope, Source, context, memory_name,
};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};
use tonic_types::StatusExt;
use uuid::Uuid;

/// Sends a token along, where there is one.
#[derive(Clone)]
pub(crate) struct Bearer(Option<MetadataValue<Ascii>>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.clone());
        }
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

pub(crate) async fn channel(address: &str) -> Channel {
    Endpoint::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap()
}

impl Caller {
    /// Without a credential.
    pub(crate) async fn nobody(address: &str) -> Self {
        Self::of(address, None).await
    }

    /// With that token.
    pub(crate) async fn with_token(address: &str, token: &str) -> Self {
        Self::of(address, Some(token)).await
    }

    async fn of(address: &str, token: Option<&str>) -> Self {
        let bearer = Bearer(token.map(|token| format!("Bearer {token}").parse().unwrap()));
        let channel = channel(address).await;
        let client = || InterceptedService::new(channel.clone(), bearer.clone());
        Self {
            capture: CaptureServiceClient::new(client()),
            correct: CorrectServiceClient::new(client()),
            recall: RecallServiceClient::new(client()),
            delete: DeleteServiceClient::new(client()),
            discovery: DiscoveryServiceClient::new(client()),
        }
    }
}

/// For a request that is sent once.
pub(crate) fn request_id() -> String {
    #[expect(clippy::disallowed_methods, reason = "callers make ids of their own")]
    Uuid::new_v4().to_string()
}

pub(crate) fn user_message(reference: &str) -> Source {
    Source { kind: "user_message".to_owned(), reference: reference.to_owned(), ..Source::default() }
}

/// A general, personal fact that the subject told and confirmed, of the kind with the key's name.
pub(crate) fn fact(key: &str, value: &str) -> CaptureRequest {
    CaptureRequest {
        scope: Some(Scope { level: Level::General.into(), ..Scope::default() }),
        kind: key.to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
        source: Some(user_message("zq7-message-1")),
        evidence: Evidence::UserConfirmed.into(),
        ..CaptureRequest::default()
    }
}

/// The same in a project.
pub(crate) fn fact_of(project: &str, key: &str, value: &str) -> CaptureRequest {
    let scope = Scope { level: Level::Project.into(), project_id: project.to_owned(), ..Scope::default() };
    CaptureRequest { scope: Some(scope), ..fact(key, value) }
}

pub(crate) fn named(memory_id: &str) -> MemoryName {
    MemoryName { name: Some(memory_name::Name::MemoryId(memory_id.to_owned())) }
}

pub(crate) fn correction(memory_id: &str, seen: i64, value: &str) -> CorrectRequest {
    CorrectRequest {
        memory: Some(named(memory_id)),
        expected_version: Some(seen),
        value: value.to_owned(),
        source: Some(user_message("zq7-message-2")),
        evidence: Evidence::UserConfirmed.into(),
        reason: "zq7: the subject said so".to_owned(),
        ..CorrectRequest::default()
    }
}

pub(crate) fn deletion(memory_id: &str, seen: i64) -> DeleteRequest {
    DeleteRequest {
        memory: Some(named(memory_id)),
        expected_version: Some(seen),
        evidence: Evidence::UserConfirmed.into(),
        ..DeleteRequest::default()
    }
}

pub(crate) fn restoration(memory_id: &str, seen: i64) -> RestoreRequest {
    RestoreRequest {
        memory: Some(named(memory_id)),
        expected_version: Some(seen),
        evidence: Evidence::UserConfirmed.into(),
        ..RestoreRequest::default()
    }
}

/// Everything at general level, to talk.
pub(crate) fn recall_all() -> RecallRequest {
    RecallRequest {
        context: Some(Context { context: Some(context::Context::General(GeneralContext {})) }),
        purpose: "converse".to_owned(),
        query: Some(Query { all: Some(AllQuery {}), ..Query::default() }),
        ..RecallRequest::default()
    }
}

/// One key in a project, to talk.
pub(crate) fn recall_in(project: &str, key: &str) -> RecallRequest {
    let project = ProjectContext { project_id: project.to_owned() };
    RecallRequest {
        context: Some(Context { context: Some(context::Context::Project(project)) }),
        query: Some(Query { keys: vec![key.to_owned()], ..Query::default() }),
        ..recall_all()
    }
}

/// The values in the envelope, in rank.
pub(crate) fn values(reply: &RecallResponse) -> Vec<&str> {
    reply.envelope.iter().flat_map(|envelope| &envelope.facts).filter_map(|fact| fact.value.as_deref()).collect()
}

/// The reason in the one `ErrorInfo` of a failed call.
pub(crate) fn error_reason(status: &Status) -> String {
    status.get_details_error_info().unwrap().reason
}
