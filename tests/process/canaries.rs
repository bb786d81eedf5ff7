//! Words that must stay where they belong: not one of them is in a log, on standard output, in the ledger, or
//! in a span.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use recall_gate::api::proto::{CaptureRequest, CorrectRequest, Evidence, Outcome, Source};
use recall_gate::policy::DEFAULT_DOCUMENT;
use tonic::Code;

use crate::callers::{Caller, correction, deletion, fact, recall_all, recall_in, request_id, restoration, values};
use crate::collector::Collector;
use crate::database::Database;
use crate::program::Service;
use crate::unpacked::unpacked;

const VALUE: &str = "zq7value";
const NEW_VALUE: &str = "zq7newvalue";
const REFUSED_VALUE: &str = "zq7refused";
const REFERENCE: &str = "zq7reference";
const REASON: &str = "zq7reason";
const PATTERN_KEY: &str = "zq7patternkey";
const MADE_UP: &str = "zq7madeup";
const SUBJECT: &str = "zq7subject";
const TENANT: &str = "zq7tenant";
const COLLECTOR_TOKEN: &str = "zq7collectortoken";

/// A kind whose keys are text, which the policy that is compiled in does not have.
const PATTERN_KIND: &str = r#"
[kinds.note]
class = "preference"
key_pattern = 'note-[a-z0-9]+'
levels = ["general"]
audiences = ["personal"]
purposes = ["converse"]
consent_needed = false
evidence = ["user_confirmed"]
sensitivity = "internal"

# Screening:"#;

fn policy() -> String {
    let document = DEFAULT_DOCUMENT.replacen("\n# Screening:", PATTERN_KIND, 1);
    assert!(document.contains("[kinds.note]"));
    document
}

fn note(value: &str) -> CaptureRequest {
    CaptureRequest {
        kind: "note".to_owned(),
        request_id: request_id(),
        source: Some(Source { kind: "user_message".to_owned(), reference: REFERENCE.to_owned(), ..Source::default() }),
        ..fact(&format!("note-{PATTERN_KEY}"), value)
    }
}

fn corrected(memory_id: &str, seen: i64) -> CorrectRequest {
    CorrectRequest { reason: REASON.to_owned(), request_id: request_id(), ..correction(memory_id, seen, NEW_VALUE) }
}

/// Normal, refused, malformed and unauthenticated calls, each with canaries.
async fn talk(address: &str, token: &str) {
    let mut alice = Caller::with_token(address, token).await;
    let made = alice.capture.capture(note(VALUE)).await.unwrap().into_inner();
    assert_eq!(made.outcome(), Outcome::Activated);
    let now = alice.correct.correct(corrected(&made.memory_id, 1)).await.unwrap().into_inner();
    assert_eq!(now.outcome(), Outcome::Activated, "{now:?}");
    let reply = alice.recall.recall(recall_all()).await.unwrap().into_inner();
    assert_eq!(values(&reply), [NEW_VALUE]);
    alice.delete.delete(deletion(&made.memory_id, 2)).await.unwrap();
    alice.delete.restore(restoration(&made.memory_id, 3)).await.unwrap();
    alice.delete.delete(deletion(&made.memory_id, 4)).await.unwrap();

    // Refused by version, by state, by grant, and by policy.
    let stale = alice.correct.correct(corrected(&made.memory_id, 1)).await.unwrap_err();
    assert_eq!(stale.code(), Code::Aborted);
    let deleted = alice.correct.correct(corrected(&made.memory_id, 5)).await.unwrap().into_inner();
    assert_ne!(deleted.outcome(), Outcome::Activated);
    let denied = alice.recall.recall(recall_in(MADE_UP, PATTERN_KEY)).await.unwrap_err();
    assert_eq!(denied.code(), Code::PermissionDenied);
    let secret = note(&format!("password = {REFUSED_VALUE}"));
    assert_eq!(alice.capture.capture(secret).await.unwrap().into_inner().outcome(), Outcome::Rejected);
    let unknown = CaptureRequest { kind: MADE_UP.to_owned(), ..note(REFUSED_VALUE) };
    assert_eq!(alice.capture.capture(unknown).await.unwrap().into_inner().outcome(), Outcome::Rejected);
    let held = CaptureRequest { evidence: Evidence::None.into(), key: format!("note-{PATTERN_KEY}2"), ..note(VALUE) };
    assert_eq!(alice.capture.capture(held).await.unwrap().into_inner().outcome(), Outcome::Held);

    // Malformed: every field at once, and a request id that is used twice.
    let malformed = CaptureRequest {
        subject_id: format!("{SUBJECT}\u{200b}\n"),
        kind: format!("{MADE_UP} \n"),
        key: format!("{PATTERN_KEY}\0"),
        value: format!("{REFUSED_VALUE}\0"),
        request_id: REFUSED_VALUE.to_owned(),
        ..note("")
    };
    assert_eq!(alice.capture.capture(malformed).await.unwrap_err().code(), Code::InvalidArgument);
    let first = note(VALUE);
    alice.capture.capture(first.clone()).await.unwrap();
    let again = CaptureRequest { value: REFUSED_VALUE.to_owned(), ..first };
    assert_eq!(alice.capture.capture(again).await.unwrap_err().code(), Code::InvalidArgument);

    // Not authenticated: a token that is forged, cut, or not one at all.
    for bad in [format!("{token}x"), token[..token.len() - 9].to_owned(), MADE_UP.to_owned()] {
        let refused = Caller::with_token(address, &bad).await.capture.capture(note(VALUE)).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unauthenticated);
    }
}

