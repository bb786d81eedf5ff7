//! Memories as they were admitted.

use super::choice::{self, code};
use super::place;
use crate::gate::Shown;
use crate::memory::{Confidence, Consent, PurposeName, Source, SourceKindName, Text};
use crate::wire::Message;

/// A `Memory`.
pub(super) fn memory(message: &mut Message, shown: &Shown) {
    let memory = shown.memory();
    let address = &memory.address;
    let key = if shown.key_withheld() { "" } else { address.key.as_str() };
    place::id(message, 1, memory.id.0);
    place::scope(message, 2, &address.level, address.owner.audience());
    message
        .text(3, key)
        .text(4, memory.kind.as_str())
        .optional_text(5, memory.value.as_ref().map(Text::expose))
        .message(6, |message| source(message, &memory.source))
        .number(7, code(choice::trust(shown.trust())))
        .number(8, code(choice::evidence(memory.evidence)))
        .double(9, memory.confidence.map_or(0.0, Confidence::as_f64))
        .flag(10, shown.inferred())
        .number(11, memory.version.0)
        .number(12, memory.value_version.0)
        .number(13, code(choice::state(memory.state)))
        .number(14, code(choice::sensitivity(memory.sensitivity)))
        .message(15, |message| consent(message, &memory.consent))
        .texts(16, memory.purposes.iter().map(PurposeName::as_str));
    place::time(message, 17, Some(memory.observe_time));
    place::time(message, 18, memory.valid_from_time);
    place::time(message, 19, memory.expire_time);
    place::time(message, 20, Some(memory.update_time));
    place::time(message, 21, memory.confirm_time);
}

/// A `Source`.
pub(super) fn source(message: &mut Message, source: &Source) {
    message.text(1, source.kind.as_ref().map_or("", SourceKindName::as_str)).text(2, source.reference.expose());
    for parent in &source.parents {
        place::id(message, 3, parent.0);
    }
    message.texts(4, source.parent_references.iter().map(Text::expose));
}

fn consent(message: &mut Message, consent: &Consent) {
    message.number(1, code(choice::consent(consent))).texts(2, consent.purposes().iter().map(PurposeName::as_str));
}
