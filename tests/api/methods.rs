//! A row for every method of the public services. A method without a row fails the test, so that none is added
//! without its leak test and, where it writes, its resurrection test.

use std::collections::BTreeSet;
use std::pin::Pin;

use prost::Message;
use recall_gate::api::FILE_DESCRIPTOR_SET;
use recall_gate::api::proto::{
    CaptureRequest, ConfirmCandidateRequest, Evidence, GetCallerRequest, GetCandidateRequest, GetMemoryRequest,
    GetPolicyRequest, RejectCandidateRequest,
};
use tonic::Status;

use crate::batch::batch;
use crate::harness::{Caller, Service};
use crate::reading::{
    activated, all, candidates_of, explaining, getting, held, listing_all, recalling_for, shows, unconfirmed,
};
use crate::requests::{correction, deletion, fact, general, in_general, named, recalling, restoration, source};

const CANARY: &str = "zq7canary";

/// A memory and the text it had, deleted by now; and a candidate of the same text, erased by now.
struct Gone {
    memory_id: String,
    candidate_id: String,
}

type Answer = Pin<Box<dyn Future<Output = Result<bool, Status>> + Send>>;

/// Calls one method about what is gone, and says whether the answer shows its text.
type Ask = fn(Caller, Gone) -> Answer;

/// Whether a method may put text where reads find it.
#[derive(PartialEq)]
enum Does {
    Read,
    Write,
    /// `Restore` is the way back, and the only one.
    Restore,
}

macro_rules! ask {
    ($client:ident . $method:ident, |$gone:ident| $request:expr) => {
        |mut caller, $gone| {
            Box::pin(async move {
                let reply = caller.$client.$method($request).await?;
                Ok(shows(reply.get_ref(), CANARY))
            })
        }
    };
}

fn told() -> CaptureRequest {
    CaptureRequest { source: Some(source("user_message", "zq7canary-message")), ..fact("response_style", CANARY) }
}

fn rows() -> Vec<(&'static str, Does, Ask)> {
    vec![
        ("CaptureService/Capture", Does::Write, ask!(capture.capture, |_gone| told())),
        (
            "CaptureService/BatchCapture",
            Does::Write,
            ask!(capture.batch_capture, |_gone| batch([told(), fact("ui_theme", "zq7 dark"), told()])),
        ),
        (
            "CaptureService/ConfirmCandidate",
            Does::Write,
            ask!(capture.confirm_candidate, |gone| ConfirmCandidateRequest {
                candidate_id: gone.candidate_id,
                evidence: Evidence::UserConfirmed.into(),
                ..ConfirmCandidateRequest::default()
            }),
        ),
        (
            "CaptureService/RejectCandidate",
            Does::Write,
            ask!(capture.reject_candidate, |gone| RejectCandidateRequest {
                candidate_id: gone.candidate_id,
                ..RejectCandidateRequest::default()
            }),
        ),
        (
            "CaptureService/GetCandidate",
            Does::Read,
            ask!(capture.get_candidate, |gone| GetCandidateRequest {
                candidate_id: gone.candidate_id,
                ..GetCandidateRequest::default()
            }),
        ),
        ("CaptureService/ListCandidates", Does::Read, ask!(capture.list_candidates, |_gone| candidates_of(general()))),
        (
            "CorrectService/Correct",
            Does::Write,
            ask!(correct.correct, |gone| correction(&gone.memory_id, 2, "anything else")),
        ),
        ("RecallService/Recall", Does::Read, ask!(recall.recall, |_gone| recalling(in_general(), all()))),
        (
            "RecallService/ExplainRecall",
            Does::Read,
            ask!(recall.explain_recall, |_gone| explaining(recalling_for("index", in_general(), all()))),
        ),
        (
            "RecallService/GetMemory",
            Does::Read,
            ask!(recall.get_memory, |gone| GetMemoryRequest {
                purpose: "subject_access".to_owned(),
                ..getting(named(&gone.memory_id))
            }),
        ),
        ("RecallService/ListMemories", Does::Read, ask!(recall.list_memories, |_gone| listing_all("subject_access"))),
        ("DeleteService/Delete", Does::Write, ask!(delete.delete, |gone| deletion(&gone.memory_id, 2))),
        ("DeleteService/Restore", Does::Restore, ask!(delete.restore, |gone| restoration(&gone.memory_id, 2))),
        ("DiscoveryService/GetCaller", Does::Read, ask!(discovery.get_caller, |_gone| GetCallerRequest {})),
        ("DiscoveryService/GetPolicy", Does::Read, ask!(discovery.get_policy, |_gone| GetPolicyRequest {})),
    ]
}

/// Deletes what was captured, and rejects what was held.
async fn gone(caller: &mut Caller) -> Gone {
    let waiting = CaptureRequest { kind: "duty_team".to_owned(), key: "duty_team".to_owned(), ..unconfirmed(told()) };
    let candidate_id = held(caller, waiting).await.candidate_id;
    let reject = RejectCandidateRequest { candidate_id: candidate_id.clone(), ..RejectCandidateRequest::default() };
    caller.capture.reject_candidate(reject).await.unwrap();
    let memory_id = activated(caller, told()).await.memory_id;
    caller.delete.delete(deletion(&memory_id, 1)).await.unwrap();
    Gone { memory_id, candidate_id }
}

/// Every method of the public services, as `Service/Method`.
pub(crate) fn every_method() -> BTreeSet<String> {
    let set = prost_types::FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let public = set.file.iter().filter(|file| file.package() == "recallgate.v1");
    public
        .flat_map(|file| &file.service)
        .flat_map(|service| service.method.iter().map(|method| format!("{}/{}", service.name(), method.name())))
        .collect()
}

#[test]
fn every_method_has_its_row() {
    let rows: BTreeSet<String> = rows().into_iter().map(|(method, ..)| method.to_owned()).collect();
    assert_eq!(rows, every_method());
}

#[tokio::test]
async fn i12_no_method_answers_with_the_text_of_what_is_gone() {
    for (method, _, ask) in rows() {
        let service = Service::start().await;
        let mut caller = service.caller().await;
        let gone = gone(&mut caller).await;
        match ask(caller, gone).await {
            Ok(shown) => assert!(!shown, "{method}"),
            Err(refused) => {
                let told = format!("{}{:?}", refused.message(), refused.details());
                assert!(!told.contains(CANARY), "{method}: {told}");
            }
        }
    }
}

#[tokio::test]
async fn i12_i14_no_write_but_restore_resurrects_what_is_gone() {
    for (method, does, ask) in rows() {
        let service = Service::start().await;
        let mut caller = service.caller().await;
        let gone = gone(&mut caller).await;
        let _ = ask(caller.clone(), gone).await;
        let mut again = service.caller().await;
        let reply = again.recall.recall(recalling(in_general(), all())).await.unwrap().into_inner();
        assert_eq!(shows(&reply, CANARY), does == Does::Restore, "{method}");
    }
}
