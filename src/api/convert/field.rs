//! Single fields: ids, texts, numbers, times.

use std::collections::BTreeSet;

use prost_types::Timestamp;
use uuid::Uuid;

use super::faults::{Checked, Faults, Path};
use crate::memory::{Confidence, IdFault, RequestId, SubjectId, Text, Time, Version};

pub(super) const REQUIRED: &str = "is required";
pub(super) const REPEATED: &str = "repeats an earlier element";

/// Longest value.
const MAX_VALUE_BYTES: usize = 65_536;
/// Longest text to look for, in Unicode scalar values.
const MAX_LOOKED_FOR_CHARS: usize = 1000;
/// Longest reference and longest reason, in Unicode scalar values.
const MAX_NOTE_CHARS: usize = 512;

const UUID_FORM: &str = "must be a UUID in lower case with hyphens";
const CONFIDENCE_RANGE: &str = "must be a number from 0 to 1";

/// A required id.
pub(super) fn id<T>(
    faults: &mut Faults,
    path: Path<'_>,
    id: String,
    new: impl FnOnce(String) -> Result<T, IdFault>,
) -> Checked<T> {
    new(id).map_err(|fault| faults.add(path, fault))
}

/// An id that may be left out.
pub(super) fn optional_id<T>(
    faults: &mut Faults,
    path: Path<'_>,
    written: String,
    new: impl FnOnce(String) -> Result<T, IdFault>,
) -> Checked<Option<T>> {
    if written.is_empty() { Ok(None) } else { id(faults, path, written, new).map(Some) }
}

/// Whom the call is about.
pub(super) fn subject(faults: &mut Faults, subject_id: String) -> Checked<Option<SubjectId>> {
    optional_id(faults, Path::of("subject_id"), subject_id, SubjectId::new)
}

/// A required UUID, in the one form that replies write.
pub(super) fn uuid(faults: &mut Faults, path: Path<'_>, written: &str) -> Checked<Uuid> {
    let mut canonical = Uuid::encode_buffer();
    match Uuid::try_parse(written) {
        Ok(uuid) if *uuid.hyphenated().encode_lower(&mut canonical) == *written => Ok(uuid),
        Ok(_) | Err(_) => Err(faults.add(path, if written.is_empty() { REQUIRED } else { UUID_FORM })),
    }
}

/// Which attempt. The nil UUID is what a client sends that forgot to make one, so it names no attempt.
pub(super) fn request_id(faults: &mut Faults, request_id: &str) -> Checked<Option<RequestId>> {
    if request_id.is_empty() {
        return Ok(None);
    }
    let path = Path::of("request_id");
    let uuid = uuid(faults, path, request_id)?;
    if uuid.is_nil() {
        return Err(faults.add(path, "must not be the nil UUID"));
    }
    Ok(Some(RequestId(uuid)))
}

/// A value: bounded in bytes, and neither empty nor with a NUL. Everything else is kept.
pub(super) fn value(faults: &mut Faults, value: String) -> Checked<Text> {
    let path = Path::of("value");
    if value.is_empty() {
        return Err(faults.add(path, REQUIRED));
    }
    if value.len() > MAX_VALUE_BYTES {
        return Err(faults.add(path, format_args!("must have at most {MAX_VALUE_BYTES} bytes")));
    }
    free_of_nul(faults, path, value)
}

/// A text to look for. Space alone is text as well.
pub(super) fn looked_for(faults: &mut Faults, path: Path<'_>, text: String) -> Checked<Text> {
    if text.is_empty() {
        return Err(faults.add(path, REQUIRED));
    }
    if text.chars().count() > MAX_LOOKED_FOR_CHARS {
        return Err(faults.add(path, format_args!("must have at most {MAX_LOOKED_FOR_CHARS} characters")));
    }
    free_of_nul(faults, path, text)
}

/// A reference or a reason; may be empty.
pub(super) fn note(faults: &mut Faults, path: Path<'_>, note: String) -> Checked<Text> {
    if note.chars().count() > MAX_NOTE_CHARS {
        return Err(faults.add(path, format_args!("must have at most {MAX_NOTE_CHARS} characters")));
    }
    free_of_nul(faults, path, note)
}

/// A reference that has to be there.
pub(super) fn required_note(faults: &mut Faults, path: Path<'_>, written: String) -> Checked<Text> {
    if written.is_empty() { Err(faults.add(path, REQUIRED)) } else { note(faults, path, written) }
}

