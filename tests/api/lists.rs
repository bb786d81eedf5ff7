//! Lists are complete whatever the page size, their tokens are good for one caller and one question, and
//! `subject_access` shows the subject what is kept in every state.

use std::collections::BTreeSet;

use recall_gate::api::proto::{
    Audience, CaptureRequest, ListCandidatesRequest, ListMemoriesRequest, ListMemoriesResponse, MemoryEntry,
    MemoryState, Scope,
};
use recall_gate::identity::Ticket;
use recall_gate::memory::Time;
use tonic::{Code, Status};

use crate::harness::{BEGIN_SECONDS, Caller, Service, all_but, project, ticket};
use crate::reading::{
    activated, after, candidates_of, experience, experiences, held, listed_values, listing, listing_all, of, pages,
    placed, shared, shows, unconfirmed, without,
};
use crate::requests::{bad_fields, deletion, error_reason, fact, general, in_project, in_task, reasons, source};

fn sized(page_size: i32, request: ListMemoriesRequest) -> ListMemoriesRequest {
    ListMemoriesRequest { page_size, ..request }
}

fn ids(pages: &[ListMemoriesResponse]) -> Vec<String> {
    let entries = pages.iter().flat_map(|page| &page.entries);
    let admitted = entries.filter_map(|entry| entry.memory.as_ref()).filter(|memory| memory.value.is_some());
    admitted.map(|memory| memory.memory_id.clone()).collect()
}

#[tokio::test]
async fn b09_pages_of_any_size_add_up_to_the_whole_without_repeats() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let mut laid: BTreeSet<String> = experiences(&caller, "same instant ", 25, |_| {}).await.into_iter().collect();
    for number in 0..25 {
        service.clock.set(Time::from_parts(BEGIN_SECONDS, 1_000 * (number + 1)).unwrap());
        let apart = experience(&format!("a microsecond apart {number}"));
        laid.insert(activated(&mut caller, apart).await.memory_id);
    }
    for purpose in ["converse", "index", "subject_access"] {
        for size in [1, 7, 10, 49, 50, 51, 0, 200] {
            for range in [listing(purpose, general()), listing_all(purpose)] {
                let pages = pages(&mut caller, sized(size, range)).await;
                let found = ids(&pages);
                assert_eq!(found.len(), 50, "{purpose}, pages of {size}");
                assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), laid, "{purpose}, pages of {size}");
                let most = if size == 0 { 50 } else { usize::try_from(size).unwrap() };
                assert!(pages.iter().all(|page| page.entries.len() <= most), "{purpose}, pages of {size}");
            }
        }
    }
}

#[tokio::test]
async fn a_page_size_is_bounded_and_a_negative_one_refused() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    experiences(&caller, "e", 205, |_| {}).await;
    for (size, first) in [(0, 50), (199, 199), (200, 200), (201, 200), (i32::MAX, 200)] {
        let page = caller.recall.list_memories(sized(size, listing("converse", general()))).await.unwrap().into_inner();
        assert_eq!(page.entries.len(), first, "{size}");
    }
    for size in [-1, i32::MIN] {
        let refused = caller.recall.list_memories(sized(size, listing("converse", general()))).await.unwrap_err();
        assert_eq!(bad_fields(&refused), ["page_size"]);
        let asked = ListCandidatesRequest { page_size: size, ..candidates_of(general()) };
        let refused = caller.capture.list_candidates(asked).await.unwrap_err();
        assert_eq!(bad_fields(&refused), ["page_size"]);
    }
}

/// A list of three, page by page, and the token to its second page.
async fn begun(caller: &mut Caller) -> (ListMemoriesRequest, String) {
    for key in ["display_name", "response_language", "response_style"] {
        activated(caller, fact(key, key)).await;
    }
    let asked = sized(1, listing("converse", general()));
    let first = caller.recall.list_memories(asked.clone()).await.unwrap().into_inner();
    assert!(!first.next_page_token.is_empty());
    (asked, first.next_page_token)
}

async fn refusal(caller: &mut Caller, asked: &ListMemoriesRequest, token: &str) -> (Code, String) {
    let asked = ListMemoriesRequest { page_token: token.to_owned(), ..asked.clone() };
    let status: Status = caller.recall.list_memories(asked).await.unwrap_err();
    (status.code(), error_reason(&status))
}

