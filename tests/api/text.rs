//! Recall by text, over the wire.

use recall_gate::api::proto::{Nominator, Outcome, Query, RecallRequest, TextMode, TextQuery};
use tonic::Code;

use crate::harness::{Caller, Service};
use crate::requests::{
    bad_fields, correction, deletion, experience, in_general, recalling, restoration, substring, values, words,
};
use crate::stored::holds;

async fn keep(caller: &mut Caller, value: &str) -> String {
    let made = caller.capture.capture(experience(value)).await.unwrap().into_inner();
    assert_eq!(made.outcome(), Outcome::Activated, "{value}");
    made.memory_id
}

async fn found(caller: &mut Caller, query: Query) -> Vec<String> {
    let budget = recall_gate::api::proto::Budget { max_items: Some(20), max_value_chars: Some(10_000) };
    let request = RecallRequest { budget: Some(budget), ..recalling(in_general(), query) };
    let reply = caller.recall.recall(request).await.unwrap().into_inner();
    assert_eq!((reply.rejected_count, reply.not_nominated_count), (0, 0));
    assert!(reply.accepted.iter().all(|verdict| verdict.nominator() == Nominator::Text));
    values(&reply).into_iter().map(str::to_owned).collect()
}

/// Texts that some search language or other gives a meaning to.
const LITERALS: [&str; 17] = [
    "semi-final",
    "o'clock",
    "\"unbalanced",
    "a AND",
    "NOT",
    "NEAR(",
    "col:val",
    "release 3.14",
    "*",
    "^x",
    "( ) , ;",
    "50%",
    "a_b",
    "\\u0000",
    "'; DROP TABLE memories; --",
    "SELECT value FROM memories WHERE 1=1",
    "Ünïcode 茶 🎉 \u{202e}",
];

#[tokio::test]
async fn b05_each_literal_finds_its_own_memory_and_punctuation_alone_finds_no_word() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    for literal in LITERALS {
        keep(&mut caller, literal).await;
    }
    for literal in LITERALS {
        let own = |found: &[String]| found.iter().any(|value| value == literal);
        let by_substring = found(&mut caller, substring(literal)).await;
        assert!(own(&by_substring), "{literal}: {by_substring:?}");
        assert!(by_substring.iter().all(|value| value.contains(literal)), "{literal}: {by_substring:?}");
        let by_words = found(&mut caller, words(literal)).await;
        let has_words = literal.chars().any(char::is_alphanumeric);
        assert_eq!(own(&by_words), has_words, "{literal}: {by_words:?}");
        assert!(has_words || by_words.is_empty(), "{literal}: {by_words:?}");
    }
}

#[tokio::test]
async fn b05_wildcards_operators_and_case_are_literal() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    for value in ["50% off", "50 off", "a_b", "axb", "Straße", "tea and coffee", "e\u{301}t\u{e9}"] {
        keep(&mut caller, value).await;
    }
    assert_eq!(found(&mut caller, substring("0%")).await, ["50% off"]);
    assert_eq!(found(&mut caller, substring("a_b")).await, ["a_b"]);
    assert_eq!(found(&mut caller, substring("%")).await, ["50% off"]);
    assert_eq!(found(&mut caller, substring("straße")).await, [""; 0]);
    assert_eq!(found(&mut caller, words("STRASSE")).await, ["Straße"]);
    assert_eq!(found(&mut caller, words("te*")).await, [""; 0]);
    assert_eq!(found(&mut caller, words("tea NOT coffee")).await, ["tea and coffee"]);
    assert_eq!(found(&mut caller, words("ÉTÉ")).await, ["e\u{301}t\u{e9}"]);
    assert_eq!(found(&mut caller, substring("e\u{301}")).await, ["e\u{301}t\u{e9}"]);
}

#[tokio::test]
async fn b38_a_text_that_is_empty_too_long_or_has_a_nul_is_refused_and_space_finds_no_word() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    keep(&mut caller, "tea").await;
    for bad in [String::new(), " ".repeat(10_000), "x".repeat(1001), "a\0b".to_owned(), "\0".to_owned()] {
        for query in [words(&bad), substring(&bad)] {
            let refused = caller.recall.recall(recalling(in_general(), query)).await.unwrap_err();
            assert_eq!(
                (refused.code(), bad_fields(&refused)),
                (Code::InvalidArgument, vec!["query.text.text".to_owned()])
            );
        }
    }
    let unknown = Query { text: Some(TextQuery { text: "tea".to_owned(), mode: 9 }), ..Query::default() };
    let refused = caller.recall.recall(recalling(in_general(), unknown)).await.unwrap_err();
    assert_eq!(bad_fields(&refused), ["query.text.mode"]);
    let unspecified = TextQuery { text: "TEA".to_owned(), mode: TextMode::Unspecified.into() };
    assert_eq!(found(&mut caller, Query { text: Some(unspecified), ..Query::default() }).await, ["tea"]);
    for empty in [" ".repeat(1000), "\u{200b}\u{202e}\u{feff}".to_owned(), "。、！".to_owned()] {
        assert_eq!(found(&mut caller, words(&empty)).await, [""; 0]);
        assert_eq!(found(&mut caller, substring(&empty)).await, [""; 0]);
    }
    assert_eq!(found(&mut caller, words(&"🎉".repeat(1000))).await, [""; 0]);
}

#[tokio::test]
async fn i12_a_value_is_found_by_the_words_it_has_now_and_not_while_it_is_deleted() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let id = keep(&mut caller, "likes green tea").await;
    for mode in [words, substring] {
        assert_eq!(found(&mut caller, mode("green")).await, ["likes green tea"]);
    }
    caller.correct.correct(correction(&id, 1, "likes black tea")).await.unwrap();
    for mode in [words, substring] {
        assert_eq!(found(&mut caller, mode("green")).await, [""; 0]);
        assert_eq!(found(&mut caller, mode("black")).await, ["likes black tea"]);
    }
    caller.delete.delete(deletion(&id, 2)).await.unwrap();
    for mode in [words, substring] {
        assert_eq!(found(&mut caller, mode("black")).await, [""; 0]);
    }
    caller.delete.restore(restoration(&id, 3)).await.unwrap();
    for mode in [words, substring] {
        assert_eq!(found(&mut caller, mode("black")).await, ["likes black tea"]);
    }
}

#[tokio::test]
async fn the_query_is_kept_nowhere() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    keep(&mut caller, "the lantern by the door").await;
    for mode in [words, substring] {
        assert_eq!(found(&mut caller, mode("zq7canary")).await, [""; 0]);
    }
    assert!(holds(&service, "lantern").await, "it is where the memories are");
    assert!(!holds(&service, "zq7canary").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_memories_are_ranked_and_the_best_are_nominated() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    for number in 0..1100 {
        keep(&mut caller, &format!("lantern number {number}")).await;
    }
    let reply = caller.recall.recall(recalling(in_general(), words("lantern 1042"))).await.unwrap().into_inner();
    assert_eq!(values(&reply)[0], "lantern number 1042");
    assert_eq!((values(&reply).len(), reply.rejected_count, reply.not_nominated_count), (5, 251, 1100 - 256));
}
