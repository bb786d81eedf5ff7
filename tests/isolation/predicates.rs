//! The service's own queries, with their predicates taken out on the way to the server: the policies alone keep rows
//! apart.

use recall_gate::memory::{CandidateId, Context, Level, Memory, MemoryId, Owner, TenantId, Version};
use recall_gate::store::{PlaceRequest, PostgresOptions, Range, Reach, SearchRead, Store, ViewRequest};
use sqlx::query_scalar;

use crate::fixture::{at, key, own, owned, subject, text};
use crate::ground::{APP, Ground, open};
use crate::policies::settled;
use crate::wire::Wire;

/// Reads alone: what a change writes has its tenant in its rows.
fn reads(sql: &str) -> bool {
    sql.starts_with("SELECT") || sql.starts_with("WITH")
}

/// With any tenant in place of the caller's.
fn of_any_tenant(sql: &str) -> Option<String> {
    let other = sql.replace("tenant = $1", "tenant IS NOT NULL").replace("tenant = ctx.tenant", "tenant IS NOT NULL");
    (reads(sql) && other != sql).then_some(other)
}

/// With any owner of any tenant.
fn of_anybody(sql: &str) -> Option<String> {
    let mut rest = of_any_tenant(sql)?.replace("owner = $2", "owner IS NOT NULL");
    let mut other = String::new();
    while let Some(at) = rest.find("owner IN (") {
        let mut depth = 0;
        let end = rest[at..].find(|letter| {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            letter == ')' && depth == 0
        });
        other.push_str(&rest[..at]);
        other.push_str("owner IS NOT NULL");
        rest = rest[at + end.unwrap() + 1..].to_owned();
    }
    Some(other + &rest)
}

/// What there is to find.
struct Ids {
    memories: Vec<MemoryId>,
    candidates: Vec<CandidateId>,
    requests: Vec<uuid::Uuid>,
}

impl Ids {
    /// Of everybody, those first whom the caller may not see.
    async fn of(ground: &Ground) -> Self {
        let mut admin = ground.admin().await;
        let last = "ORDER BY tenant = 'a' AND owner IN ('ann', '')";
        let mut ids = async |column: &str, table: &str| -> Vec<uuid::Uuid> {
            let sql = sqlx::AssertSqlSafe(format!("SELECT {column} FROM {table} {last}"));
            query_scalar(sql).fetch_all(&mut admin).await.unwrap()
        };
        Self {
            memories: ids("memory_id", "memories").await.into_iter().map(MemoryId).collect(),
            candidates: ids("candidate_id", "candidates").await.into_iter().map(CandidateId).collect(),
            requests: ids("request_id", "idempotency WHERE tenant <> 'a' OR owner NOT IN ('ann', '')").await,
        }
    }
}

