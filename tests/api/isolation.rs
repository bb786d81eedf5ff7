//! I2: nobody sees, counts or senses what is another tenant's, another subject's, or of a place that is not held.

use std::collections::BTreeSet;

use recall_gate::api::proto::{
    Audience, Budget, CaptureRequest, Context, DeleteRequest, GetMemoryRequest, ListMemoriesRequest, MemoryAddress,
    MemoryName, Query, RecallRequest, Scope, Sensitivity, memory_name,
};
use recall_gate::identity::Ticket;
use tonic::Code;

use crate::harness::{Caller, Service, project, ticket};
use crate::reading::{
    activated, all, bytes_of, candidates_of, experience, explaining, getting, key, listed_values, listing, listing_all,
    of, pages, placed, reasons_for, recalled, recalling_for, shared, shows, up_to_internal, without,
};
use crate::requests::{
    at, deletion, error_reason, fact, general, in_general, in_project, in_task, named, nominating, of_project, of_task,
    recalling, values,
};

/// One memory of the matrix: who wrote it and where it lies. Its value names all of that.
struct Laid {
    tenant: &'static str,
    subject: &'static str,
    scope: Scope,
    value: String,
    memory_id: String,
}

fn places() -> Vec<Scope> {
    vec![general(), in_project("p1"), in_project("p2"), in_task("p1", "k1"), in_task("p2", "k1")]
}

async fn matrix(service: &Service) -> Vec<Laid> {
    let mut laid = Vec::new();
    for tenant in ["t1", "t2"] {
        for subject in ["s1", "s2"] {
            let mut caller = service.caller_of(&of(tenant, subject)).await;
            let own = places().into_iter().chain(places().into_iter().map(shared));
            for scope in own {
                let audience = if scope.audience() == Audience::Shared { "shared" } else { "personal" };
                let value = format!("{tenant}/{subject}/{:?}/{}/{audience}", scope.level(), scope.project_id);
                let memory_id = activated(&mut caller, placed(scope.clone(), experience(&value))).await.memory_id;
                laid.push(Laid { tenant, subject, scope, value, memory_id });
            }
        }
    }
    laid
}

/// Whether a context reads a scope, as the contract says: its own place and the wider ones.
fn reads(context: (&str, &str), scope: &Scope) -> bool {
    (scope.project_id.is_empty() || scope.project_id == context.0)
        && (scope.task_id.is_empty() || scope.task_id == context.1)
}

fn visible(laid: &Laid, tenant: &str, subject: &str) -> bool {
    laid.tenant == tenant && (laid.subject == subject || laid.scope.audience() == Audience::Shared)
}

fn wide(request: RecallRequest) -> RecallRequest {
    RecallRequest { budget: Some(Budget { max_items: Some(20), max_value_chars: Some(100_000) }), ..request }
}

#[tokio::test]
async fn i02_a_recall_has_exactly_what_is_the_callers_and_of_the_context() {
    let service = Service::start().await;
    let laid = matrix(&service).await;
    let ids: Vec<&str> = laid.iter().map(|laid| laid.memory_id.as_str()).collect();
    let contexts: [(Context, (&str, &str)); 5] = [
        (in_general(), ("", "")),
        (of_project("p1"), ("p1", "")),
        (of_project("p2"), ("p2", "")),
        (of_task("p1", "k1"), ("p1", "k1")),
        (of_task("p2", "k1"), ("p2", "k1")),
    ];
    for (tenant, subject) in [("t1", "s1"), ("t1", "s2"), ("t2", "s1"), ("t2", "s2")] {
        let mut caller = service.caller_of(&of(tenant, subject)).await;
        for (context, place) in &contexts {
            let own: BTreeSet<&str> = laid
                .iter()
                .filter(|laid| visible(laid, tenant, subject) && reads(*place, &laid.scope))
                .map(|laid| laid.value.as_str())
                .collect();
            let reply = recalled(&mut caller, wide(recalling(context.clone(), all()))).await;
            assert_eq!(values(&reply).into_iter().collect::<BTreeSet<_>>(), own, "{tenant} {subject} {place:?}");
            assert_eq!((reply.rejected_count, reply.not_nominated_count), (0, 0));
            let reply = recalled(&mut caller, wide(recalling(context.clone(), nominating(&ids)))).await;
            assert_eq!(values(&reply).into_iter().collect::<BTreeSet<_>>(), own, "{tenant} {subject} {place:?}");
            assert_eq!(usize::try_from(reply.rejected_count), Ok(laid.len() - own.len()));
            for laid in &laid {
                let why = match (visible(laid, tenant, subject), reads(*place, &laid.scope)) {
                    (true, true) => None,
                    (true, false) => Some(vec!["OTHER_SCOPE"]),
                    (false, _) => Some(vec!["UNKNOWN_NOMINATION"]),
                };
                assert_eq!(reasons_for(&reply.rejected, &laid.memory_id), why, "{} for {tenant} {subject}", laid.value);
                assert!(why.is_none() || !shows(&reply, &laid.value), "{} for {tenant} {subject}", laid.value);
            }
        }
    }
}