#[tokio::test]
async fn b09_a_token_that_was_tampered_with_is_refused() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let (asked, token) = begun(&mut caller).await;
    let mut altered: Vec<String> = vec![
        token[..token.len() - 1].to_owned(),
        token[..token.len() / 2].to_owned(),
        token[1..].to_owned(),
        format!("{token}{token}"),
        format!("{token}A"),
        format!("{token}="),
        format!(" {token}"),
        "A".to_owned(),
        "not base64 at all \u{1f600}".to_owned(),
        "x".repeat(1 << 20),
        token.repeat((1 << 20) / token.len()),
    ];
    for at in 0..token.len() {
        let other = if token.as_bytes()[at] == b'B' { "C" } else { "B" };
        altered.push(format!("{}{other}{}", &token[..at], &token[at + 1..]));
    }
    for wrong in altered {
        let (code, reason) = refusal(&mut caller, &asked, &wrong).await;
        let shown = &wrong[..wrong.len().min(200)];
        assert_eq!(code, Code::InvalidArgument, "{shown}");
        assert!(reason == "PAGE_TOKEN_INVALID" || reason == "FIELD_INVALID", "{reason}: {shown}");
    }
    let second = ListMemoriesRequest { page_token: token, ..asked };
    let second = caller.recall.list_memories(second).await.unwrap().into_inner();
    assert_eq!(listed_values(&[second]), ["response_language"], "the true one still works");
}

#[tokio::test]
async fn b09_a_token_is_good_for_its_caller_and_its_question_alone() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let (asked, token) = begun(&mut caller).await;
    let invalid = (Code::InvalidArgument, "PAGE_TOKEN_INVALID".to_owned());
    let questions = [
        ("purpose", sized(1, listing("index", general()))),
        ("access", sized(1, listing("subject_access", general()))),
        ("scope", sized(1, listing("converse", in_project("p1")))),
        ("audience", sized(1, listing("converse", shared(general())))),
        ("task", sized(1, listing("converse", in_task("p1", "k1")))),
        ("range", sized(1, listing_all("converse"))),
        ("subject", ListMemoriesRequest { subject_id: "s2".to_owned(), ..asked.clone() }),
    ];
    for (what, question) in questions {
        assert_eq!(refusal(&mut caller, &question, &token).await, invalid, "another {what}");
    }
    let callers = [
        ("tenant", Ticket { tenant: "t2".to_owned(), ..ticket() }),
        ("principal", Ticket { principal: "other-agent".to_owned(), ..ticket() }),
        ("subject", Ticket { subject: Some("s2".to_owned()), ..ticket() }),
    ];
    for (what, other) in callers {
        let mut other = service.caller_of(&other).await;
        assert_eq!(refusal(&mut other, &asked, &token).await, invalid, "another {what}");
    }
    held(&mut caller, unconfirmed(fact("duty_team", "a"))).await;
    held(&mut caller, unconfirmed(fact("service_target", "b"))).await;
    let candidates = ListCandidatesRequest { page_size: 1, ..candidates_of(general()) };
    let first = caller.capture.list_candidates(candidates.clone()).await.unwrap().into_inner();
    assert!(!first.next_page_token.is_empty());
    let crossed = ListCandidatesRequest { page_token: token.clone(), ..candidates.clone() };
    let refused = caller.capture.list_candidates(crossed).await.unwrap_err();
    assert_eq!((refused.code(), error_reason(&refused)), invalid, "another list");
    assert_eq!(refusal(&mut caller, &asked, &first.next_page_token).await, invalid, "another list");
    let again = ListMemoriesRequest { subject_id: "s1".to_owned(), page_token: token, ..asked };
    assert!(caller.recall.list_memories(again).await.is_ok(), "one's own subject, said or not, is one question");
}

#[tokio::test]
async fn b09_rights_are_judged_again_on_every_page() {
    let service = Service::start().await;
    let mut caller = service.caller_of(&of("t1", "s1")).await;
    for project in ["p1", "p2"] {
        for value in ["a", "b", "c"] {
            activated(&mut caller, placed(in_project(project), experience(&format!("{project} {value}")))).await;
        }
    }
    let asked = sized(2, listing_all("converse"));
    let token = caller.recall.list_memories(asked.clone()).await.unwrap().into_inner().next_page_token;
    let lesser = |grants: &[&str]| Ticket { grants: all_but(grants), ..of("t1", "s1") };
    for (missing, reason) in [("recall", "GRANT_MISSING"), ("purpose:", "GRANT_MISSING")] {
        let mut lesser = service.caller_of(&lesser(&[missing])).await;
        assert_eq!(refusal(&mut lesser, &asked, &token).await, (Code::PermissionDenied, reason.to_owned()));
    }
    let mut left = service.caller_of(&Ticket { projects: vec![project("p1")], ..of("t1", "s1") }).await;
    let rest = left.recall.list_memories(ListMemoriesRequest { page_token: token.clone(), ..asked.clone() }).await;
    match rest {
        Ok(page) => assert!(!shows(page.get_ref(), "p2 "), "a project that was left"),
        Err(refused) => assert_eq!(refused.code(), Code::InvalidArgument),
    }
    let one_scope = sized(1, listing("converse", in_project("p2")));
    let token = caller.recall.list_memories(one_scope.clone()).await.unwrap().into_inner().next_page_token;
    assert_eq!(refusal(&mut left, &one_scope, &token).await, (Code::PermissionDenied, "SCOPE_NOT_HELD".to_owned()),);
}

