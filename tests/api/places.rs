//! Where a fact holds decides which one of a key is used, and whether a wider one may stand in for it.

use recall_gate::api::proto::{Audience, CaptureRequest, Context, DeleteRequest, Evidence, Nominator, Scope};

use crate::harness::{Caller, Service};
use crate::reading::{
    activated, after, held, key, placed, reasons_for, recalled, recalling_for, rejections, service_with_notes, shared,
    unconfirmed,
};
use crate::requests::{
    deletion, fact, general, in_general, in_project, in_task, nominating, of_project, of_task, reasons, recalling,
    source, values,
};

/// The six places, first to last in precedence.
fn six() -> [(&'static str, Scope); 6] {
    [
        ("task personal", in_task("p1", "k1")),
        ("task shared", shared(in_task("p1", "k1"))),
        ("project personal", in_project("p1")),
        ("project shared", shared(in_project("p1"))),
        ("general personal", general()),
        ("general shared", shared(general())),
    ]
}

#[tokio::test]
async fn for_one_key_the_first_of_the_six_places_is_used_and_the_others_are_shadowed() {
    let service = service_with_notes().await;
    let mut caller = service.caller().await;
    let mut laid = Vec::new();
    for (value, scope) in six().into_iter().rev() {
        laid.push((value, activated(&mut caller, placed(scope.clone(), fact("note", value))).await.memory_id, scope));
    }
    while let Some((value, memory_id, scope)) = laid.pop() {
        for purpose in ["converse", "draft", "act"] {
            let asked = recalling_for(purpose, of_task("p1", "k1"), key("note"));
            let reply = recalled(&mut caller, asked).await;
            assert_eq!(values(&reply), [value], "{purpose}");
            let shadowed = reply.rejected.iter().filter(|verdict| reasons(verdict) == ["SHADOWED"]).count();
            assert_eq!(shadowed, laid.len(), "{purpose}: {:?}", rejections(&reply.rejected));
        }
        let evidence =
            if scope.audience() == Audience::Shared { Evidence::OperatorVerified } else { Evidence::UserConfirmed };
        let gone = DeleteRequest { evidence: evidence.into(), ..deletion(&memory_id, 1) };
        caller.delete.delete(gone).await.unwrap();
    }
}

#[tokio::test]
async fn a_context_reads_its_own_places_and_the_wider_ones_and_nothing_beside_them() {
    let service = service_with_notes().await;
    let mut caller = service.caller_of(&crate::reading::of("t1", "s1")).await;
    let more = [
        ("other task", in_task("p1", "k2")),
        ("other project", in_project("p2")),
        ("other project's task", in_task("p2", "k1")),
    ];
    let mut laid = Vec::new();
    for (value, scope) in six().into_iter().chain(more) {
        laid.push((value, activated(&mut caller, placed(scope, fact("note", value))).await.memory_id));
    }
    let ids: Vec<&str> = laid.iter().map(|(_, id)| id.as_str()).collect();
    let own: [(Context, &str, &[&str]); 5] = [
        (in_general(), "general personal", &["general shared"]),
        (of_project("p1"), "project personal", &["project shared", "general personal", "general shared"]),
        (of_project("p2"), "other project", &["general personal", "general shared"]),
        (
            of_task("p1", "k2"),
            "other task",
            &["project personal", "project shared", "general personal", "general shared"],
        ),
        (of_task("p2", "k1"), "other project's task", &["other project", "general personal", "general shared"]),
    ];
    for (context, first, shadowed) in own {
        let asked = recalling(context.clone(), key("note"));
        let reply = recalled(&mut caller, asked).await;
        assert_eq!(values(&reply), [first]);
        assert_eq!(usize::try_from(reply.rejected_count), Ok(shadowed.len()), "{first}: {:?}", reply.rejected);
        let reply = recalled(&mut caller, recalling(context, nominating(&ids))).await;
        assert_eq!(values(&reply), [first]);
        for (value, id) in &laid {
            let expected = if *value == first {
                None
            } else if shadowed.contains(value) {
                Some(vec!["SHADOWED"])
            } else {
                Some(vec!["OTHER_SCOPE"])
            };
            assert_eq!(reasons_for(&reply.rejected, id), expected, "{value} seen from {first}");
        }
    }
}

#[tokio::test]
async fn a_nominated_memory_brings_the_others_of_its_key_before_the_gate() {
    let service = service_with_notes().await;
    let mut caller = service.caller().await;
    let mut wide = String::new();
    for (value, scope) in six() {
        wide = activated(&mut caller, placed(scope, fact("note", value))).await.memory_id;
    }
    let asked = recalling(of_task("p1", "k1"), nominating(&[&wide]));
    let reply = recalled(&mut caller, asked).await;
    assert_eq!(values(&reply), ["task personal"]);
    assert_eq!(reply.accepted[0].nominator(), Nominator::SameKey);
    assert_eq!(reply.rejected_count, 5);
    let nominated = reply.rejected.iter().find(|verdict| verdict.memory_id == wide).unwrap();
    assert_eq!((nominated.nominator(), reasons(nominated)), (Nominator::Index, vec!["SHADOWED"]));
}

/// A fact of the project and a wider one of the same key.
struct Pair {
    purpose: String,
    key: String,
    narrow: String,
    wide: String,
}

/// What is used, and why the narrow and the wide one are not.
type Seen = (Vec<String>, [Option<Vec<String>>; 2]);

impl Pair {
    async fn lay(caller: &mut Caller, purpose: &str, narrow: CaptureRequest, wide: CaptureRequest) -> Self {
        let key = wide.key.clone();
        let narrow = activated(caller, placed(in_project("p1"), narrow)).await.memory_id;
        let wide = activated(caller, placed(general(), wide)).await.memory_id;
        Self { purpose: purpose.to_owned(), key, narrow, wide }
    }

    async fn look(&self, caller: &mut Caller) -> Seen {
        let reply = recalled(caller, recalling_for(&self.purpose, of_project("p1"), key(&self.key))).await;
        let why = |id| reasons_for(&reply.rejected, id).map(|reasons| owned(&reasons));
        (values(&reply).into_iter().map(str::to_owned).collect(), [why(&self.narrow), why(&self.wide)])
    }
}

fn owned(reasons: &[&str]) -> Vec<String> {
    reasons.iter().map(|reason| (*reason).to_owned()).collect()
}

fn withheld(narrow: &[&str]) -> Seen {
    (vec![], [Some(owned(narrow)), Some(owned(&["NARROWER_REJECTED"]))])
}

fn fallen_back(wide: &str, narrow: &[&str]) -> Seen {
    (vec![wide.to_owned()], [Some(owned(narrow)), None])
}

#[tokio::test]
async fn an_expired_narrow_fact_withholds_the_wider_one_where_the_risk_is_more_than_low() {
    for purpose in ["converse", "draft", "act"] {
        let service = Service::start().await;
        let mut caller = service.caller().await;
        let brief = CaptureRequest { expire_time: Some(after(60)), ..fact("database_engine", "sqlite") };
        let pair = Pair::lay(&mut caller, purpose, brief, fact("database_engine", "postgres")).await;
        service.pass(59);
        assert_eq!(
            pair.look(&mut caller).await,
            (vec!["sqlite".to_owned()], [None, Some(owned(&["SHADOWED"]))]),
            "{purpose}"
        );
        service.pass(1);
        let expected = match purpose {
            "converse" => fallen_back("postgres", &["EXPIRED"]),
            _ => withheld(&["EXPIRED"]),
        };
        assert_eq!(pair.look(&mut caller).await, expected, "{purpose}");
    }
}

#[tokio::test]
async fn a_kind_that_withholds_never_falls_back_at_low_risk_either() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let brief = CaptureRequest { expire_time: Some(after(60)), ..fact("service_target", "old") };
    let pair = Pair::lay(&mut caller, "converse", brief, fact("service_target", "zq7 wide")).await;
    service.pass(60);
    assert_eq!(pair.look(&mut caller).await, withheld(&["EXPIRED"]));
}

