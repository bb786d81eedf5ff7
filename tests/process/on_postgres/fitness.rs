//! A database, a server or a role that would not keep what the service promises is refused at the start, with every
//! fault by name.

use tonic_health::pb::health_check_response::ServingStatus;

use super::place::{APP, Place, write_key};
use super::server::Server;
use crate::callers::{Caller, fact};
use crate::load::until;

/// What an operator may do wrong to the service's own role, and what of it must be told. `{app}` is that role.
const OF_THE_APP: [(&str, &str); 6] = [
    ("ALTER ROLE {app} SUPERUSER", "the app role `{app}` is, or may act as, `{app}`"),
    ("ALTER ROLE {app} BYPASSRLS", "the app role `{app}` is, or may act as, `{app}`"),
    ("CREATE TABLE mine (); ALTER TABLE mine OWNER TO {app}", "the app role `{app}` owns the table `mine`"),
    ("GRANT recall_gate_migrator TO {app}", "the app role `{app}` owns the table `memories`, or may act as its owner"),
    ("GRANT SELECT ON decisions_default TO {app}", "rights on the partition `decisions_default` itself"),
    ("ALTER ROLE {app} SET synchronous_commit = off", "`synchronous_commit` is off for the app role `{app}`"),
];

/// The same of the tables.
const OF_THE_TABLES: [(&str, &str); 7] = [
    ("ALTER TABLE memories NO FORCE ROW LEVEL SECURITY", "not forced on the table `memories`"),
    ("ALTER TABLE feed DISABLE ROW LEVEL SECURITY", "not forced on the table `feed`"),
    (
        "CREATE POLICY wide ON reviews USING (true)",
        "the policy `reviews.wide` shows the app role `{app}` more than one",
    ),
    (
        "CREATE POLICY all_owners ON memories FOR SELECT TO recall_gate_app USING (owner <> 'nobody')",
        "the policy `memories.all_owners` shows the app role",
    ),
    (
        "CREATE POLICY all_subjects ON memories TO recall_gate_app USING (tenant = current_setting('rg.tenant', true))",
        "the policy `memories.all_subjects` shows the app role",
    ),
    (
        "CREATE POLICY or_any ON acknowledgements TO recall_gate_app \
         USING (tenant = current_setting('rg.tenant', true) OR version > 0)",
        "the policy `acknowledgements.or_any` shows the app role",
    ),
    (
        "CREATE POLICY in_any ON candidates FOR INSERT TO {app} WITH CHECK (true)",
        "the policy `candidates.in_any` shows the app role",
    ),
];

/// The same of the three other roles: which, under what setting, its fault.
const OF_THE_OTHERS: [(&str, &str, &str, &str); 4] = [
    ("ledger", "GRANT SELECT ON memories TO {role}", "can read the text in `memories.value`", "--ledger-database"),
    (
        "feeder",
        "GRANT SELECT (tokens) ON memories TO {role}",
        "can read the text in `memories.tokens`",
        "--feeder-database",
    ),
    ("worker", "GRANT pg_read_all_data TO {role}", "can read the text in `candidates.value`", "--worker-database"),
    ("worker", "ALTER ROLE {role} SUPERUSER", "is, or may act as, `{role}`", "--worker-database"),
];

#[tokio::test]
async fn i02_b35_a_service_role_that_row_level_security_does_not_bind_is_refused() {
    for (wrong, told) in OF_THE_APP {
        let place = Place::new().await;
        let app = place.role_like(APP).await;
        place.serve_as(&app, &[]).until_it_is(ServingStatus::Serving).await;
        place.sql(&wrong.replace("{app}", &app)).await;
        let said = place.refused_as(&app, &[]);
        assert!(said.contains(&told.replace("{app}", &app)), "{wrong}: {said}");
    }
}

#[tokio::test]
async fn i02_b35_tables_that_do_not_keep_tenants_and_owners_apart_are_refused() {
    for (wrong, told) in OF_THE_TABLES {
        let place = Place::new().await;
        let app = place.role_like(APP).await;
        place.sql(&wrong.replace("{app}", &app)).await;
        let said = place.refused_as(&app, &[]);
        assert!(said.contains(&told.replace("{app}", &app)), "{wrong}: {said}");
    }
}

