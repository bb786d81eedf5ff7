//! What a call does to memories, and the spans of it: one for the operation, and one for each step below it.
//!
//! Names are those of OpenTelemetry's GenAI conventions where they have one, else in the same form. No span of the gate
//! says anything else: text, keys, ids, tenants and subjects are in none. They are for whoever collects spans, and cost a
//! call without a collector nothing: at `info` the log knows of the call's own span alone.

use tracing::{Span, debug_span};

/// Which memory operation: a value of the GenAI conventions, or one of their form.
const OPERATION: &str = "gen_ai.operation.name";

/// The span's name for `tracing-opentelemetry`.
const SPAN_NAME: &str = "otel.name";

/// A method of the service as a memory operation.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    /// The method, as judgements have it.
    pub(super) method: &'static str,
    /// The operation, as traces have it.
    pub(super) name: &'static str,
}

const SEARCH: &str = "search_memory";
const UPSERT: &str = "upsert_memory";

pub(super) const RECALL: Operation = Operation { method: "Recall", name: SEARCH };
pub(super) const EXPLAIN_RECALL: Operation = Operation { method: "ExplainRecall", name: SEARCH };
pub(super) const CAPTURE: Operation = Operation { method: "Capture", name: UPSERT };
pub(super) const BATCH_CAPTURE: Operation = Operation { method: "BatchCapture", name: UPSERT };
pub(super) const IMPORT: Operation = Operation { method: "Import", name: UPSERT };
pub(super) const CORRECT: Operation = Operation { method: "Correct", name: UPSERT };
pub(super) const CONFIRM_CANDIDATE: Operation = Operation { method: "ConfirmCandidate", name: UPSERT };
pub(super) const DELETE: Operation = Operation { method: "Delete", name: "delete_memory" };
// From here on the conventions have no word for it.
pub(super) const RESTORE: Operation = Operation { method: "Restore", name: "restore_memory" };
pub(super) const GET_MEMORY: Operation = Operation { method: "GetMemory", name: "get_memory" };
pub(super) const LIST_MEMORIES: Operation = Operation { method: "ListMemories", name: "list_memories" };
pub(super) const REJECT_CANDIDATE: Operation = Operation { method: "RejectCandidate", name: "reject_candidate" };
pub(super) const GET_CANDIDATE: Operation = Operation { method: "GetCandidate", name: "get_candidate" };
pub(super) const LIST_CANDIDATES: Operation = Operation { method: "ListCandidates", name: "list_candidates" };

/// The operation itself, below the call.
pub(super) fn span(name: &'static str) -> Span {
    debug_span!("operation", { SPAN_NAME } = name, { OPERATION } = name)
}

/// Reading from the store.
pub(super) fn load(parent: &Span) -> Span {
    debug_span!(parent: parent, "load")
}

/// Deciding.
pub(super) fn judge(parent: &Span) -> Span {
    debug_span!(parent: parent, "judge")
}

/// Waiting until the decision is durable.
pub(super) fn record(parent: &Span) -> Span {
    debug_span!(parent: parent, "record")
}
