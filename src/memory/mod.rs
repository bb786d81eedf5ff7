//! What a memory is: plain values, and the plain outcomes of judging them.
//!
//! Knows nobody: no policy, no store, no clock, no protobuf. What time it is, is always an argument.

mod block;
mod confidence;
mod consent;
mod id;
mod judgement;
mod query;
mod reason;
mod receipt;
mod record;
mod scope;
mod source;
mod text;
mod time;
mod tokens;

pub use block::{Block, BlockCause};
pub use confidence::Confidence;
pub use consent::{Consent, Sensitivity};
pub use id::{
    CandidateId, DecisionId, DerivedStoreId, IdFault, Key, KindName, MemoryId, PolicyVersion, PrincipalId, ProjectId,
    PurposeName, RequestId, Revision, SourceKindName, SubjectId, TaskId, TenantId, Version,
};
pub use judgement::{
    Attributes, Budget, Disposition, Judgement, Nomination, Nominator, ScopeRevision, Subject, Verdict,
};
pub use query::TextQuery;
pub use reason::{Outcome, Reason};
pub use receipt::Receipt;
pub use record::{Candidate, Memory, State};
pub use scope::{Address, Audience, Context, Level, Owner, Scope};
pub use source::{Evidence, Source, Trust};
pub use text::Text;
pub use time::{Span, Time};
pub use tokens::Tokens;
