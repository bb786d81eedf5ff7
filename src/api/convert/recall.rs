//! Requests of `RecallService`.

use std::collections::BTreeSet;

use super::faults::{Checked, Faults, Path};
use super::field::{self, REPEATED, REQUIRED};
use super::{choice, page, place};
use crate::api::proto;
use crate::gate::command::ListRange;
use crate::gate::{Error, command};
use crate::memory::{Budget, DerivedStoreId, Key, MemoryId, Nomination, PurposeName, SubjectId, TextQuery};

const MAX_KEYS: usize = 100;
const MAX_NOMINATIONS: usize = 256;
const MAX_ITEMS: u32 = 20;
const LEAST_DEFAULT_ITEMS: u32 = 5;
const MAX_VALUE_CHARS: u32 = 100_000;
const DEFAULT_VALUE_CHARS: u32 = 1500;

/// `Recall`.
pub(in crate::api) fn recall(request: proto::RecallRequest) -> Result<command::Recall, Error> {
    asked(request, Path::of)
}

/// `ExplainRecall`.
pub(in crate::api) fn explain_recall(request: proto::ExplainRecallRequest) -> Result<command::Recall, Error> {
    const RECALL: Path<'_> = Path::of("recall");
    let Some(recall) = request.recall else {
        let mut faults = Faults::default();
        let missing = faults.add(RECALL, REQUIRED);
        return faults.finish(|| Err(missing));
    };
    asked(recall, |name| RECALL.field(name))
}