#[tokio::test]
async fn i02_getting_and_listing_allow_what_recalling_does() {
    let service = Service::start().await;
    let laid = matrix(&service).await;
    for (tenant, subject) in [("t1", "s1"), ("t1", "s2"), ("t2", "s1"), ("t2", "s2")] {
        let mut caller = service.caller_of(&of(tenant, subject)).await;
        let own: BTreeSet<String> =
            laid.iter().filter(|laid| visible(laid, tenant, subject)).map(|laid| laid.value.clone()).collect();
        for laid in &laid {
            let got = caller.recall.get_memory(getting(named(&laid.memory_id))).await;
            if visible(laid, tenant, subject) {
                assert_eq!(got.unwrap().into_inner().memory.unwrap().value(), laid.value);
            } else {
                assert_eq!(got.unwrap_err().code(), Code::NotFound, "{} for {tenant} {subject}", laid.value);
            }
            let by_address = at(laid.scope.clone(), &laid.memory_id);
            let got = caller.recall.get_memory(getting(by_address)).await;
            assert_eq!(got.is_ok(), visible(laid, tenant, subject), "{} for {tenant} {subject}", laid.value);
        }
        for purpose in ["converse", "index"] {
            let listed = listed_values(&pages(&mut caller, listing_all(purpose)).await);
            assert_eq!(listed.len(), own.len());
            assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), own, "{tenant} {subject} {purpose}");
        }
        for place in places().into_iter().chain(places().into_iter().map(shared)) {
            let of_place = laid.iter().filter(|laid| visible(laid, tenant, subject) && laid.scope == place);
            let expected: BTreeSet<_> = of_place.map(|laid| laid.value.clone()).collect();
            let place = listing("converse", place);
            let listed = listed_values(&pages(&mut caller, place).await);
            assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), expected, "one scope exactly");
        }
        for entry in pages(&mut caller, listing_all("subject_access")).await.iter().flat_map(|page| &page.entries) {
            let value = entry.memory.as_ref().unwrap().value();
            assert!(own.contains(value), "{value} for {tenant} {subject}");
        }
    }
}

#[tokio::test]
async fn s08_a_place_of_another_project_or_task_does_not_answer_by_key_either() {
    let service = Service::start().await;
    for (subject, value) in [("s1", "zq7 mine"), ("s2", "zq7 theirs")] {
        let mut caller = service.caller_of(&of("t1", subject)).await;
        for project in ["p1", "p2"] {
            let value = format!("{value} in {project}");
            activated(&mut caller, placed(in_project(project), fact("response_style", &value))).await;
        }
    }
    let mut caller = service.caller_of(&of("t1", "s1")).await;
    for (context, expected) in
        [(of_project("p1"), vec!["zq7 mine in p1"]), (of_project("p2"), vec!["zq7 mine in p2"]), (in_general(), vec![])]
    {
        let reply = recalled(&mut caller, recalling(context, key("response_style"))).await;
        assert_eq!((values(&reply), reply.rejected_count), (expected, 0));
    }
}

