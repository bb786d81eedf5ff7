//! What a service that has started offers: its address, health, reflection, and a warning where it is open.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpStream};

use prost::Message;
use recall_gate::api::FILE_DESCRIPTOR_SET;
use recall_gate::api::proto::GetCallerRequest;
use tonic::Code;
use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::{v1, v1alpha};

use crate::callers::{Caller, channel};
use crate::program::{Service, finish, program, run};

/// The services of the API, by the descriptors.
pub(crate) fn services() -> BTreeSet<String> {
    let set = prost_types::FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let named = |file: &prost_types::FileDescriptorProto| {
        file.service.iter().map(|service| format!("{}.{}", file.package(), service.name())).collect::<Vec<_>>()
    };
    set.file.iter().flat_map(named).collect()
}

pub(crate) async fn health(channel: Channel, service: &str) -> Result<ServingStatus, Code> {
    let request = HealthCheckRequest { service: service.to_owned() };
    let reply = HealthClient::new(channel).check(request).await;
    reply.map(|reply| reply.into_inner().status()).map_err(|status| status.code())
}

/// The services that reflection lists, in its first and in its older version.
pub(crate) async fn reflected(channel: Channel) -> [BTreeSet<String>; 2] {
    use v1::server_reflection_request::MessageRequest;
    use v1::server_reflection_response::MessageResponse;
    use v1alpha::server_reflection_request::MessageRequest as OldRequest;
    use v1alpha::server_reflection_response::MessageResponse as OldResponse;

    let list = Some(MessageRequest::ListServices(String::new()));
    let request = v1::ServerReflectionRequest { message_request: list, ..v1::ServerReflectionRequest::default() };
    let mut client = v1::server_reflection_client::ServerReflectionClient::new(channel.clone());
    let mut replies = client.server_reflection_info(tokio_stream::once(request)).await.unwrap().into_inner();
    let reply = replies.message().await.unwrap().unwrap();
    let Some(MessageResponse::ListServicesResponse(new)) = reply.message_response else { panic!("{reply:?}") };

    let list = Some(OldRequest::ListServices(String::new()));
    let request =
        v1alpha::ServerReflectionRequest { message_request: list, ..v1alpha::ServerReflectionRequest::default() };
    let mut client = v1alpha::server_reflection_client::ServerReflectionClient::new(channel);
    let mut replies = client.server_reflection_info(tokio_stream::once(request)).await.unwrap().into_inner();
    let reply = replies.message().await.unwrap().unwrap();
    let Some(OldResponse::ListServicesResponse(old)) = reply.message_response else { panic!("{reply:?}") };
    [
        new.service.into_iter().map(|service| service.name).collect(),
        old.service.into_iter().map(|service| service.name).collect(),
    ]
}

#[test]
fn serve_prints_the_address_that_it_got_and_listens_there() {
    let service = Service::start(&[]);
    let address: SocketAddr = service.address.parse().unwrap();
    assert!(address.ip().is_loopback());
    assert_ne!(address.port(), 0);
    TcpStream::connect(address).unwrap();
    let (_, ran) = service.stop();
    assert_eq!(ran.out, format!("listening on {address}\n"), "nothing else goes to standard output");
}

#[tokio::test]
async fn readiness_liveness_and_each_service_are_serving() {
    let service = Service::start(&[]);
    let channel = channel(&service.address).await;
    let names = services();
    assert!(names.contains("recallgate.v1.RecallService"), "{names:?}");
    for name in ["", "liveness"].into_iter().map(str::to_owned).chain(names) {
        assert_eq!(health(channel.clone(), &name).await, Ok(ServingStatus::Serving), "{name:?}");
    }
    assert_eq!(health(channel, "recallgate.v1.NoService").await, Err(Code::NotFound));
}

#[tokio::test]
async fn both_versions_of_reflection_list_every_service() {
    let service = Service::start(&[]);
    let mut expected = services();
    for (place, listed) in reflected(channel(&service.address).await).await.into_iter().enumerate() {
        expected.insert("grpc.health.v1.Health".to_owned());
        let missing: Vec<_> = expected.difference(&listed).collect();
        assert!(missing.is_empty(), "version {place} does not list {missing:?}");
    }
}

#[tokio::test]
async fn i01_development_mode_warns_loudly_and_says_who_one_is() {
    for filter in ["info", "off"] {
        let service = Service::start(&["--log-filter", filter]);
        let mut caller = Caller::nobody(&service.address).await;
        let reply = caller.discovery.get_caller(GetCallerRequest {}).await.unwrap().into_inner();
        assert_eq!((reply.tenant_id.as_str(), reply.subject_id.as_str(), reply.development), ("dev", "dev", true));
        let (_, ran) = service.stop();
        assert!(ran.err.contains("DEVELOPMENT MODE"), "{filter}: {}", ran.err);
        assert!(ran.err.contains("NOT verified"), "{filter}: {}", ran.err);
    }
}

#[test]
fn i01_development_mode_is_refused_on_an_address_that_others_can_reach() {
    let folder = tempfile::tempdir().unwrap();
    for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let ran = run(folder.path(), &["serve", "--listen", listen]);
        assert_eq!(ran.code, Some(2), "{listen}: {}", ran.err);
        assert!(ran.err.contains(listen) && ran.err.contains("no identity `key` is set"), "{}", ran.err);
        let ran = finish(program(folder.path()).arg("serve").env("RECALL_GATE_LISTEN", listen));
        assert_eq!(ran.code, Some(2), "{listen}: {}", ran.err);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "it has not touched anything");
}