#[tokio::test]
async fn b09_what_changes_between_pages_costs_no_other_row() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let mut laid = experiences(&caller, "e", 9, |_| {}).await;
    laid.sort();
    let asked = sized(3, listing("converse", general()));
    let first = caller.recall.list_memories(asked.clone()).await.unwrap().into_inner();
    let mut seen = ids(std::slice::from_ref(&first));
    assert_eq!(seen, laid[..3]);
    caller.delete.delete(deletion(&laid[2], 1)).await.unwrap();
    caller.delete.delete(deletion(&laid[3], 1)).await.unwrap();
    let mut token = first.next_page_token;
    while !token.is_empty() {
        let page = ListMemoriesRequest { page_token: token, ..asked.clone() };
        let page = caller.recall.list_memories(page).await.unwrap().into_inner();
        seen.extend(ids(std::slice::from_ref(&page)));
        token = page.next_page_token;
    }
    let expected: Vec<String> = laid.iter().filter(|id| **id != laid[3]).cloned().collect();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn b09_candidates_page_by_page_are_all_of_them_oldest_first() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let mut laid = Vec::new();
    for number in 0..12 {
        if number > 6 {
            service.pass(1);
        }
        laid.push(held(&mut caller, unconfirmed(experience(&format!("claim {number}")))).await.candidate_id);
    }
    for size in [1, 5, 12, 50] {
        let (mut seen, mut token) = (Vec::new(), String::new());
        loop {
            let asked = ListCandidatesRequest { page_size: size, page_token: token, ..candidates_of(general()) };
            let page = caller.capture.list_candidates(asked).await.unwrap().into_inner();
            seen.extend(
                page.candidates
                    .into_iter()
                    .map(|candidate| (candidate.create_time.map(|time| time.seconds), candidate.candidate_id)),
            );
            token = page.next_page_token;
            if token.is_empty() {
                break;
            }
        }
        assert!(seen.iter().map(|(time, _)| time).is_sorted(), "pages of {size}");
        let seen: BTreeSet<_> = seen.into_iter().map(|(_, id)| id).collect();
        assert_eq!((seen.len(), seen), (12, laid.iter().cloned().collect()), "pages of {size}");
    }
    let mut other = service.caller_of(&without(&["confirm"])).await;
    let refused = other.capture.list_candidates(candidates_of(general())).await.unwrap_err();
    assert_eq!((refused.code(), error_reason(&refused)), (Code::PermissionDenied, "GRANT_MISSING".to_owned()));
}

fn entry<'a>(pages: &'a [ListMemoriesResponse], key: &str) -> Option<&'a MemoryEntry> {
    pages
        .iter()
        .flat_map(|page| &page.entries)
        .find(|entry| entry.memory.as_ref().is_some_and(|memory| memory.key == key))
}

