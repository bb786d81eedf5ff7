//! One current version, and no lost update, whoever writes at once.

use recall_gate::api::proto::{CaptureRequest, Outcome};
use tokio::task::JoinSet;
use tonic::Code;
use tonic_types::StatusExt;

use crate::harness::Service;
use crate::requests::{correction, deletion, error_reason, fact, in_general, keys, recalling, restoration, values};

const WRITERS: usize = 50;

#[tokio::test]
async fn b22_many_who_capture_one_value_at_once_make_one_memory() {
    let service = Service::start().await;
    let caller = service.caller().await;
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let mut caller = caller.clone();
        writers.spawn(async move { caller.capture.capture(fact("response_style", "zq7 brief")).await });
    }
    let mut replies = Vec::new();
    while let Some(reply) = writers.join_next().await {
        replies.push(reply.unwrap().unwrap().into_inner());
    }
    let made = replies.iter().filter(|reply| reply.outcome() == Outcome::Activated).count();
    let same = replies.iter().filter(|reply| reply.outcome() == Outcome::Duplicate).count();
    assert_eq!((made, same), (1, WRITERS - 1));
    assert!(replies.iter().all(|reply| reply.memory_id == replies[0].memory_id && reply.version == 1));
}

#[tokio::test]
async fn i03_b22_many_who_capture_different_values_at_once_leave_one_and_lose_none() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let mut caller = caller.clone();
        let value = format!("wording {writer} of {}", "xyz".repeat(writer));
        writers.spawn(async move { (value.clone(), caller.capture.capture(fact("response_style", &value)).await) });
    }
    let (mut active, mut held) = (Vec::new(), 0);
    while let Some(written) = writers.join_next().await {
        let (value, reply) = written.unwrap();
        let reply = reply.unwrap().into_inner();
        match reply.outcome() {
            Outcome::Activated => active.push(value),
            Outcome::Held => {
                assert!(!reply.candidate_id.is_empty());
                held += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((active.len(), held), (1, WRITERS - 1));
    let reply = caller.recall.recall(recalling(in_general(), keys(&["response_style"]))).await.unwrap().into_inner();
    assert_eq!(values(&reply), [active[0].as_str()]);
}

#[tokio::test]
async fn i04_b23_of_many_corrections_of_one_version_one_wins_and_the_rest_are_told_the_current_version() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = caller.capture.capture(fact("response_style", "zq7 brief")).await.unwrap().into_inner();
    service.pass(1);
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let mut caller = caller.clone();
        let request = correction(&made.memory_id, 1, &format!("value {writer}"));
        writers.spawn(async move { (writer, caller.correct.correct(request).await) });
    }
    let mut winner = None;
    while let Some(written) = writers.join_next().await {
        match written.unwrap() {
            (writer, Ok(reply)) => {
                assert_eq!(reply.into_inner().version, 2);
                assert_eq!(winner.replace(writer), None, "two corrections of one version");
            }
            (_, Err(status)) => {
                assert_eq!(status.code(), Code::Aborted);
                let info = status.get_details_error_info().unwrap();
                assert_eq!(
                    (info.reason.as_str(), info.metadata["current_version"].as_str()),
                    ("VERSION_CONFLICT", "2")
                );
            }
        }
    }
    let reply = caller.recall.recall(recalling(in_general(), keys(&["response_style"]))).await.unwrap().into_inner();
    assert_eq!(values(&reply), [format!("value {}", winner.unwrap())]);
    assert_eq!(reply.accepted[0].version, 2);
}

#[tokio::test]
async fn i04_b23_every_call_that_names_a_memory_honours_the_version_it_saw() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = caller.capture.capture(fact("response_style", "zq7 brief")).await.unwrap().into_inner();
    caller.correct.correct(correction(&made.memory_id, 1, "zq7 steps")).await.unwrap();
    let conflicts = [
        caller.correct.correct(correction(&made.memory_id, 1, "zq7 late")).await.unwrap_err(),
        caller.correct.correct(correction(&made.memory_id, 3, "early")).await.unwrap_err(),
        caller.delete.delete(deletion(&made.memory_id, 1)).await.unwrap_err(),
        caller.delete.restore(restoration(&made.memory_id, 1)).await.unwrap_err(),
        caller
            .capture
            .capture(CaptureRequest { expected_version: Some(1), ..fact("response_style", "zq7 late") })
            .await
            .unwrap_err(),
        caller
            .capture
            .capture(CaptureRequest { expected_version: Some(0), ..fact("response_style", "zq7 late") })
            .await
            .unwrap_err(),
    ];
    for status in conflicts {
        assert_eq!((status.code(), error_reason(&status)), (Code::Aborted, "VERSION_CONFLICT".to_owned()));
        assert_eq!(status.get_details_error_info().unwrap().metadata["current_version"], "2");
    }
    let reply = caller.recall.recall(recalling(in_general(), keys(&["response_style"]))).await.unwrap().into_inner();
    assert_eq!(values(&reply), ["zq7 steps"]);
}