#[tokio::test]
async fn a_narrow_fact_rejected_by_provenance_purpose_or_risk_withholds_the_wider_one() {
    let engine = || fact("database_engine", "sqlite");
    let narrow: [(&str, CaptureRequest, &str); 3] = [
        (
            "UNTRUSTED_SOURCE",
            CaptureRequest { source: Some(source("tool_result", "tool-1")), confidence: Some(0.9), ..engine() },
            "draft",
        ),
        ("PURPOSE_NOT_ALLOWED", CaptureRequest { purposes: vec!["converse".to_owned()], ..engine() }, "draft"),
        ("LOW_CONFIDENCE", CaptureRequest { confidence: Some(0.85), ..engine() }, "act"),
    ];
    for (reason, fact_of_project, purpose) in narrow {
        let service = Service::start().await;
        let mut caller = service.caller().await;
        let pair = Pair::lay(&mut caller, purpose, fact_of_project, fact("database_engine", "postgres")).await;
        assert_eq!(pair.look(&mut caller).await, withheld(&[reason]), "{reason}");
    }
}

#[tokio::test]
async fn an_inferred_a_deleted_or_a_not_yet_valid_narrow_fact_withholds_nothing() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let guess = unconfirmed(fact("ui_theme", "zq7 dark"));
    let pair = Pair::lay(&mut caller, "draft", guess, fact("ui_theme", "zq7 light")).await;
    let (used, [narrow, wide]) = pair.look(&mut caller).await;
    assert_eq!((used, wide), (vec!["zq7 light".to_owned()], None));
    assert!(narrow.unwrap().contains(&"INFERENCE_NOT_ALLOWED".to_owned()));

    let later = CaptureRequest { valid_from_time: Some(after(60)), ..fact("service_target", "soon") };
    let pair = Pair::lay(&mut caller, "act", later, fact("service_target", "zq7 wide")).await;
    assert_eq!(pair.look(&mut caller).await, fallen_back("zq7 wide", &["NOT_YET_VALID"]));
    service.pass(60);
    assert_eq!(pair.look(&mut caller).await, (vec!["soon".to_owned()], [None, Some(owned(&["SHADOWED"]))]));

    let gone = activated(&mut caller, placed(in_project("p1"), fact("duty_team", "zq7 blue"))).await;
    activated(&mut caller, fact("duty_team", "zq7 green")).await;
    caller.delete.delete(deletion(&gone.memory_id, 1)).await.unwrap();
    let reply = recalled(&mut caller, recalling_for("act", of_project("p1"), key("duty_team"))).await;
    assert_eq!(values(&reply), ["zq7 green"]);
    assert_eq!(rejections(&reply.rejected), [["DELETED"]]);
}

#[tokio::test]
async fn a_held_candidate_of_a_narrow_place_withholds_nothing() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    held(&mut caller, placed(in_project("p1"), unconfirmed(fact("service_target", "claimed")))).await;
    activated(&mut caller, fact("service_target", "zq7 wide")).await;
    for purpose in ["converse", "draft", "act"] {
        let reply = recalled(&mut caller, recalling_for(purpose, of_project("p1"), key("service_target"))).await;
        assert_eq!(values(&reply), ["zq7 wide"], "{purpose}");
    }
}