/// The body of a PEM file, in its longest line.
fn longest_line(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().max_by_key(|line| line.len()).unwrap().to_owned()
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Which of them is there.
fn found<'a>(canaries: &'a BTreeMap<&str, String>, bytes: &[u8]) -> Vec<&'a str> {
    let there = |canary: &str| bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
    canaries.iter().filter(|(_, canary)| there(canary)).map(|(name, _)| *name).collect()
}

async fn nothing_leaks(format: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.toml"), policy()).unwrap();
    let collector = Collector::start();
    let telling = ["--log-filter", "trace", "--log-format", format, "--otlp-endpoint", &collector.endpoint];
    let header = format!("authorization=Bearer {COLLECTOR_TOKEN}");
    let variables = [("OTEL_EXPORTER_OTLP_HEADERS", header.as_str())];
    let service = Service::start_with(folder, &[&["--policy", "policy.toml"], &telling[..]].concat(), &variables);
    let token = service.run(&["token", "--tenant", TENANT, "--subject", SUBJECT, "--lifetime", "60"]);
    let token = token.out.trim().to_owned();
    talk(&service.address, &token).await;

    let (database, key) =
        (service.database(), std::fs::read(service.path().join("recall-gate.db.digest-key")).unwrap());
    let signing_key = longest_line(&service.path().join("recall-gate.db.dev-key.pem"));
    let text = [
        ("a value", VALUE),
        ("a corrected value", NEW_VALUE),
        ("a refused value", REFUSED_VALUE),
        ("a source reference", REFERENCE),
        ("the reason of a correction", REASON),
        ("a key under a pattern", PATTERN_KEY),
    ];
    let mut canaries: BTreeMap<&str, String> = text.iter().map(|(name, word)| (*name, (*word).to_owned())).collect();
    {
        let database = Database::open(&database).await;
        assert!(database.number("SELECT count(*) FROM decisions").await > 10);
        assert!(database.number("SELECT count(*) FROM idempotency").await > 1);
        for (table, columns) in TABLES {
            for row in database.blobs(columns).await {
                assert_eq!(found(&canaries, &row), [""; 0], "in {table}");
            }
        }
        let messages: Vec<_> =
            database.blobs("SELECT body FROM decisions").await.iter().map(|body| unpacked(body)).collect();
        assert!(messages.iter().any(|message| message.windows(8).any(|bytes| bytes == b"converse")), "they are read");
        for message in messages {
            assert_eq!(found(&canaries, &message), [""; 0], "in a decision");
        }
        let kept = database
            .blobs("SELECT CAST(value || source_reference || change_reason || key AS BLOB) FROM memory_versions")
            .await;
        let places: Vec<&str> = kept.iter().flat_map(|row| found(&canaries, row)).collect();
        assert!(
            places.contains(&"a corrected value") && places.contains(&"a key under a pattern"),
            "the search finds what is there"
        );
        assert!(places.contains(&"a source reference") && places.contains(&"the reason of a correction"));
        let refused = database
            .blobs(
                "SELECT CAST(value AS BLOB) FROM candidates UNION ALL SELECT CAST(value AS BLOB) FROM memory_versions",
            )
            .await;
        let refused: Vec<Vec<u8>> =
            refused.into_iter().filter(|row| found(&canaries, row).contains(&"a refused value")).collect();
        assert!(refused.len() <= 1, "{refused:?}");
    }

    let (_, ran) = service.stop();
    canaries.extend([
        ("the token", token.clone()),
        ("the claims of the token", token.split('.').nth(1).unwrap().to_owned()),
        ("the signature of the token", token.rsplit('.').next().unwrap().to_owned()),
        ("the signing key", signing_key),
        ("the digest key in hexadecimal", hexadecimal(&key)),
        ("the digest key in base64", STANDARD.encode(&key)),
        ("the digest key as a list", format!("{key:?}")),
        ("what a caller made up", MADE_UP.to_owned()),
        ("a subject", SUBJECT.to_owned()),
        ("a tenant", TENANT.to_owned()),
        ("the token for the collector", COLLECTOR_TOKEN.to_owned()),
    ]);
    let exported = collector.requests();
    assert!(collector.spans().len() > 50, "{} spans", collector.spans().len());
    for (metadata, request) in exported {
        assert!(metadata.contains(COLLECTOR_TOKEN), "the token for the collector is in use: {metadata}");
        assert_eq!(found(&canaries, &request), [""; 0], "in exported spans");
    }
    assert!(ran.err.lines().count() > 100, "the log says everything: {}", ran.err.len());
    assert!(ran.err.contains("TRACE"), "at every level");
    assert!(ran.err.contains("call ended"), "of every call");
    for line in ran.err.lines() {
        assert_eq!(found(&canaries, line.as_bytes()), [""; 0], "in a line of the log: {line}");
    }
    assert_eq!(found(&canaries, ran.out.as_bytes()), [""; 0], "on standard output");
}

