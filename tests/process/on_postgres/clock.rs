//! A replica that has another time than the database judges by another time than the other replicas: it does not serve.

use tonic_health::pb::health_check_response::ServingStatus;

use super::place::{APP, Place};
use crate::callers::channel;
use crate::serving::health;

/// The service's own role sees the database's clock that much ahead of this host's.
async fn shift(place: &Place, app: &str, millis: i64) {
    place
        .sql(&format!(
            "CREATE OR REPLACE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS \
             $$ SELECT pg_catalog.clock_timestamp() + {millis} * interval '1 millisecond' $$; \
             ALTER ROLE {app} SET search_path = public, pg_catalog"
        ))
        .await;
}

#[tokio::test]
async fn a_replica_whose_clock_is_off_by_more_than_500_ms_does_not_serve_until_it_is_right() {
    for off in [2_000, -2_000] {
        let place = Place::new().await;
        let app = place.role_like(APP).await;
        shift(&place, &app, off).await;
        let replica = place.serve_as(&app, &[]);
        // From the first moment, not only when it is looked at next.
        assert_eq!(health(channel(&replica.address).await, "").await, Ok(ServingStatus::NotServing));
        shift(&place, &app, 0).await;
        replica.until_it_is(ServingStatus::Serving).await;
        shift(&place, &app, off).await;
        replica.until_it_is(ServingStatus::NotServing).await;
        shift(&place, &app, 100).await;
        replica.until_it_is(ServingStatus::Serving).await;
        let ran = replica.stop();
        assert!(ran.err.contains("clock is"), "{}", ran.err);
        assert!(ran.err.contains("ms off the database's"), "{}", ran.err);
    }
}