#[tokio::test]
async fn subject_access_shows_the_subject_what_is_kept_in_every_state() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    activated(&mut caller, fact("response_style", "in force")).await;
    activated(&mut caller, CaptureRequest { confidence: Some(0.1), ..fact("display_name", "doubtful") }).await;
    activated(&mut caller, CaptureRequest { expire_time: Some(after(60)), ..fact("ui_theme", "over") }).await;
    let later = CaptureRequest { valid_from_time: Some(after(1000)), ..fact("duty_team", "to come") };
    activated(&mut caller, later).await;
    let told =
        CaptureRequest { source: Some(source("user_message", "zq7ref")), ..fact("database_engine", "zq7canary gone") };
    let gone = activated(&mut caller, told).await;
    caller.delete.delete(deletion(&gone.memory_id, 1)).await.unwrap();
    let waiting = held(&mut caller, unconfirmed(fact("service_target", "zq7canary held"))).await;
    service.pass(60);
    let all = pages(&mut caller, listing_all("subject_access")).await;
    for (key, value) in
        [("response_style", "in force"), ("display_name", "doubtful"), ("ui_theme", "over"), ("duty_team", "to come")]
    {
        let entry = entry(&all, key).unwrap_or_else(|| panic!("{key} is missing"));
        assert_eq!(entry.memory.as_ref().unwrap().value.as_deref(), Some(value), "{key}");
    }
    let deleted = entry(&all, "database_engine").unwrap();
    let memory = deleted.memory.as_ref().unwrap();
    assert_eq!((memory.state(), memory.value.as_deref()), (MemoryState::Deleted, None));
    assert_eq!(reasons(deleted.verdict.as_ref().unwrap()), ["DELETED"]);
    let stubs: Vec<_> = all.iter().flat_map(|page| &page.entries).filter_map(|entry| entry.verdict.as_ref()).collect();
    let stub = stubs.iter().find(|verdict| verdict.candidate_id == waiting.candidate_id).unwrap();
    assert_eq!((stub.accepted, reasons(stub)), (false, vec!["UNCONFIRMED"]));
    let hidden = ["zq7canary", "zq7ref"];
    assert!(all.iter().all(|page| !hidden.iter().any(|text| shows(page, text))), "a stub has no text");
    for purpose in ["converse", "draft", "act", "index"] {
        let listed = pages(&mut caller, listing_all(purpose)).await;
        let never = [hidden[0], hidden[1], &waiting.candidate_id];
        assert!(listed.iter().all(|page| !never.iter().any(|text| shows(page, text))), "{purpose}");
    }
}

#[tokio::test]
async fn a_list_gives_text_only_where_the_purpose_admits_it() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    activated(&mut caller, fact("response_style", "sure")).await;
    activated(&mut caller, CaptureRequest { confidence: Some(0.6), ..fact("display_name", "zq7canary") }).await;
    for (purpose, shown) in [("converse", true), ("index", true), ("draft", false), ("act", false)] {
        let listed = pages(&mut caller, listing("converse", general()).clone()).await;
        assert_eq!(listed_values(&listed).len(), 2);
        let listed = pages(&mut caller, listing(purpose, general())).await;
        assert_eq!(listed.iter().any(|page| shows(page, "zq7canary")), shown, "{purpose}");
        if let Some(entry) = entry(&listed, "display_name") {
            let verdict = entry.verdict.as_ref().unwrap();
            assert_eq!((verdict.accepted, entry.memory.as_ref().unwrap().value.is_some()), (shown, shown), "{purpose}");
        }
    }
}

#[tokio::test]
async fn all_projects_are_those_held_and_the_order_is_by_scope_and_key() {
    let service = Service::start().await;
    let mut caller = service.caller_of(&of("t1", "s1")).await;
    let places: Vec<Scope> = [general(), in_project("p1"), in_project("p2")]
        .into_iter()
        .flat_map(|place| [place.clone(), shared(place)])
        .collect();
    for key in ["response_style", "database_engine", "response_language"] {
        for place in places.iter().rev() {
            activated(&mut caller, placed(place.clone(), fact(key, "x"))).await;
        }
    }
    let mut narrow = service.caller().await;
    let listed = pages(&mut narrow, sized(4, listing_all("converse"))).await;
    let order: Vec<(i32, String, bool, String)> = listed
        .iter()
        .flat_map(|page| &page.entries)
        .map(|entry| {
            let memory = entry.memory.as_ref().unwrap();
            let scope = memory.scope.clone().unwrap();
            (scope.level, scope.project_id.clone(), scope.audience() == Audience::Shared, memory.key.clone())
        })
        .collect();
    assert_eq!(order.len(), 12, "`p2` is not held: {order:?}");
    assert!(order.iter().all(|(_, project, ..)| project != "p2"));
    for entries in order.chunk_by(|a, b| (a.0, &a.1, a.2) == (b.0, &b.1, b.2)) {
        let keys: Vec<_> = entries.iter().map(|entry| entry.3.as_str()).collect();
        assert_eq!(keys, ["database_engine", "response_language", "response_style"], "scope by scope: {order:?}");
    }
}

#[tokio::test]
async fn other_purposes_than_subject_access_list_only_what_is_in_force() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let gone = activated(&mut caller, fact("database_engine", "gone")).await;
    caller.delete.delete(deletion(&gone.memory_id, 1)).await.unwrap();
    let over = CaptureRequest { expire_time: Some(after(60)), ..fact("ui_theme", "over") };
    let over = activated(&mut caller, over).await;
    service.pass(60);
    for purpose in ["converse", "draft", "act", "index"] {
        let listed = pages(&mut caller, listing_all(purpose)).await;
        let named = |id: &str| listed.iter().any(|page| shows(page, id));
        assert_eq!((named(&gone.memory_id), named(&over.memory_id)), (false, false), "{purpose}");
    }
}