/// What holds no text: all of each row, as bytes.
const TABLES: [(&str, &str); 4] = [
    ("decisions", "SELECT CAST(tenant || owner || method || outcome || key_id AS BLOB) FROM decisions"),
    ("feed", "SELECT CAST(tenant || owner || what || project || task AS BLOB) || memory_id FROM feed"),
    (
        "idempotency",
        "SELECT CAST(tenant || owner || principal || method AS BLOB) || request_id || payload_digest || receipt FROM idempotency",
    ),
    ("lineage", "SELECT CAST(tenant || owner AS BLOB) || memory_id || reference_digest FROM lineage"),
];

#[tokio::test]
async fn i13_no_text_and_no_secret_is_in_the_text_log_the_ledger_or_a_span() {
    nothing_leaks("text").await;
}

#[tokio::test]
async fn i13_no_text_and_no_secret_is_in_the_json_log_the_ledger_or_a_span() {
    nothing_leaks("json").await;
}

#[test]
fn a_canary_is_found_between_other_bytes() {
    let canaries = BTreeMap::from([("a", "needle".to_owned()), ("b", "other".to_owned())]);
    assert_eq!(found(&canaries, b"\x00\xffneedle\x00"), ["a"]);
    assert_eq!(found(&canaries, b"needl"), [""; 0]);
}
