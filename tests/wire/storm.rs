//! Case B34: callers that give up at any point.

use std::collections::BTreeSet;

use bytes::Bytes;
use prost::Message;
use recall_gate::api::proto::CaptureResponse;
use recall_gate::server::Limits;
use tonic::Code;

use crate::harness::{Service, fact};
use crate::raw::{Raw, framed, read};
use crate::witness::Witness;

const CAPTURE: &str = "/recallgate.v1.CaptureService/Capture";
const STORM: u32 = 2000;

fn request(number: u32) -> Vec<u8> {
    framed(
        0,
        &fact(&format!("zq7 style {}", number % 7), &format!("0190a000-0000-7000-8000-{number:012x}")).encode_to_vec(),
    )
}

/// Deadlines of 0 to 5 ms and resets, on one connection; then each request id once more, with time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b34_two_thousand_calls_given_up_leave_each_change_whole_or_absent() {
    // The work of all of them may go on at once.
    let service = Service::start(Limits { max_concurrent_calls: 2 * STORM as usize, ..Limits::default() }).await;
    let witness = Witness::of(service.address).await;
    let mut raw = service.raw().await;
    // From then on it knows how many calls its connection may carry.
    assert_eq!(raw.call(CAPTURE, &[], &request(0)).await.code(), Code::Ok);
    let mut outcomes = Vec::new();
    for number in 0..STORM {
        let micros = format!("{}u", number.wrapping_mul(2_654_435_761) % 5000);
        let (answer, mut body) = raw.begin(CAPTURE, &[("grpc-timeout", micros.as_bytes())]).await;
        // The answer may be there before the body is.
        let sent = body.send_data(Bytes::from(request(number)), true).is_ok();
        if number % 3 == 0 && sent {
            body.send_reset(h2::Reason::CANCEL);
        } else {
            outcomes.push(tokio::spawn(read(answer)));
        }
        if number % 16 == 0 {
            tokio::task::yield_now().await;
        }
    }
    for outcome in outcomes {
        let code = outcome.await.unwrap().unwrap().code();
        assert!(
            matches!(code, Code::Ok | Code::DeadlineExceeded | Code::Aborted | Code::ResourceExhausted),
            "{code:?}"
        );
    }
    let mut memories = BTreeSet::new();
    let numbers: Vec<u32> = (0..STORM).collect();
    for numbers in numbers.chunks(100) {
        let (first, again) = (all(&mut raw, numbers).await, all(&mut raw, numbers).await);
        let decisions = |replies: &[CaptureResponse]| -> Vec<String> {
            replies.iter().map(|reply| reply.decision_id.clone()).collect()
        };
        assert!(decisions(&first) == decisions(&again), "the first outcome again");
        memories.extend(first.into_iter().map(|reply| reply.memory_id));
    }
    let before: Vec<_> = memories.into_iter().filter(|id| !id.is_empty()).collect();
    assert_eq!(before.len(), 1, "one address, one memory");
    witness.was_undisturbed().await;
}

async fn all(raw: &mut Raw, numbers: &[u32]) -> Vec<CaptureResponse> {
    let mut answers = Vec::new();
    for number in numbers {
        let (answer, mut body) = raw.begin(CAPTURE, &[]).await;
        body.send_data(Bytes::from(request(*number)), true).unwrap();
        answers.push(read(answer));
    }
    let mut replies = Vec::new();
    for answer in answers {
        let answer = answer.await.unwrap();
        assert_eq!(answer.code(), Code::Ok);
        replies.push(CaptureResponse::decode(&answer.body[5..]).unwrap());
    }
    replies
}
