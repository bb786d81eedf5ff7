//! Readiness follows the store: a service whose store cannot make a decision durable answers no call, and says so.

use std::convert::Infallible;
use std::time::Duration;

use super::Health;
use crate::store::Error;

/// How often the store is asked, and how long it may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// After it has answered.
    pub(super) well: Duration,
    /// After it has not.
    pub(super) ill: Duration,
    /// Longer than a store waits for a lock by itself.
    pub(super) patience: Duration,
}

/// The pace of a service.
pub(super) const PACE: Pace =
    Pace { well: Duration::from_secs(5), ill: Duration::from_secs(1), patience: Duration::from_secs(10) };

/// Asks for as long as it is polled, and tells health what comes out, which knows how the store is to begin with.
///
/// Whoever drains drops it first, so that it cannot say `SERVING` any more.
pub(super) async fn following<F>(
    health: &Health,
    pace: Pace,
    mut well: bool,
    mut check: impl FnMut() -> F,
) -> Infallible
where
    F: Future<Output = Result<(), Error>>,
{
    loop {
        tokio::time::sleep(if well { pace.well } else { pace.ill }).await;
        let ill: Option<Box<dyn std::error::Error + Send + Sync>> =
            match tokio::time::timeout(pace.patience, check()).await {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error.into()),
                Err(late) => Some(late.into()),
            };
        match (well, &ill) {
            (true, Some(error)) => {
                health.not_ready().await;
                let error: &(dyn std::error::Error + 'static) = error.as_ref();
                tracing::error!(error, "not ready: the store can record nothing");
            }
            (false, None) => {
                health.ready().await;
                tracing::info!("ready again: the store records");
            }
            (true, None) | (false, Some(_)) => {}
        }
        well = ill.is_none();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tonic_health::pb::HealthCheckRequest;
    use tonic_health::pb::health_check_response::ServingStatus;
    use tonic_health::pb::health_client::HealthClient;

    use super::*;
    use crate::server::{LIVENESS, SERVICES};

    const BRISK: Pace =
        Pace { well: Duration::from_millis(1), ill: Duration::from_millis(1), patience: Duration::from_millis(20) };

    async fn says(health: &Health, service: &str) -> ServingStatus {
        let request = HealthCheckRequest { service: service.to_owned() };
        HealthClient::new(health.service()).check(request).await.unwrap().into_inner().status()
    }

    /// What health says of readiness when the store is asked, time after time.
    async fn followed(answers: &[Option<Result<(), ()>>]) -> Vec<ServingStatus> {
        let health = Health::new().await;
        health.ready().await;
        let (asked, heard) = (AtomicUsize::new(0), std::sync::Mutex::new(Vec::new()));
        let (done, mut all) = tokio::sync::mpsc::channel(1);
        let check = || async {
            let turn = asked.fetch_add(1, Ordering::Relaxed);
            let before = says(&health, "").await;
            heard.lock().unwrap().push(before);
            assert_eq!(says(&health, LIVENESS).await, ServingStatus::Serving);
            for service in SERVICES {
                assert_eq!(says(&health, service).await, before, "{service}");
            }
            match answers.get(turn) {
                Some(Some(Ok(()))) => Ok(()),
                Some(Some(Err(()))) => Err(Error::Unavailable("full".into())),
                Some(None) => std::future::pending().await,
                None => {
                    let _ = done.try_send(());
                    std::future::pending().await
                }
            }
        };
        let pace = Pace { patience: Duration::from_mins(1), ..BRISK };
        let pace = if answers.contains(&None) { BRISK } else { pace };
        tokio::select! {
            never = following(&health, pace, true, check) => match never {},
            _ = all.recv() => {}
        }
        heard.into_inner().unwrap()
    }

    #[tokio::test]
    async fn s02_readiness_goes_with_the_store_and_comes_back_with_it() {
        use ServingStatus::{NotServing, Serving};
        let heard = followed(&[Some(Ok(())), Some(Err(())), Some(Err(())), Some(Ok(()))]).await;
        assert_eq!(heard, [Serving, Serving, NotServing, NotServing, Serving]);
    }

    #[tokio::test]
    async fn s02_a_store_that_does_not_answer_is_as_good_as_gone() {
        use ServingStatus::{NotServing, Serving};
        let heard = followed(&[None, Some(Ok(()))]).await;
        assert_eq!(heard, [Serving, NotServing, Serving]);
    }
}
