//! Page tokens: nothing that a caller makes up opens, nothing opens under another binding, and no cursor that was ever
//! sealed makes the gate panic.

use std::sync::{Arc, LazyLock};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use prost::Message;
use recall_gate::api::fuzzing::Command;
use recall_gate::api::proto;
use recall_gate::gate::{Error, Gate, ManualClock};
use recall_gate::identity::Caller;
use recall_gate::memory::Time;
use recall_gate::policy::Policy;
use recall_gate::store::{Sqlite, SqliteOptions, Store};

use super::empty::Empty;
use super::ready;
use super::requests::{self, Shape};

/// What is asked for, page by page: each has a binding of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listing {
    method: &'static str,
    subject: &'static str,
    purpose: &'static str,
    level: proto::Level,
    audience: proto::Audience,
    every_project: bool,
}

const MEMORIES: Listing = Listing {
    method: "ListMemories",
    subject: "dev",
    purpose: "subject_access",
    level: proto::Level::General,
    audience: proto::Audience::Personal,
    every_project: false,
};

/// The listings, in the order in which a byte of an input names them.
pub const LISTINGS: [Listing; 9] = [
    MEMORIES,
    Listing { subject: "ada", ..MEMORIES },
    Listing { purpose: "converse", ..MEMORIES },
    Listing { level: proto::Level::Project, ..MEMORIES },
    Listing { level: proto::Level::Task, ..MEMORIES },
    Listing { audience: proto::Audience::Shared, ..MEMORIES },
    Listing { every_project: true, ..MEMORIES },
    Listing { method: "ListCandidates", ..MEMORIES },
    Listing { method: "ListCandidates", level: proto::Level::Task, ..MEMORIES },
];

/// What an input is, as its first byte says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A token as callers write it, of the listing that the second byte names.
    Written,
    /// The bytes of a token, of the listing that the second byte names.
    Bytes,
    /// Two bytes for where it is damaged and one for how, a binding, and what is sealed.
    Sealed,
    /// A cursor, sealed by the service for the listing that the second byte names, and sent with the one that the third
    /// byte names.
    Cursor,
}

const FORMS: [Form; 4] = [Form::Written, Form::Bytes, Form::Sealed, Form::Cursor];

const BINDING: [u8; 32] = [7; 32];

struct Service {
    store: Arc<Empty>,
    gate: Gate,
    caller: Caller,
}

static SERVICE: LazyLock<Service> = LazyLock::new(|| {
    // Only the key of the store is used, which outlives the runtime that opened it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let opened = runtime.block_on(Sqlite::open(folder.path().join("key.db"), SqliteOptions::default()));
    let store = Arc::new(Empty(opened.expect("a new database")));
    let policy = Policy::compiled_in().expect("the policy that is compiled in");
    let clock = Arc::new(ManualClock::at(Time::from_micros(1_767_225_600_000_000)));
    let gate = Gate::new(Arc::clone(&store) as Arc<dyn Store>, policy, clock);
    Service { store, gate, caller: Caller::development().expect("its names are well formed") }
});

/// An input: form, and what follows it.
pub fn input(form: Form, rest: &[u8]) -> Vec<u8> {
    let form = FORMS.iter().position(|each| *each == form).expect("it is in the table");
    [&[u8::try_from(form).expect("the table is short")], rest].concat()
}

/// Sends, opens and seals what an input says.
pub fn check(data: &[u8]) {
    let [form, rest @ ..] = data else { return };
    match (FORMS[usize::from(*form) % FORMS.len()], rest) {
        (Form::Written, [listing, token @ ..]) => written(listing_of(*listing), &String::from_utf8_lossy(token)),
        (Form::Bytes, [listing, token @ ..]) => {
            assert_eq!(SERVICE.store.open(&BINDING, token), None, "a token that nobody sealed");
            written(listing_of(*listing), &URL_SAFE_NO_PAD.encode(token));
        }
        (Form::Sealed, [high, low, damage, rest @ ..]) => {
            if let Some((binding, plain)) = rest.split_first_chunk() {
                sealed(usize::from(u16::from_be_bytes([*high, *low])), *damage, binding, plain);
            }
        }
        (Form::Cursor, [first, second, plain @ ..]) => cursor(listing_of(*first), listing_of(*second), plain),
        _ => {}
    }
}

fn listing_of(byte: u8) -> Listing {
    LISTINGS[usize::from(byte) % LISTINGS.len()]
}