#[tokio::test]
async fn b02_project_names_with_a_common_beginning_are_different_projects() {
    let names = ["alpha", "alpha2", "alpha-labs", "alphabet", "alpha/child", "xalpha", "alpha%", "alph_", "ALPHA"];
    let service = Service::start().await;
    let holder = |held: &[&str]| Ticket { projects: held.iter().map(|id| project(id)).collect(), ..ticket() };
    let mut caller = service.caller_of(&holder(&names)).await;
    let mut ids = Vec::new();
    for name in names {
        ids.push(activated(&mut caller, placed(in_project(name), experience(name))).await.memory_id);
    }
    let before = recalled(&mut caller, recalling(of_project("alpha2"), all())).await.revisions;
    let mut only = service.caller_of(&holder(&["alpha"])).await;
    for (name, id) in names.iter().zip(&ids) {
        let reply = recalled(&mut caller, recalling(of_project(name), all())).await;
        assert_eq!(values(&reply), [*name]);
        let listed = pages(&mut caller, listing("converse", in_project(name))).await;
        assert_eq!(listed_values(&listed), [*name]);
        let got = only.recall.get_memory(getting(named(id))).await;
        assert_eq!(got.is_ok(), *name == "alpha", "{name}");
    }
    assert_eq!(listed_values(&pages(&mut only, listing_all("converse")).await), ["alpha"]);
    caller.delete.delete(deletion(&ids[0], 1)).await.unwrap();
    let after = recalled(&mut caller, recalling(of_project("alpha2"), all())).await;
    assert_eq!((values(&after), &after.revisions), (vec!["alpha2"], &before));
}

#[tokio::test]
async fn i02_b01_a_project_or_task_not_held_cannot_be_named_whether_it_exists_or_not() {
    let service = Service::start().await;
    let mut theirs = service.caller_of(&of("t1", "s2")).await;
    activated(&mut theirs, placed(in_project("p2"), experience("zq7 lantern"))).await;
    activated(&mut theirs, placed(in_task("p1", "k2"), experience("zq7 lantern"))).await;
    let mut listed_task = project("p1");
    listed_task.tasks = Some(vec!["k1".to_owned()]);
    let mut caller = service.caller_of(&Ticket { projects: vec![listed_task], ..ticket() }).await;
    let refused = |status: tonic::Status| {
        assert_eq!((status.code(), error_reason(&status)), (Code::PermissionDenied, "SCOPE_NOT_HELD".to_owned()));
        bytes_of(&status)
    };
    for (there, missing) in [
        ((of_project("p2"), in_project("p2")), (of_project("p9"), in_project("p9"))),
        ((of_task("p1", "k2"), in_task("p1", "k2")), (of_task("p1", "k9"), in_task("p1", "k9"))),
        ((of_task("p2", "k1"), in_task("p2", "k1")), (of_task("p9", "k1"), in_task("p9", "k1"))),
    ] {
        let mut answers = Vec::new();
        for (context, scope) in [there, missing] {
            let recall = recalling(context, all());
            let explain = explaining(recall.clone());
            let place = at(scope.clone(), "status");
            answers.push([
                refused(caller.recall.recall(recall).await.unwrap_err()),
                refused(caller.recall.explain_recall(explain).await.unwrap_err()),
                refused(caller.recall.get_memory(getting(place)).await.unwrap_err()),
                refused(caller.recall.list_memories(listing("converse", scope.clone())).await.unwrap_err()),
                refused(caller.capture.list_candidates(candidates_of(scope.clone())).await.unwrap_err()),
                refused(caller.capture.capture(placed(scope, experience("zq7 lantern"))).await.unwrap_err()),
            ]);
        }
        assert_eq!(answers[0], answers[1]);
    }
    let reply = recalled(&mut caller, recalling(of_task("p1", "k1"), all())).await;
    assert_eq!((values(&reply).len(), reply.rejected_count), (0, 0));
}

