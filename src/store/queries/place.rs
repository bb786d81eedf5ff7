//! What a write judges.

use super::{Connection, blocks, lineage, memories, scopes};
use crate::store::digest::DigestKey;
use crate::store::fault::Fault;
use crate::store::{Place, PlaceRequest};

/// Everything a write judges. Wants a transaction, so that rows, revision and epoch belong together.
pub(in crate::store) async fn place(
    connection: &mut Connection,
    key: &DigestKey,
    request: &PlaceRequest,
) -> Result<Place, Fault> {
    let (address, reach) = (&request.address, &request.reach);
    let (tenant, subject) = (reach.tenant.as_str(), reach.subject.as_str());
    let current = memories::at(connection, reach, address).await?;
    let scope = [(&address.owner, &address.level)];
    let found = scopes::revisions(connection, tenant, subject, scope).await?;
    let revision = found.of_scope(&address.owner, &address.level);
    let leads_back = match &current {
        Some(current) => lineage::leads_back(connection, reach, &request.parents, current.id).await?,
        None => false,
    };
    Ok(Place {
        leads_back,
        current,
        newest_update_time: found.newest_update_time([&revision]),
        revision,
        parents: memories::by_ids_without_value(connection, reach, &request.parents).await?,
        blocks: blocks::met(connection, key, request).await?,
        block_epoch: scopes::block_epoch(connection, tenant, subject, &address.owner).await?,
    })
}
