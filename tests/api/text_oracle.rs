//! An answer by text says nothing of a text that may not be read.

use recall_gate::api::proto::{
    CaptureRequest, Consent, ConsentState, Evidence, ExplainRecallRequest, Outcome, Query, Sensitivity,
};
use recall_gate::identity::Ticket;

use crate::harness::{Service, all_but, project, ticket};
use crate::requests::{deletion, experience, in_project, of_project, recalling, source, substring, values, words};

/// Where and how a memory lies so that the reader cannot search it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Hidden {
    OfAnotherTenant,
    OfAnotherSubject,
    OfAnotherProject,
    AboveTheCeiling,
    Deleted,
    Expired,
    NotYetValid,
    WithoutConsent,
    ConsentForAnotherPurpose,
    Held,
    /// For control.
    No,
}

const ALL: [Hidden; 10] = [
    Hidden::OfAnotherTenant,
    Hidden::OfAnotherSubject,
    Hidden::OfAnotherProject,
    Hidden::AboveTheCeiling,
    Hidden::Deleted,
    Hidden::Expired,
    Hidden::NotYetValid,
    Hidden::WithoutConsent,
    Hidden::ConsentForAnotherPurpose,
    Hidden::Held,
];

fn instant(seconds: i64) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds, nanos: 0 }
}

fn ticket_of(subject: &str) -> Ticket {
    Ticket { subject: Some(subject.to_owned()), ..ticket() }
}

async fn hide(service: &Service, subject: &str, hidden: Hidden, value: &str) {
    let mut writer = ticket_of(subject);
    let mut request = CaptureRequest { scope: Some(in_project("p1")), ..experience(value) };
    match hidden {
        Hidden::OfAnotherTenant => "t2".clone_into(&mut writer.tenant),
        Hidden::OfAnotherSubject => writer.subject = Some(format!("friend of {subject}")),
        Hidden::OfAnotherProject => {
            writer.projects.push(project("p2"));
            request.scope = Some(in_project("p2"));
        }
        Hidden::AboveTheCeiling => request.sensitivity = Sensitivity::Restricted.into(),
        Hidden::Expired => request.expire_time = Some(instant(service.now_seconds() + 10)),
        Hidden::NotYetValid => request.valid_from_time = Some(instant(service.now_seconds() + 1000)),
        Hidden::WithoutConsent => request.consent = None,
        Hidden::ConsentForAnotherPurpose => {
            let purposes = vec!["draft".to_owned()];
            request.consent = Some(Consent { state: ConsentState::Granted.into(), purposes });
        }
        Hidden::Held => {
            request.source = Some(source("retrieved_document", "page 7"));
            request.evidence = Evidence::None.into();
        }
        Hidden::Deleted | Hidden::No => {}
    }
    let mut writer = service.caller_of(&writer).await;
    let made = writer.capture.capture(request).await.unwrap().into_inner();
    assert_eq!(made.outcome(), if hidden == Hidden::Held { Outcome::Held } else { Outcome::Activated });
    if hidden == Hidden::Deleted {
        writer.delete.delete(deletion(&made.memory_id, 1)).await.unwrap();
    }
}

/// Everything that a reader is told, ids left out.
async fn told(service: &Service, subject: &str, query: Query) -> String {
    let mut grants = all_but(&["max_sensitivity:"]);
    grants.push("max_sensitivity:personal".to_owned());
    let mut reader = service.caller_of(&Ticket { grants, ..ticket_of(subject) }).await;
    let recall = recalling(of_project("p1"), query);
    let answer = reader.recall.recall(recall.clone()).await.unwrap().into_inner();
    assert!(values(&answer).len() >= 2, "what may be read is found: {answer:?}");
    let explain = ExplainRecallRequest { recall: Some(recall) };
    let explained = reader.recall.explain_recall(explain).await.unwrap().into_inner();
    let id = regex::Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").unwrap();
    id.replace_all(&format!("{answer:#?} {explained:#?}"), "(id)").into_owned()
}

/// What two readers are told who differ in a hidden text alone.
async fn pairs(hidden: Hidden) -> Vec<(String, String)> {
    let service = Service::start().await;
    let readers = [("one", "the lantern by the pond"), ("two", "the kettle by the stove")];
    for value in ["a lantern hangs by the door", "lantern, lantern!", "no light", "a torch in the cellar"] {
        for (subject, _) in readers {
            let mut caller = service.caller_of(&ticket_of(subject)).await;
            let request = CaptureRequest { scope: Some(in_project("p1")), ..experience(value) };
            caller.capture.capture(request).await.unwrap();
        }
        // Else equally good ones would rank by their keys, which are random here.
        service.pass(1);
    }
    for (subject, value) in readers {
        hide(&service, subject, hidden, value).await;
    }
    service.pass(100);
    let mut pairs = Vec::new();
    for query in [words("lantern torch pond"), substring("lantern"), words("lantern")] {
        pairs.push((told(&service, "one", query.clone()).await, told(&service, "two", query).await));
    }
    pairs
}

#[tokio::test]
async fn i02_i12_a_hidden_text_changes_no_byte_of_an_answer() {
    for hidden in ALL {
        for (one, two) in pairs(hidden).await {
            assert_eq!(one, two, "{hidden:?}");
        }
    }
}

#[tokio::test]
async fn a_text_that_may_be_read_changes_the_answer() {
    for (one, two) in pairs(Hidden::No).await {
        assert_ne!(one, two);
    }
}