#[tokio::test]
async fn i02_a_sensitivity_above_the_callers_ceiling_hides_a_memory_wholly() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let hidden = CaptureRequest { sensitivity: Sensitivity::Personal.into(), ..fact("response_style", "zq7canary") };
    let hidden = activated(&mut caller, hidden).await.memory_id;
    activated(&mut caller, placed(shared(general()), fact("response_style", "zq7 brief"))).await;
    let mut low = service.caller_of(&up_to_internal()).await;
    let nobody = "01890000-0000-7000-8000-000000000001";
    let unknown = |status: tonic::Status| bytes_of(&status);
    assert_eq!(
        unknown(low.recall.get_memory(getting(named(&hidden))).await.unwrap_err()),
        unknown(low.recall.get_memory(getting(named(nobody))).await.unwrap_err()),
    );
    let by_address = getting(at(general(), "response_style"));
    assert_eq!(low.recall.get_memory(by_address).await.unwrap_err().code(), Code::NotFound);
    for query in [key("response_style"), all()] {
        let reply = recalled(&mut low, recalling(in_general(), query)).await;
        assert_eq!((values(&reply), reply.rejected_count), (vec!["zq7 brief"], 0), "it shadows nothing either");
        assert!(!shows(&reply, &hidden));
    }
    let reply = recalled(&mut low, recalling(in_general(), nominating(&[&hidden, nobody]))).await;
    for id in [hidden.as_str(), nobody] {
        assert_eq!(reasons_for(&reply.rejected, id), Some(vec!["UNKNOWN_NOMINATION"]));
    }
    for purpose in ["converse", "index", "subject_access"] {
        let listed = pages(&mut low, listing_all(purpose)).await;
        assert!(listed.iter().all(|page| !shows(page, &hidden) && !shows(page, "zq7canary")), "{purpose}");
    }
    let reply = recalled(&mut caller, recalling(in_general(), all())).await;
    assert_eq!(values(&reply), ["zq7canary"], "who may see it is not in its way");
}

/// What a caller asks of a subject in every way there is.
async fn asked_about(caller: &mut Caller, subject_id: &str) -> Vec<Result<bool, tonic::Status>> {
    let subject_id = subject_id.to_owned();
    let recall = RecallRequest { subject_id: subject_id.clone(), ..recalling(in_general(), key("response_style")) };
    let get = GetMemoryRequest { subject_id: subject_id.clone(), ..getting(at(general(), "response_style")) };
    let list = ListMemoriesRequest { subject_id: subject_id.clone(), ..listing("converse", general()) };
    let mut candidates = candidates_of(general());
    candidates.subject_id = subject_id;
    let explain = explaining(recall.clone());
    vec![
        caller.recall.recall(recall).await.map(|reply| shows(reply.get_ref(), "zq7 lantern")),
        caller.recall.explain_recall(explain).await.map(|reply| reply.get_ref().accepted.len() == 1),
        caller.recall.get_memory(get).await.map(|reply| shows(reply.get_ref(), "zq7 lantern")),
        caller.recall.list_memories(list).await.map(|reply| shows(reply.get_ref(), "zq7 lantern")),
        caller.capture.list_candidates(candidates).await.map(|_| true),
    ]
}