/// Why, for people: it has to say something.
pub(super) fn reason(faults: &mut Faults, reason: String) -> Checked<Text> {
    let path = Path::of("reason");
    if !reason.is_empty() && reason.chars().all(char::is_whitespace) {
        return Err(faults.add(path, "must not consist of white space alone"));
    }
    required_note(faults, path, reason)
}

fn free_of_nul(faults: &mut Faults, path: Path<'_>, text: String) -> Checked<Text> {
    if text.contains('\0') {
        return Err(faults.add(path, "must not contain NUL"));
    }
    Ok(Text::new(text))
}

/// How sure a fact is.
pub(super) fn confidence(faults: &mut Faults, confidence: Option<f64>) -> Checked<Option<Confidence>> {
    let Some(number) = confidence else { return Ok(None) };
    Confidence::value(number).map(Some).ok_or_else(|| faults.add(Path::of("confidence"), CONFIDENCE_RANGE))
}

/// How sure facts have to be.
pub(super) fn min_confidence(
    faults: &mut Faults,
    path: Path<'_>,
    min_confidence: Option<f64>,
) -> Checked<Option<Confidence>> {
    let Some(number) = min_confidence else { return Ok(None) };
    Confidence::floor(number).map(Some).ok_or_else(|| faults.add(path, CONFIDENCE_RANGE))
}

/// An instant.
pub(super) fn time(faults: &mut Faults, path: Path<'_>, timestamp: Option<Timestamp>) -> Checked<Option<Time>> {
    let Some(Timestamp { seconds, nanos }) = timestamp else { return Ok(None) };
    Time::from_parts(seconds, nanos)
        .map(Some)
        .ok_or_else(|| faults.add(path, "must lie within the years 1 to 9999, with nanos from 0 to 999999999"))
}

/// From when to when a fact holds: half-open, and never empty.
pub(super) fn validity(
    faults: &mut Faults,
    valid_from: Option<Timestamp>,
    expire: Option<Timestamp>,
) -> Checked<(Option<Time>, Option<Time>)> {
    let valid_from_time = time(faults, Path::of("valid_from_time"), valid_from);
    let expire_time = time(faults, Path::of("expire_time"), expire);
    let (valid_from_time, expire_time) = (valid_from_time?, expire_time?);
    if let (Some(from), Some(end)) = (valid_from_time, expire_time)
        && end <= from
    {
        return Err(faults.add(Path::of("expire_time"), "must lie after valid_from_time"));
    }
    Ok((valid_from_time, expire_time))
}

/// The version that the caller saw; 0: nothing.
pub(super) fn seen_version(faults: &mut Faults, version: Option<i64>) -> Checked<Option<Version>> {
    match version {
        Some(version) if version < 0 => Err(faults.add(Path::of("expected_version"), "must be 0 or more")),
        Some(_) | None => Ok(version.map(Version)),
    }
}

/// The version that the caller has to have seen.
pub(super) fn required_version(faults: &mut Faults, version: Option<i64>) -> Checked<Version> {
    let path = Path::of("expected_version");
    let Some(version) = version else { return Err(faults.add(path, REQUIRED)) };
    positive_version(faults, path, version)
}

/// A version that some memory can have.
pub(super) fn positive_version(faults: &mut Faults, path: Path<'_>, version: i64) -> Checked<Version> {
    if version < 1 { Err(faults.add(path, "must be 1 or more")) } else { Ok(Version(version)) }
}

/// The elements of a list that is not too long, each checked. One that is too long is one fault, however long it is.
pub(super) fn list<E, T>(
    faults: &mut Faults,
    path: Path<'_>,
    elements: Vec<E>,
    most: usize,
    mut check: impl FnMut(&mut Faults, Path<'_>, E) -> Checked<T>,
) -> Checked<Vec<T>> {
    if elements.len() > most {
        return Err(faults.add(path, format_args!("must have at most {most} elements")));
    }
    let indexed = elements.into_iter().enumerate();
    // Every element is checked before the first fault ends the list.
    let checked: Vec<_> = indexed.map(|(index, element)| check(faults, path.item(index), element)).collect();
    checked.into_iter().collect()
}

/// The same, and every element only once.
pub(super) fn unique<E, T: Ord + Clone>(
    faults: &mut Faults,
    path: Path<'_>,
    elements: Vec<E>,
    most: usize,
    check: impl Fn(&mut Faults, Path<'_>, E) -> Checked<T>,
) -> Checked<Vec<T>> {
    let mut seen = BTreeSet::new();
    list(faults, path, elements, most, |faults, path, element| {
        let element = check(faults, path, element)?;
        if seen.insert(element.clone()) { Ok(element) } else { Err(faults.add(path, REPEATED)) }
    })
}