#[tokio::test]
async fn an_expectation_of_nothing_and_of_a_version_differ_from_none() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let expecting = |version| CaptureRequest { expected_version: version, ..fact("response_style", "zq7 brief") };
    let missing = caller.capture.capture(expecting(Some(1))).await.unwrap_err();
    assert_eq!(error_reason(&missing), "VERSION_CONFLICT");
    let made = caller.capture.capture(expecting(Some(0))).await.unwrap().into_inner();
    assert_eq!(made.outcome(), Outcome::Activated);
    let same = caller.capture.capture(expecting(None)).await.unwrap().into_inner();
    assert_eq!(same.outcome(), Outcome::Duplicate);
}

#[tokio::test]
async fn s09_the_same_fact_twice_is_one_memory_and_never_none() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    for _ in 0..3 {
        caller.capture.capture(fact("response_style", "zq7 brief")).await.unwrap();
    }
    let reply = caller.recall.recall(recalling(in_general(), keys(&["response_style"]))).await.unwrap().into_inner();
    assert_eq!(values(&reply), ["zq7 brief"]);
    assert_eq!(reply.accepted[0].version, 1);
}

#[tokio::test]
async fn b24_what_a_correction_replaced_does_not_return_when_the_correction_ends() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = caller.capture.capture(fact("response_style", "zq7 brief")).await.unwrap().into_inner();
    caller.correct.correct(correction(&made.memory_id, 1, "zq7 steps")).await.unwrap();
    caller.delete.delete(deletion(&made.memory_id, 2)).await.unwrap();
    let reply = caller.recall.recall(recalling(in_general(), keys(&["response_style"]))).await.unwrap().into_inner();
    assert_eq!(values(&reply), [""; 0]);
    caller.delete.restore(restoration(&made.memory_id, 3)).await.unwrap();
    let reply = caller.recall.recall(recalling(in_general(), keys(&["response_style"]))).await.unwrap().into_inner();
    assert_eq!(values(&reply), ["zq7 steps"]);
}

#[tokio::test]
async fn i04_a_mix_of_writers_never_loses_a_version() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = caller.capture.capture(fact("response_style", "zq7 brief")).await.unwrap().into_inner();
    let mut writers = JoinSet::new();
    for writer in 0..20 {
        let mut caller = caller.clone();
        let id = made.memory_id.clone();
        writers.spawn(async move {
            let mut done = 0;
            for version in 1..20 {
                let changed = match writer % 3 {
                    0 => caller.delete.delete(deletion(&id, version)).await.is_ok(),
                    1 => caller.delete.restore(restoration(&id, version)).await.is_ok(),
                    _ => {
                        let value = format!("writer {writer} at {version}");
                        let reply = caller.correct.correct(correction(&id, version, &value)).await;
                        reply.is_ok_and(|reply| reply.into_inner().outcome() == Outcome::Activated)
                    }
                };
                done += i64::from(changed);
            }
            done
        });
    }
    let mut changes = 0;
    while let Some(done) = writers.join_next().await {
        changes += done.unwrap();
    }
    // Each change that was answered OK raised the version by exactly one.
    let last = caller.delete.delete(deletion(&made.memory_id, 1000)).await.unwrap_err();
    let current = last.get_details_error_info().unwrap().metadata["current_version"].parse::<i64>().unwrap();
    assert_eq!(current, 1 + changes);
}

#[tokio::test]
async fn a_version_that_nobody_named_is_refused_as_a_bad_field() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let made = caller.capture.capture(fact("response_style", "zq7 brief")).await.unwrap().into_inner();
    for version in [None, Some(0), Some(-1), Some(i64::MIN)] {
        let mut correct = correction(&made.memory_id, 1, "zq7 steps");
        correct.expected_version = version;
        let mut delete = deletion(&made.memory_id, 1);
        delete.expected_version = version;
        let refused =
            [caller.correct.correct(correct).await.unwrap_err(), caller.delete.delete(delete).await.unwrap_err()];
        for status in refused {
            assert_eq!(status.code(), Code::InvalidArgument);
            assert_eq!(crate::requests::bad_fields(&status), ["expected_version"]);
        }
    }
    let too_new = caller.correct.correct(correction(&made.memory_id, i64::MAX, "zq7 steps")).await.unwrap_err();
    assert_eq!(error_reason(&too_new), "VERSION_CONFLICT");
}
