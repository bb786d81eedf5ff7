//! Roles that no policy binds.

use recall_gate::store::{OpenError, Postgres, PostgresOptions};

use crate::fixture::uuid;
use crate::ground::{APP, Ground};
use crate::postgres::{MIGRATOR, SUPERUSER};

/// What is said of the service where its own role is another.
async fn refusal(ground: &Ground, role: &str) -> String {
    let options = PostgresOptions { app: ground.url(role), ..ground.options(1) };
    match Postgres::open(options).await {
        Err(OpenError::Unfit { faults }) => faults.join("\n"),
        other => panic!("{role}: {:?}", other.err()),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b35_a_role_that_no_policy_binds_is_refused_at_start() {
    let ground = Ground::new().await;
    assert!(refusal(&ground, SUPERUSER).await.contains("row-level security binds not"));
    assert!(refusal(&ground, MIGRATOR).await.contains("owns the table `memories`"));

    let [past, member] = ["past", "member"].map(|what| format!("{what}_{}", uuid().simple()));
    ground
        .administer(&format!(
            "CREATE ROLE {past} LOGIN BYPASSRLS IN ROLE {APP}; CREATE ROLE {member} LOGIN IN ROLE {APP}, {past}; \
             GRANT CONNECT ON DATABASE {0} TO {past}, {member}",
            ground.database
        ))
        .await;
    let said = [refusal(&ground, &past).await, refusal(&ground, &member).await];
    ground
        .administer(&format!(
            "REVOKE CONNECT ON DATABASE {0} FROM {past}, {member}; DROP ROLE {member}; DROP ROLE {past}",
            ground.database
        ))
        .await;
    for said in said {
        assert!(said.contains(&format!("`{past}`, which row-level security binds not")), "{said}");
    }
}

/// The other roles too: each may do far too much.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b35_no_role_of_the_four_may_stand_above_the_policies() {
    let ground = Ground::new().await;
    let above = || ground.url(SUPERUSER);
    for options in [
        PostgresOptions { ledger: above(), ..ground.options(1) },
        PostgresOptions { feeder: above(), ..ground.options(1) },
        PostgresOptions { worker: above(), ..ground.options(1) },
    ] {
        let Err(OpenError::Unfit { faults }) = Postgres::open(options).await else { panic!("it opens") };
        assert!(faults[0].contains("row-level security binds not"), "{faults:?}");
    }
}
