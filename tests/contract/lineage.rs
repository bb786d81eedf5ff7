//! How far a lineage is followed.

use recall_gate::memory::Memory;
use recall_gate::store::PlaceRequest;

use crate::fixture::{World, next};

pub(crate) async fn a_place_tells_of_a_lineage_that_leads_back_however_far(world: World) {
    let derived = |name: &str, parent: &Memory| {
        let mut memory = world.memory(name);
        memory.source.parents = vec![parent.id];
        memory
    };
    let mut root = world.memory("root");
    root.source.parents = Vec::new();
    let mut line = vec![root.clone()];
    for generation in 1..=20 {
        let parent = line.last().unwrap();
        let child = derived(&format!("generation-{generation}"), parent);
        line.push(child);
    }
    for memory in &line {
        world.put(memory).await;
    }
    let mut stranger = world.memory("stranger");
    stranger.source.parents = Vec::new();
    world.put(&stranger).await;
    let leads_back = async |parent: &Memory| {
        let request = PlaceRequest {
            address: root.address.clone(),
            blocked_as: root.address.key.clone(),
            reach: world.reach("ann"),
            references: Vec::new(),
            parents: vec![parent.id],
        };
        world.store.place(&request).await.unwrap().leads_back
    };
    assert!(leads_back(&root).await);
    assert!(leads_back(line.last().unwrap()).await);
    assert!(!leads_back(&stranger).await);
    // A version that names other parents takes the line away.
    let mut second = next(&line[1], "from elsewhere");
    second.source.parents = Vec::new();
    world.put(&second).await;
    assert!(!leads_back(line.last().unwrap()).await);
}