/// A token that the service never gave is refused, unless it is empty: then it asks for the first page.
fn written(listing: Listing, token: &str) {
    assert_eq!(opens(listing, token), token.is_empty(), "{listing:?}: `{token}`");
}

/// Only the very bytes open, and under their own binding alone.
fn sealed(place: usize, damage: u8, binding: &[u8; 32], plain: &[u8]) {
    let store = &SERVICE.store;
    let token = store.seal(binding, plain).expect("it can be sealed");
    assert_eq!(store.open(binding, &token).as_deref(), Some(plain));
    let place = place % token.len();
    assert_eq!(store.open(binding, &token[..place]), None, "cut off after {place} bytes");
    let mut forged = token.clone();
    forged[place] ^= damage.max(1);
    assert_eq!(store.open(binding, &forged), None, "damaged at {place}");
    let mut other = *binding;
    other[place % binding.len()] ^= damage.max(1);
    assert_eq!(store.open(&other, &token), None, "another binding");
}

/// A cursor of one listing never opens in another. In its own, it opens or is refused.
fn cursor(sealed_for: Listing, sent_with: Listing, plain: &[u8]) {
    let token = token(sealed_for, plain);
    let opened = opens(sent_with, &token);
    assert!(!opened || sealed_for == sent_with, "sealed for {sealed_for:?}, opened in {sent_with:?}");
}

/// A token as the service would have sent it.
pub fn token(listing: Listing, plain: &[u8]) -> String {
    let sealed = SERVICE.store.seal(&binding(listing), plain).expect("it can be sealed");
    URL_SAFE_NO_PAD.encode(sealed)
}

/// What the gate binds the tokens of a listing to.
fn binding(listing: Listing) -> [u8; 32] {
    let owner = if listing.audience == proto::Audience::Shared { "" } else { listing.subject };
    let place = match listing.level {
        proto::Level::Unspecified | proto::Level::General => [owner, "general", "", ""],
        proto::Level::Project => [owner, "project", PROJECT, ""],
        proto::Level::Task => [owner, "task", PROJECT, TASK],
    };
    let mut parts = vec!["dev", "dev", listing.subject, listing.method];
    match listing {
        Listing { method: "ListCandidates", .. } => parts.extend(place),
        Listing { every_project: true, purpose, .. } => parts.extend([purpose, "owner", owner]),
        Listing { purpose, .. } => {
            parts.extend([purpose, "one"]);
            parts.extend(place);
        }
    }
    let parts: Vec<&[u8]> = parts.into_iter().map(str::as_bytes).collect();
    SERVICE.store.digest("page", &parts)
}

const PROJECT: &str = "alpha";
const TASK: &str = "t-1";

/// Whether the service takes a token: it goes on to read the page, which the store then does not let it record.
pub fn opens(listing: Listing, token: &str) -> bool {
    let command = match requests::read(listing.method, Shape::Message, &request(listing, token)) {
        Ok(command) => command,
        Err(status) => {
            assert_eq!(status.code(), tonic::Code::InvalidArgument, "{status:?}");
            return false;
        }
    };
    let Service { gate, caller, .. } = &*SERVICE;
    let refused = match command {
        Command::ListMemories(command) => ready::now(gate.list_memories(caller, command)).err(),
        Command::ListCandidates(command) => ready::now(gate.list_candidates(caller, command)).err(),
        other => panic!("no listing: {other:?}"),
    };
    match refused {
        Some(Error::JudgementContended) => true,
        Some(Error::PageTokenInvalid) => false,
        other => panic!("neither opened nor refused: {other:?}"),
    }
}

fn request(listing: Listing, token: &str) -> Vec<u8> {
    let below = |level: proto::Level, id: &str| if listing.level >= level { id.to_owned() } else { String::new() };
    let scope = proto::Scope {
        level: listing.level.into(),
        project_id: below(proto::Level::Project, PROJECT),
        task_id: below(proto::Level::Task, TASK),
        audience: listing.audience.into(),
    };
    let (subject_id, page_token) = (listing.subject.to_owned(), token.to_owned());
    if listing.method == "ListCandidates" {
        return proto::ListCandidatesRequest { subject_id, scope: Some(scope), page_size: 7, page_token }
            .encode_to_vec();
    }
    let range = if listing.every_project {
        proto::list_memories_request::Range::AllProjects(proto::AllProjects {})
    } else {
        proto::list_memories_request::Range::Scope(scope)
    };
    let purpose = listing.purpose.to_owned();
    proto::ListMemoriesRequest { subject_id, purpose, range: Some(range), page_size: 7, page_token }.encode_to_vec()
}