/// How many rows each kind of read gave ann that are not hers, nor shared, nor of her tenant.
async fn foreign(ground: &Ground, store: &dyn Store, ids: &Ids) -> Vec<(&'static str, usize)> {
    let reach = Reach { tenant: TenantId::new("a").unwrap(), subject: subject("ann") };
    let owners = [own("ann"), Owner::SHARED];
    let is_foreign = |tenant: &TenantId, owner: &Owner| *tenant != reach.tenant || !owners.contains(owner);
    let not_hers = |memories: &[Memory]| {
        memories.iter().filter(|memory| is_foreign(&memory.address.tenant, &memory.address.owner)).count()
    };
    let request = ViewRequest {
        reach: reach.clone(),
        context: Context(Level::General),
        keys: vec![key("k")],
        ids: ids.memories.clone(),
        all: true,
        whole: Some(100),
        search: Some(SearchRead::Substring([text("value"), text("of k")])),
        now: at(0),
    };
    let view = store.view(&request).await.unwrap();
    let held = view.candidates.iter().filter(|one| is_foreign(&one.address.tenant, &one.address.owner)).count();

    let page = store.memories(&reach, &Range::All, None, 100).await.unwrap();
    let scope = store.memories(&reach, &Range::One(own("ann"), Level::General), None, 100).await.unwrap();
    let candidates = store.candidates(&reach, &Range::All, None, 100, at(0)).await.unwrap().candidates;
    let mut place = PlaceRequest {
        address: ground.world.address(own("ann"), Level::General, "k"),
        blocked_as: key("k"),
        reach: reach.clone(),
        references: vec![text("page 4")],
        parents: ids.memories.clone(),
    };
    place.address.tenant = reach.tenant.clone();
    let place = store.place(&place).await.unwrap();
    let current: Vec<Memory> = place.current.into_iter().collect();

    let versions: Vec<_> = ids.memories.iter().map(|id| (*id, Version::FIRST)).collect();
    let (mut one_memory, mut one_candidate, mut outcomes) = (0, 0, 0);
    for id in &ids.memories {
        one_memory += not_hers(store.memory(&reach, *id).await.unwrap().as_slice());
    }
    for id in &ids.candidates {
        let found = store.candidate(&reach, *id, at(0)).await.unwrap();
        one_candidate += found.iter().filter(|one| is_foreign(&one.address.tenant, &one.address.owner)).count();
    }
    for id in &ids.requests {
        let (mut kept, _) = ground.world.replay(*id);
        kept.tenant = reach.tenant.clone();
        outcomes += usize::from(store.replay(&kept, at(0)).await.unwrap().is_some());
    }
    vec![
        ("view", not_hers(&owned(view.memories.clone()))),
        ("held", held),
        ("holding", view.holding.len().saturating_sub(2)),
        ("values", store.values(&reach, &versions).await.unwrap().len().saturating_sub(2)),
        ("memory", one_memory),
        ("memories", not_hers(&page.memories)),
        ("scope", not_hers(&scope.memories)),
        ("candidate", one_candidate),
        ("candidates", candidates.iter().filter(|one| is_foreign(&one.address.tenant, &one.address.owner)).count()),
        ("parents", not_hers(&place.parents)),
        ("current", not_hers(&current)),
        ("blocks", place.blocks.len().saturating_sub(2)),
        ("replay", outcomes),
    ]
}

async fn without(rewrite: fn(&str) -> Option<String>) {
    let ground = settled().await;
    let wire = Wire::rewriting(rewrite).await;
    let store = open(PostgresOptions { app: ground.at(APP, wire.port), ..ground.options(2) }).await;
    let ids = Ids::of(&ground).await;
    for (what, found) in foreign(&ground, &*store, &ids).await {
        assert_eq!(found, 0, "{what}");
    }
    // Nothing went by unchanged but what the service asks at start.
    let tables =
        ["memories", "memory_versions", "candidates", "revisions", "idempotency", "blocks", "lineage", "owners"];
    let unchanged: Vec<_> = wire
        .seen()
        .into_iter()
        .filter(|sql| reads(sql) && tables.iter().any(|table| sql.contains(&format!(" {table}"))))
        .filter(|sql| !sql.contains("pg_class") && sql != "SELECT memory_id FROM memories LIMIT 1")
        .collect();
    assert_eq!(unchanged, [""; 0]);
    assert!(wire.rewritten().len() > 10, "{:?}", wire.rewritten());

    // Without the policies the same statements show what must not be seen: else this would show nothing.
    ground
        .administer(
            "DO $$ DECLARE kept text; BEGIN FOR kept IN SELECT relname FROM pg_class WHERE relforcerowsecurity LOOP \
             EXECUTE format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY', kept); END LOOP; END $$",
        )
        .await;
    let leaks = foreign(&ground, &*store, &ids).await;
    for (what, found) in leaks {
        // Whichever row of an address comes first.
        assert!(found > 0 || what == "current" || what == "scope", "{what}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i02_the_services_own_queries_without_the_tenant_show_no_other_tenant() {
    without(of_any_tenant).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i02_the_services_own_queries_without_the_owner_show_no_other_subject() {
    without(of_anybody).await;
}
