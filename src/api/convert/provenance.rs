//! Where a fact came from, and what it may be used for.

use super::choice;
use super::faults::{Checked, Faults, Path};
use super::field::{self, REQUIRED};
use crate::api::proto;
use crate::memory::{Audience, Consent, MemoryId, PurposeName, Scope, Source, SourceKindName};

/// Most parents, most parent references and most purposes of one fact.
const MAX_LISTED: usize = 32;

/// Where it came from; unset: nothing is said, which is worth least.
pub(super) fn source(faults: &mut Faults, source: Option<proto::Source>) -> Checked<Source> {
    let path = Path::of("source");
    let proto::Source { kind, reference, parent_memory_ids, parent_references } = source.unwrap_or_default();
    let kind = field::optional_id(faults, path.field("kind"), kind, SourceKindName::new);
    let reference = field::note(faults, path.field("reference"), reference);
    let parents_path = path.field("parent_memory_ids");
    let parents = field::unique(faults, parents_path, parent_memory_ids, MAX_LISTED, |faults, path, id: String| {
        field::uuid(faults, path, &id).map(MemoryId)
    });
    let references_path = path.field("parent_references");
    let parent_references = field::list(faults, references_path, parent_references, MAX_LISTED, field::required_note);
    Ok(Source { kind: kind?, reference: reference?, parents: parents?, parent_references: parent_references? })
}

/// Purposes by name, each once.
pub(super) fn purposes(faults: &mut Faults, path: Path<'_>, purposes: Vec<String>) -> Checked<Vec<PurposeName>> {
    field::unique(faults, path, purposes, MAX_LISTED, |faults, path, purpose| {
        field::id(faults, path, purpose, PurposeName::new)
    })
}

/// What the subject agreed to. Shared memories have no subject who could.
pub(super) fn consent(
    faults: &mut Faults,
    scope: &Checked<Scope>,
    consent: Option<proto::Consent>,
) -> Checked<Consent> {
    let path = Path::of("consent");
    let Some(proto::Consent { state, purposes: named }) = consent else { return Ok(Consent::Unset) };
    if scope.as_ref().is_ok_and(|scope| scope.audience == Audience::Shared) {
        return Err(faults.add(path, "must be unset for shared memories"));
    }
    let named_path = path.field("purposes");
    let none_named = named.is_empty();
    let state = choice::known(faults, path.field("state"), state);
    let named = purposes(faults, named_path, named);
    match state? {
        proto::ConsentState::Granted if none_named => Err(faults.add(named_path, REQUIRED)),
        proto::ConsentState::Granted => named.map(Consent::Granted),
        proto::ConsentState::NotApplicable => {
            Err(faults.add(path.field("state"), "must not be NOT_APPLICABLE: that is for shared memories alone"))
        }
        // Where the fact is in force already, a capture changes nothing, and a withdrawal would go unheard.
        proto::ConsentState::Withdrawn => {
            Err(faults.add(path.field("state"), "must not be WITHDRAWN: a capture gives consent and takes none back"))
        }
        proto::ConsentState::Unspecified | proto::ConsentState::Unset if !none_named => {
            Err(faults.add(named_path, "must be empty unless the state is GRANTED"))
        }
        proto::ConsentState::Unspecified | proto::ConsentState::Unset => Ok(Consent::Unset),
    }
}
