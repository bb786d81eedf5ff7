//! S05: a value that is JSON may nest, to a depth that clients can read again.

use recall_gate::api::proto::{Outcome, RecallRequest};
use recall_gate::policy::{DEFAULT_DOCUMENT, Policy};

use crate::harness::Service;
use crate::reading::{activated, all, recalled};
use crate::requests::{correction, fact, in_general, recalling, values, why};

const KIND: &str = r#"
[kinds.settings]
class = "preference"
keys = ["settings"]
levels = ["general"]
audiences = ["personal"]
purposes = ["converse"]
consent_needed = false
evidence = ["user_confirmed"]
sensitivity = "internal"
value_type = "json"
max_chars = 65536
"#;

#[tokio::test]
async fn s05_json_is_taken_to_a_depth_of_32_and_comes_back_byte_for_byte() {
    let policy = Policy::parse(&format!("{DEFAULT_DOCUMENT}{KIND}")).unwrap();
    for (open, close) in [("[", "]"), ("{\"zq7\":", "}")] {
        let service = Service::start_with(policy.clone()).await;
        let mut caller = service.caller().await;
        let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        let made = activated(&mut caller, fact("settings", "1")).await;
        let (mut last, mut version) = ("1".to_owned(), made.version);
        let depths = [(10, true), (32, true), (33, false), (50, false), (200, false), (8_000, false), (100_000, false)];
        for (depth, fits) in depths {
            let value = nested(depth);
            match caller.correct.correct(correction(&made.memory_id, version, &value)).await {
                Ok(reply) => {
                    let reply = reply.into_inner();
                    assert_eq!(reply.outcome() == Outcome::Activated, fits, "{depth}: {:?}", why(&reply.reasons));
                    assert!(fits || why(&reply.reasons) == ["VALUE_NOT_ALLOWED"], "{depth}: {:?}", why(&reply.reasons));
                }
                Err(refused) => {
                    assert!(!fits && refused.code() == tonic::Code::InvalidArgument, "{depth}: {refused:?}");
                }
            }
            if fits {
                (last, version) = (value, version + 1);
            }
            let budget = Some(recall_gate::api::proto::Budget { max_items: None, max_value_chars: Some(10_000) });
            let reply = recalled(&mut caller, RecallRequest { budget, ..recalling(in_general(), all()) }).await;
            assert_eq!(values(&reply), [last.as_str()], "{depth}");
        }
    }
}
