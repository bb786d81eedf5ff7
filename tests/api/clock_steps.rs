//! S06: the clock of the host steps back or forward. Order, versions and credentials stand.

use recall_gate::api::proto::{Memory, Outcome};
use recall_gate::memory::Time;
use tonic::Code;

use crate::harness::{BEGIN_SECONDS, Caller, Service, ticket};
use crate::reading::{activated, all, getting, recalled};
use crate::requests::{correction, fact, in_general, named, recalling, values};

async fn now_there(caller: &mut Caller, memory_id: &str) -> Memory {
    caller.recall.get_memory(getting(named(memory_id))).await.unwrap().into_inner().memory.unwrap()
}

fn micros(memory: &Memory) -> (i64, i32) {
    let time = memory.update_time.unwrap();
    (time.seconds, time.nanos)
}

#[tokio::test]
async fn s06_versions_rise_and_times_never_run_back_however_the_clock_steps() {
    let service = Service::start().await;
    let mut caller = service.caller().await;
    let id = activated(&mut caller, fact("response_style", "zq7 brief")).await.memory_id;
    let mut last = now_there(&mut caller, &id).await;
    for (version, step) in (1..).zip([-1, -3600, 0, -1, 3600, -3600]) {
        service.clock.set(Time::from_parts(BEGIN_SECONDS + step, 0).unwrap());
        // With a credential of that moment.
        let mut caller = service.caller().await;
        let value = format!("zq7 after a step of {step}, {version}");
        let reply = caller.correct.correct(correction(&id, version, &value)).await.unwrap().into_inner();
        assert_eq!((reply.outcome(), reply.version), (Outcome::Activated, version + 1), "{step}");
        let reply = recalled(&mut caller, recalling(in_general(), all())).await;
        assert_eq!(values(&reply), [value.as_str()], "{step}");
        let there = now_there(&mut caller, &id).await;
        assert!(micros(&there) >= micros(&last), "{step}: {there:?} after {last:?}");
        let decided = reply.decide_time.unwrap();
        assert!((decided.seconds, decided.nanos) >= micros(&there), "{step}");
        last = there;
    }
}

#[tokio::test]
async fn s06_a_credential_is_good_within_the_leeway_and_not_beyond_it() {
    let service = Service::start().await;
    let moments = [(0, true), (-1, true), (-30, true), (-31, false), (-3600, false), (3600, true)];
    for (step, good) in moments {
        // A credential for each, because one that was verified is remembered.
        service.clock.set(Time::from_parts(BEGIN_SECONDS, 0).unwrap());
        let mut agent = ticket();
        agent.principal = format!("agent {step}");
        let mut caller = service.caller_of(&agent).await;
        service.clock.set(Time::from_parts(BEGIN_SECONDS + step, 0).unwrap());
        let answer = caller.recall.recall(recalling(in_general(), all())).await;
        let code = answer.map_or_else(|refused| refused.code(), |_| Code::Ok);
        assert_eq!(code, if good { Code::Ok } else { Code::Unauthenticated }, "{step}");
    }
}