#[tokio::test]
async fn i01_i02_only_who_may_act_for_a_subject_reads_what_is_theirs() {
    let service = Service::start().await;
    let mut theirs = service.caller_of(&of("t1", "s2")).await;
    activated(&mut theirs, fact("response_style", "zq7 lantern")).await;
    let mut for_all = service.caller().await;
    assert!(asked_about(&mut for_all, "s2").await.into_iter().all(|shown| shown.unwrap()));
    let mut granted = without(&["act_for"]);
    granted.grants.push("act_for:s2".to_owned());
    let mut for_one = service.caller_of(&granted).await;
    assert!(asked_about(&mut for_one, "s2").await.into_iter().all(|shown| shown.unwrap()));
    let mut nobodys = service.caller_of(&without(&["act_for"])).await;
    let mut answers = Vec::new();
    for subject in ["s2", "nobody", "S1", "s1 ", "s"] {
        let mut answer = Vec::new();
        for refused in asked_about(&mut nobodys, subject).await {
            let status = refused.unwrap_err();
            assert_eq!((status.code(), error_reason(&status)), (Code::PermissionDenied, "SUBJECT_NOT_HELD".to_owned()));
            answer.push(bytes_of(&status));
        }
        answers.push(answer);
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "one who exists and one who does not look alike");
    for refused in asked_about(&mut for_one, "s3").await {
        assert_eq!(error_reason(&refused.unwrap_err()), "SUBJECT_NOT_HELD");
    }
    for subject in ["", "s1"] {
        let own = asked_about(&mut nobodys, subject).await;
        assert!(
            own.iter().all(|answer| answer.as_ref().map_or_else(|refused| refused.code() == Code::NotFound, |_| true))
        );
        assert!(!own[0].as_ref().unwrap(), "their own, not another's");
    }
}

#[tokio::test]
async fn b01_a_selector_that_is_left_out_or_blank_never_widens() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    activated(&mut caller, fact("response_style", "zq7 lantern")).await;
    for blank in ["   ", "\u{200b}", "\u{feff}", "\t"] {
        for refused in asked_about(&mut caller, blank).await {
            assert_eq!(refused.unwrap_err().code(), Code::InvalidArgument, "{blank:?}");
        }
    }
    let nowhere = RecallRequest { context: None, ..recalling(in_general(), all()) };
    assert_eq!(caller.recall.recall(nowhere).await.unwrap_err().code(), Code::InvalidArgument);
    let nowhere = ListMemoriesRequest { range: None, ..listing_all("converse") };
    assert_eq!(caller.recall.list_memories(nowhere).await.unwrap_err().code(), Code::InvalidArgument);
    let nothing = RecallRequest { query: None, ..recalling(in_general(), all()) };
    assert_eq!(caller.recall.recall(nothing).await.unwrap_err().code(), Code::InvalidArgument);
    let nothing = recalling(in_general(), Query::default());
    assert_eq!(caller.recall.recall(nothing).await.unwrap_err().code(), Code::InvalidArgument);
    let mut nobody = service.caller_of(&Ticket { subject: None, ..ticket() }).await;
    let refused = nobody.recall.recall(recalling(in_general(), all())).await.unwrap_err();
    assert_ne!(refused.code(), Code::Internal);
    let other = recalling_for("converse", in_general(), all());
    let other = recalled(&mut caller, RecallRequest { subject_id: "nobody".to_owned(), ..other }).await;
    assert_eq!((values(&other).len(), other.rejected_count), (0, 0));
}

#[tokio::test]
async fn b01_a_deletion_without_a_whole_name_deletes_nothing() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    activated(&mut caller, fact("response_style", "zq7 lantern")).await;
    let partly = |scope, key: &str| {
        let address = MemoryAddress { scope, key: key.to_owned() };
        Some(MemoryName { name: Some(memory_name::Name::Address(address)) })
    };
    let names = [
        None,
        Some(MemoryName { name: None }),
        Some(named("")),
        Some(named("   ")),
        partly(None, "response_style"),
        partly(Some(Scope::default()), "response_style"),
        partly(Some(general()), ""),
        partly(Some(general()), "\u{200b}"),
    ];
    for memory in names {
        let refused = caller.delete.delete(DeleteRequest { memory, ..deletion("", 1) }).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
    }
    for blank in ["   ", "\u{200b}"] {
        let blankly = DeleteRequest {
            subject_id: blank.to_owned(),
            memory: Some(at(general(), "response_style")),
            ..deletion("", 1)
        };
        assert_eq!(caller.delete.delete(blankly).await.unwrap_err().code(), Code::InvalidArgument);
    }
    assert_eq!(values(&recalled(&mut caller, recalling(in_general(), all())).await), ["zq7 lantern"]);
}