fn asked(
    request: proto::RecallRequest,
    path: impl Fn(&'static str) -> Path<'static>,
) -> Result<command::Recall, Error> {
    let faults = &mut Faults::default();
    let subject = field::optional_id(faults, path("subject_id"), request.subject_id, SubjectId::new);
    let context = place::context(faults, path("context"), request.context);
    let purpose = field::id(faults, path("purpose"), request.purpose, PurposeName::new);
    let keys_asked = request.query.as_ref().map_or(0, |query| query.keys.len());
    let query = query(faults, path("query"), request.query);
    let budget = budget(faults, path("budget"), request.budget.unwrap_or_default(), keys_asked);
    let min_confidence = field::min_confidence(faults, path("min_confidence"), request.min_confidence);
    faults.finish(|| {
        let Asked { keys, nominations, all, text } = query?;
        Ok(command::Recall {
            subject: subject?,
            context: context?,
            purpose: purpose?,
            keys,
            nominations,
            all,
            text,
            budget: budget?,
            min_confidence: min_confidence?,
        })
    })
}

struct Asked {
    keys: Vec<Key>,
    nominations: Vec<Nomination>,
    all: bool,
    text: Option<TextQuery>,
}

fn query(faults: &mut Faults, path: Path<'_>, query: Option<proto::Query>) -> Checked<Asked> {
    let Some(proto::Query { keys, nominations, all, text }) = query else { return Err(faults.add(path, REQUIRED)) };
    if keys.is_empty() && nominations.is_empty() && all.is_none() && text.is_none() {
        return Err(faults.add(path, "at least one of keys, nominations, all and text is required"));
    }
    let keys = field::unique(faults, path.field("keys"), keys, MAX_KEYS, |faults, path, key| {
        field::id(faults, path, key, Key::new)
    });
    let mut nominated = BTreeSet::new();
    let nominations =
        field::list(faults, path.field("nominations"), nominations, MAX_NOMINATIONS, |faults, path, nomination| {
            let nomination = self::nomination(faults, path, nomination)?;
            if nominated.insert(nomination.memory_id) {
                Ok(nomination)
            } else {
                Err(faults.add(path.field("memory_id"), REPEATED))
            }
        });
    let text = text.map(|text| self::text(faults, path.field("text"), text)).transpose();
    Ok(Asked { keys: keys?, nominations: nominations?, all: all.is_some(), text: text? })
}

fn text(faults: &mut Faults, path: Path<'_>, query: proto::TextQuery) -> Checked<TextQuery> {
    let text = field::looked_for(faults, path.field("text"), query.text);
    let mode = choice::known(faults, path.field("mode"), query.mode);
    let text = text?;
    Ok(match mode? {
        proto::TextMode::Unspecified | proto::TextMode::Words => TextQuery::Words(text),
        proto::TextMode::Substring => TextQuery::Substring(text),
    })
}

fn nomination(faults: &mut Faults, path: Path<'_>, nomination: proto::Nomination) -> Checked<Nomination> {
    let proto::Nomination { memory_id, value_version, score, derived_store_id } = nomination;
    let memory_id = field::uuid(faults, path.field("memory_id"), &memory_id);
    let value_version =
        value_version.map(|version| field::positive_version(faults, path.field("value_version"), version)).transpose();
    let score = match score {
        Some(score) if !score.is_finite() => Err(faults.add(path.field("score"), "must be finite")),
        Some(_) | None => Ok(score),
    };
    let derived_store_path = path.field("derived_store_id");
    let derived_store = field::optional_id(faults, derived_store_path, derived_store_id, DerivedStoreId::new);
    Ok(Nomination {
        memory_id: MemoryId(memory_id?),
        value_version: value_version?,
        score: score?,
        derived_store: derived_store?,
    })
}

/// What fits, with room for every key that was asked for as far as the maximum goes.
fn budget(faults: &mut Faults, path: Path<'_>, budget: proto::Budget, keys_asked: usize) -> Checked<Budget> {
    let keys_asked = u32::try_from(keys_asked).unwrap_or(u32::MAX);
    let default_items = keys_asked.clamp(LEAST_DEFAULT_ITEMS, MAX_ITEMS);
    let max_items = within(faults, path.field("max_items"), budget.max_items, MAX_ITEMS, default_items);
    let chars_path = path.field("max_value_chars");
    let max_value_chars = within(faults, chars_path, budget.max_value_chars, MAX_VALUE_CHARS, DEFAULT_VALUE_CHARS);
    Ok(Budget { max_items: max_items?, max_value_chars: max_value_chars? })
}

fn within(faults: &mut Faults, path: Path<'_>, number: Option<i32>, most: u32, default: u32) -> Checked<u32> {
    let Some(number) = number else { return Ok(default) };
    match u32::try_from(number) {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        Ok(_) | Err(_) => Err(faults.add(path, format_args!("must be from 1 to {most}"))),
    }
}

/// `GetMemory`.
pub(in crate::api) fn get_memory(request: proto::GetMemoryRequest) -> Result<command::GetMemory, Error> {
    let faults = &mut Faults::default();
    let subject = field::subject(faults, request.subject_id);
    let memory = place::memory(faults, request.memory);
    let purpose = field::id(faults, Path::of("purpose"), request.purpose, PurposeName::new);
    faults.finish(|| Ok(command::GetMemory { subject: subject?, memory: memory?, purpose: purpose? }))
}

/// `ListMemories`.
pub(in crate::api) fn list_memories(request: proto::ListMemoriesRequest) -> Result<command::ListMemories, Error> {
    use proto::list_memories_request::Range;
    let faults = &mut Faults::default();
    let subject = field::subject(faults, request.subject_id);
    let purpose = field::id(faults, Path::of("purpose"), request.purpose, PurposeName::new);
    let range = match request.range {
        None => Err(faults.add(Path::of("range"), "exactly one of scope and all_projects is required")),
        Some(Range::Scope(scope)) => place::scope(faults, Path::of("scope"), Some(scope)).map(ListRange::Scope),
        Some(Range::AllProjects(proto::AllProjects {})) => Ok(ListRange::AllProjects),
    };
    let page_size = page::size(faults, request.page_size);
    let page_token = page::token(faults, request.page_token);
    let command = faults.finish(|| {
        Ok(command::ListMemories {
            subject: subject?,
            purpose: purpose?,
            range: range?,
            page_size: page_size?,
            page_token: page_token?.into_bytes(),
        })
    })?;
    Ok(command::ListMemories { page_token: page::decode(&command.page_token)?, ..command })
}
