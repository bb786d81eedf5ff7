//! The shortest way through: a fact goes in, comes out, and goes away.

use recall_gate::api::proto::Outcome;
use tonic::Code;

use crate::harness::Service;
use crate::requests::{deletion, error_reason, fact, in_general, keys, reasons, recalling, values};

#[tokio::test]
async fn a_confirmed_fact_is_recalled_until_it_is_deleted() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = caller.capture.capture(fact("response_style", "zq7 brief")).await.unwrap().into_inner();
    assert_eq!((made.outcome(), made.version), (Outcome::Activated, 1));
    let asked = || recalling(in_general(), keys(&["response_style"]));
    let reply = caller.recall.recall(asked()).await.unwrap().into_inner();
    assert_eq!(values(&reply), ["zq7 brief"]);
    let stale = caller.delete.delete(deletion(&made.memory_id, 7)).await.unwrap_err();
    assert_eq!((stale.code(), error_reason(&stale)), (Code::Aborted, "VERSION_CONFLICT".to_owned()));
    caller.delete.delete(deletion(&made.memory_id, 1)).await.unwrap();
    let reply = caller.recall.recall(asked()).await.unwrap().into_inner();
    assert_eq!(values(&reply), [""; 0]);
    assert_eq!(reasons(&reply.rejected[0]), ["DELETED"]);
}
