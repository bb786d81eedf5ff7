//! What a search reads.

use std::collections::BTreeSet;

use recall_gate::memory::{Level, Memory, MemoryId, Owner, State, Version};
use recall_gate::policy::{substring_forms, tokens};
use recall_gate::store::{SearchRead, View, ViewRequest};

use crate::fixture::{World, next, own, owned, project, task, text, without_value};

impl World {
    async fn search(&self, level: Level, search: SearchRead) -> View {
        let request = ViewRequest { search: Some(search), ..self.ask("ann", level) };
        self.store.view(&request).await.unwrap()
    }

    async fn substring(&self, level: Level, wanted: &str) -> BTreeSet<MemoryId> {
        self.search(level, SearchRead::Substring(substring_forms(&text(wanted)))).await.holding
    }

    async fn put_value(&self, level: Level, name: &str, value: &str) -> MemoryId {
        let memory = self.memory_at(own("ann"), level, name);
        let value = text(value);
        let memory = Memory { tokens: Some(tokens(&value)), value: Some(value), ..memory };
        self.put(&memory).await;
        memory.id
    }
}

pub(crate) async fn a_search_reads_every_memory_of_the_context_with_its_tokens_or_who_has_a_substring(world: World) {
    let general = world.memory("a");
    let shared = world.memory_at(Owner::SHARED, project("p"), "b");
    let elsewhere = world.memory_at(own("ann"), project("q"), "a");
    let foreign = world.memory_at(own("bob"), project("p"), "a");
    for memory in [&general, &shared, &elsewhere, &foreign] {
        world.put(memory).await;
    }
    let by_id = |mut memories: Vec<Memory>| {
        memories.sort_by_key(|memory| memory.id);
        memories
    };
    let bare = by_id(vec![without_value(&general), without_value(&shared)]);
    let with_tokens = |memory: &Memory| Memory { value: None, ..memory.clone() };

    let words = world.search(task("p", "t"), SearchRead::Tokens).await;
    assert_eq!(by_id(owned(words.memories)), by_id(vec![with_tokens(&general), with_tokens(&shared)]));
    assert_eq!((words.holding.len(), words.revisions.len()), (0, 6));
    let substring = world.search(task("p", "t"), SearchRead::Substring([text("of b"), text("-")])).await;
    assert_eq!(by_id(owned(substring.memories)), bare);
    assert_eq!(substring.holding, BTreeSet::from([shared.id]));
    assert_eq!(world.substring(Level::General, "value").await, BTreeSet::from([general.id]));
    let whole = ViewRequest {
        search: Some(SearchRead::Tokens),
        all: true,
        ids: vec![general.id],
        ..world.ask("ann", Level::General)
    };
    assert_eq!(owned(world.store.view(&whole).await.unwrap().memories), [general]);
}

pub(crate) async fn b05_a_substring_is_literal_whatever_its_characters(world: World) {
    let values = [
        "50% off",
        "50 off",
        "a_b",
        "axb",
        "o'clock",
        "\"unbalanced",
        "a AND",
        "NOT",
        "NEAR(",
        "col:val",
        "*",
        "^x",
        ";",
        "\\",
        "[a]",
        "Straße",
        "STRASSE",
        "茶",
        "绿茶",
        "🎉",
        "e\u{301}",
        "\u{e9}",
        "$5",
        "?1",
        "\n",
        "  ",
    ];
    let mut ids = Vec::new();
    for (place, value) in values.iter().enumerate() {
        ids.push((*value, world.put_value(Level::General, &format!("k{place}"), value).await));
    }
    for wanted in values {
        let expected: BTreeSet<MemoryId> =
            ids.iter().filter(|(value, _)| value.contains(wanted)).map(|(_, id)| *id).collect();
        let mut found = world.substring(Level::General, wanted).await;
        if wanted == "e\u{301}" {
            assert!(found.remove(&ids[21].1), "a decomposed query finds the composed value");
        }
        assert_eq!(found, expected, "{wanted:?}");
    }
    assert_eq!(world.substring(Level::General, "% off and more").await, BTreeSet::new());
}

pub(crate) async fn i13_tokens_go_with_their_value(world: World) {
    const WITH_TOKENS: &str = "SELECT count(*) FROM memories WHERE tenant = $1 AND tokens IS NOT NULL";
    let memory = world.memory("k");
    world.put(&memory).await;
    assert_eq!(world.number(WITH_TOKENS).await, 1);
    let corrected = next(&memory, "another fact");
    world.put(&corrected).await;
    let reach = world.reach("ann");
    let read = world.store.memory(&reach, memory.id).await.unwrap().unwrap();
    assert_eq!((&read.tokens, read.version), (&corrected.tokens, Version(2)));
    let forgotten = Memory { value: None, state: State::Forgotten, ..next(&corrected, "") };
    world.put(&forgotten).await;
    assert_eq!(world.number(WITH_TOKENS).await, 0);
    assert_eq!(world.store.memory(&reach, memory.id).await.unwrap().unwrap().tokens, None);
}
