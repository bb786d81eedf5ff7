//! What is recorded and kept.

use recall_gate::memory::{
    Attributes, Disposition, Level, Nominator, PolicyVersion, PrincipalId, Receipt, Subject, Time, Verdict,
};
use recall_gate::store::{CommitError, Error, Range, Write};

use crate::fixture::{World, at, contended, own, subject, uuid};
use crate::unpacked::unpacked;

async fn bodies(world: &World) -> Vec<Vec<u8>> {
    world.backdoor().await.column("SELECT body FROM decisions WHERE tenant = $1", world.tenant.as_str()).await
}

pub(crate) async fn i06_the_decision_is_there_when_commit_returns_and_after_opening_anew(mut world: World) {
    let mut change = world.change();
    change.writes = vec![Write::Memory(Box::new(world.memory("k")))];
    let expected = change.judgement.clone();
    let recorded = world.commit(change).await.unwrap();
    assert_eq!(recorded.get(), &expected);
    let mine = "SELECT count(*) FROM decisions WHERE tenant = $1 AND owner = 'ann' AND method = 'Capture' \
                AND outcome = 'ACTIVATED' AND length(body) > 0";
    assert_eq!(world.number(mine).await, 1);

    let mut refusal = world.change();
    refusal.judgement.disposition = Disposition::Refused("VERSION_CONFLICT");
    world.commit(refusal).await.unwrap();
    let mut read = world.change();
    read.judgement.disposition = Disposition::Answered;
    world.commit(read).await.unwrap();
    world.reopen().await;
    assert_eq!(world.number(mine).await, 1);
    let others = "SELECT count(*) FROM decisions WHERE tenant = $1 AND outcome IN ('REFUSED', '')";
    assert_eq!(world.number(others).await, 2);
    assert_eq!(world.view_all("ann", Level::General).await.memories.len(), 1);
}

pub(crate) async fn a_decision_never_holds_a_key_that_is_text(world: World) {
    let memory = world.memory("zq7canary");
    let attributes = |key_is_text| Attributes {
        owner: own("ann"),
        level: Level::General,
        key: memory.address.key.clone(),
        key_is_text,
        kind: memory.kind.clone(),
        version: memory.version,
        value_version: memory.value_version,
        state: Some(memory.state),
        source_kind: memory.source.kind.clone(),
        lineage_trust: memory.lineage_trust,
        evidence: memory.evidence,
        confidence: memory.confidence,
        sensitivity: memory.sensitivity,
        consent: memory.consent.clone(),
        purposes: memory.purposes.clone(),
        observe_time: memory.observe_time,
        valid_from_time: memory.valid_from_time,
        expire_time: memory.expire_time,
        update_time: memory.update_time,
        confirm_time: memory.confirm_time,
        value_chars: memory.value_chars,
    };
    let verdict = |key_is_text| Verdict {
        subject: Subject::Memory(memory.id),
        reasons: Vec::new(),
        nominator: Nominator::Key,
        nomination: None,
        attributes: Some(attributes(key_is_text)),
    };
    let holds = |body: &[u8]| unpacked(body).windows(9).any(|bytes| bytes == b"zq7canary");
    let mut change = world.change();
    change.judgement.verdicts = vec![verdict(true)];
    change.writes = vec![Write::Memory(Box::new(memory.clone()))];
    world.commit(change).await.unwrap();
    assert!(bodies(&world).await.iter().all(|body| !holds(body)));
    let mut listed = world.change();
    listed.judgement.verdicts = vec![verdict(false)];
    world.commit(listed).await.unwrap();
    assert_eq!(bodies(&world).await.iter().filter(|body| holds(body)).count(), 1);
}

pub(crate) async fn a_kept_outcome_comes_back_for_its_own_caller_and_method_until_it_expires(world: World) {
    let (kept, record) = world.replay(uuid());
    let mut change = world.change();
    change.replay = Some((kept.clone(), record.clone()));
    world.commit(change).await.unwrap();
    let found = world.store.replay(&kept, at(99)).await.unwrap().unwrap();
    assert_eq!(found.payload_digest, record.payload_digest);
    assert_eq!(found.expire_time, record.expire_time);
    assert_eq!(found.receipt, Receipt { replayed: true, ..record.receipt });
    assert_eq!(world.store.replay(&kept, at(100)).await.unwrap(), None);

    let mut others = [kept.clone(), kept.clone(), kept.clone(), kept];
    others[0].subject = subject("bob");
    others[1].principal = PrincipalId::new("other").unwrap();
    others[2].method = "Correct";
    others[3].request_id.0 = uuid();
    for other in others {
        assert_eq!(world.store.replay(&other, at(0)).await.unwrap(), None, "{other:?}");
    }
}