#[tokio::test]
async fn i02_b35_who_works_across_subjects_and_can_read_text_is_refused() {
    for (name, wrong, told, setting) in OF_THE_OTHERS {
        let place = Place::new().await;
        let role = place.role_like(&format!("recall_gate_{name}")).await;
        let url = place.url(&role);
        place.sql(&wrong.replace("{role}", &role)).await;
        let said = place.refused_as(APP, &[setting, &url]);
        let told = told.replace("{role}", &role);
        assert!(said.contains(&format!("the {name} role `{role}`")) && said.contains(&told), "{wrong}: {said}");
    }
}

#[tokio::test]
async fn every_fault_is_named_at_once_and_when_they_are_gone_it_serves() {
    let place = Place::new().await;
    let app = place.role_like(APP).await;
    let ledger = place.role_like("recall_gate_ledger").await;
    let url = place.url(&ledger);
    let faults = [&OF_THE_APP[2..], &OF_THE_TABLES].concat();
    for (wrong, _) in &faults {
        place.sql(&wrong.replace("{app}", &app)).await;
    }
    place.sql(&OF_THE_OTHERS[0].1.replace("{role}", &ledger)).await;
    let said = place.refused_as(&app, &["--ledger-database", &url]);
    for (_, told) in &faults {
        assert!(said.contains(&told.replace("{app}", &app)), "{told}: {said}");
    }
    assert!(said.contains(OF_THE_OTHERS[0].2), "{said}");

    place
        .sql(&format!(
            "DROP TABLE mine; REVOKE recall_gate_migrator FROM {app}; REVOKE ALL ON decisions_default FROM {app}; \
             ALTER ROLE {app} RESET synchronous_commit; REVOKE SELECT ON memories FROM {ledger}; \
             ALTER TABLE memories FORCE ROW LEVEL SECURITY; ALTER TABLE feed ENABLE ROW LEVEL SECURITY; \
             DROP POLICY wide ON reviews; DROP POLICY all_owners ON memories; DROP POLICY in_any ON candidates; \
             DROP POLICY all_subjects ON memories; DROP POLICY or_any ON acknowledgements"
        ))
        .await;
    let replica = place.serve_as(&app, &["--ledger-database", &url]);
    replica.until_it_is(ServingStatus::Serving).await;
    Caller::nobody(&replica.address).await.capture.capture(fact("response_style", "brief")).await.unwrap();
}

#[tokio::test]
async fn i06_a_server_that_may_lose_what_it_has_committed_is_refused() {
    let server = Server::new();
    let place = Place::on(&server).await;
    for setting in ["fsync", "full_page_writes", "synchronous_commit"] {
        let off = format!("current_setting('{setting}') = 'off'");
        for (value, is_off) in [("off", true), ("on", false)] {
            place.sql(&format!("ALTER SYSTEM SET {setting} = {value}")).await;
            place.sql("SELECT pg_reload_conf()").await;
            until("the server has read it", async || {
                (place.number(&format!("SELECT CAST({off} AS int)")).await == 1) == is_off
            })
            .await;
            if is_off {
                let said = place.refused_as(APP, &[]);
                assert!(said.contains(&format!("`{setting}` is off for the app role `{APP}`")), "{said}");
            } else {
                place.serve(&[]).until_it_is(ServingStatus::Serving).await;
            }
        }
    }
}

#[tokio::test]
async fn another_databases_digest_key_none_and_a_short_one_are_refused() {
    let place = Place::new().await;
    place.serve(&[]).until_it_is(ServingStatus::Serving).await;
    let kept = std::fs::read(place.key()).unwrap();

    write_key(&place.key(), &[7; 32]);
    let said = place.refused_as(APP, &[]);
    assert!(said.contains("digest-key` is not the one that this database was made with"), "{said}");
    write_key(&place.key(), &kept[..31]);
    let said = place.refused_as(APP, &[]);
    assert!(said.contains("digest-key` is not 32 bytes long"), "{said}");
    std::fs::remove_file(place.key()).unwrap();
    let said = place.refused_as(APP, &[]);
    assert!(said.contains("the digest key is missing"), "{said}");
    assert!(!place.key().exists(), "no new key is made in its place");

    write_key(&place.key(), &kept);
    place.serve(&[]).until_it_is(ServingStatus::Serving).await;
}
