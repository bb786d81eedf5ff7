//! S04: more calls at once than the database has connections. None waits for a second one while it holds the first.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use recall_gate::api::proto::{CaptureRequest, CorrectRequest, GetCallerRequest, GetPolicyRequest};
use tonic::{Code, Status};

use crate::batch::batch;
use crate::harness::{Caller, Service};
use crate::reading::{activated, all, candidates_of, explaining, getting, listing_all};
use crate::requests::{correction, deletion, fact, general, in_general, named, recalling, restoration};

/// Ten times as many as there are readers.
const AT_ONCE: usize = 40;
/// What takes as long stands still.
const LONG: Duration = Duration::from_mins(1);

type Answer = Pin<Box<dyn Future<Output = Result<(), Status>> + Send>>;

macro_rules! call {
    ($client:ident . $method:ident, |$id:ident| $request:expr) => {
        (stringify!($method), |mut caller: Caller, $id: String| -> Answer {
            Box::pin(async move { caller.$client.$method($request).await.map(|_| ()) })
        })
    };
}

type Call = (&'static str, fn(Caller, String) -> Answer);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s04_more_of_each_call_at_once_than_connections_are_all_answered() {
    let calls: [Call; 12] = [
        call!(capture.capture, |_id| CaptureRequest { validate_only: true, ..fact("ui_theme", "zq7 dark") }),
        call!(capture.capture, |_id| fact("ui_theme", "zq7 dark")),
        call!(capture.batch_capture, |_id| batch([fact("ui_theme", "zq7 dark"), fact("display_name", "zq7 Ada")])),
        call!(capture.list_candidates, |_id| candidates_of(general())),
        call!(correct.correct, |id| CorrectRequest { validate_only: true, ..correction(&id, 1, "zq7 long") }),
        call!(recall.recall, |_id| recalling(in_general(), all())),
        call!(recall.explain_recall, |_id| explaining(recalling(in_general(), all()))),
        call!(recall.get_memory, |id| getting(named(&id))),
        call!(recall.list_memories, |_id| listing_all("converse")),
        call!(discovery.get_caller, |_id| GetCallerRequest {}),
        call!(discovery.get_policy, |_id| GetPolicyRequest {}),
        call!(delete.restore, |id| restoration(&id, 7)),
    ];
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let id = activated(&mut caller, fact("response_style", "zq7 brief")).await.memory_id;
    for (method, call) in calls {
        let asked: Vec<_> = (0..AT_ONCE).map(|_| tokio::spawn(call(caller.clone(), id.clone()))).collect();
        for answer in asked {
            let answer = tokio::time::timeout(LONG, answer).await.expect("it stands still").unwrap();
            let code = answer.map_or_else(|refused| refused.code(), |()| Code::Ok);
            // A conflict of versions is an answer.
            let answered =
                [Code::Ok, Code::Aborted].contains(&code) || (method == "restore" && code == Code::FailedPrecondition);
            assert!(answered, "{method}: {code:?}");
        }
    }
    caller.delete.delete(deletion(&id, 1)).await.unwrap();
}