pub(crate) async fn an_outcome_is_kept_once_until_it_has_expired(world: World) {
    let (kept, record) = world.replay(uuid());
    let change = |now, expire_time| {
        let mut change = world.change();
        change.judgement.decide_time = at(now);
        let mut record = record.clone();
        record.expire_time = at(expire_time);
        change.replay = Some((kept.clone(), record));
        change
    };
    world.commit(change(0, 100)).await.unwrap();
    assert!(contended(&world.commit(change(1, 101)).await));
    assert!(contended(&world.commit(change(99, 199)).await));
    world.commit(change(100, 200)).await.unwrap();
    let found = world.store.replay(&kept, at(150)).await.unwrap().unwrap();
    assert_eq!(found.expire_time, at(200));
}

pub(crate) async fn decisions_made_before_an_instant_go_oldest_first_and_nothing_else(world: World) {
    // Long before those of other tests: this crosses tenants.
    for micros in [30, 10, 20, 40, 21] {
        let mut change = world.change();
        change.writes = vec![Write::Memory(Box::new(world.memory(&format!("k{micros}"))))];
        change.judgement.decide_time = Time::from_micros(micros);
        world.commit(change).await.unwrap();
    }
    let (kept, record) = world.replay(uuid());
    let mut change = world.change();
    change.replay = Some((kept.clone(), record));
    world.commit(change).await.unwrap();
    world.hold(&world.candidate("held")).await;
    let before = world.rows().await;
    let decisions = "SELECT count(*) FROM decisions WHERE tenant = $1";
    let oldest = "SELECT min(decide_time) FROM decisions WHERE tenant = $1";

    assert_eq!(world.store.prune(Time::from_micros(10), 100).await.unwrap(), 0, "the bound itself stays");
    assert_eq!(world.store.prune(Time::from_micros(30), 0).await.unwrap(), 0);
    assert_eq!(world.rows().await, before);
    assert_eq!(world.store.prune(Time::from_micros(30), 2).await.unwrap(), 2);
    assert_eq!(world.number(oldest).await, 21);
    assert_eq!(world.store.prune(Time::from_micros(30), 2).await.unwrap(), 1);
    assert_eq!(world.store.prune(Time::from_micros(30), 2).await.unwrap(), 0);
    assert_eq!(world.number(oldest).await, 30);
    assert_eq!(world.number(decisions).await, before[9] - 3);
    let after = world.rows().await;
    assert_eq!(after[..9], before[..9], "nothing but decisions has gone");
    assert!(world.store.replay(&kept, at(0)).await.unwrap().is_some());
}

pub(crate) async fn a_policy_is_kept_once(world: World) {
    let version = PolicyVersion([9; 32]);
    world.store.keep_policy(version, "first", at(0)).await.unwrap();
    world.store.keep_policy(version, "second", at(1)).await.unwrap();
    let kept: Vec<String> = world.backdoor().await.column("SELECT document FROM policies", "").await;
    assert_eq!(kept, ["first"]);
    world.store.check().await.unwrap();
}

pub(crate) async fn digests_and_tokens_outlive_the_process(mut world: World) {
    let digest = world.store.digest("request", &[b"a", b"b"]);
    assert_ne!(digest, world.store.digest("request", &[b"ab"]));
    assert_ne!(digest, world.store.digest("other", &[b"a", b"b"]));
    let token = world.store.seal(&digest, b"after k").unwrap();
    assert!(!token.windows(7).any(|bytes| bytes == b"after k"));
    world.reopen().await;
    assert_eq!(world.store.digest("request", &[b"a", b"b"]), digest);
    assert_eq!(world.store.open(&digest, &token).as_deref(), Some(b"after k".as_slice()));
    assert_eq!(world.store.open(&[0; 32], &token), None);
    assert_eq!(world.store.open(&digest, b"forged"), None);
    assert_ne!(World::sqlite().await.store.digest("request", &[b"a", b"b"]), digest);
}

pub(crate) async fn a_closed_store_answers_unavailable(world: World) {
    let memory = world.memory("k");
    world.put(&memory).await;
    world.store.close().await;
    world.store.close().await;
    assert!(matches!(world.store.check().await, Err(Error::Unavailable(_))));
    assert!(matches!(
        world.store.memories(&world.reach("ann"), &Range::All, None, 1).await,
        Err(Error::Unavailable(_))
    ));
    let refused = world.commit(world.change()).await.unwrap_err();
    assert!(matches!(refused, CommitError::Store(Error::Unavailable(_))));
    assert!(matches!(world.store.prune(at(0), 1).await, Err(Error::Unavailable(_))));
    let refused = world.store.keep_policy(PolicyVersion([1; 32]), "p", at(0)).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))));
}
