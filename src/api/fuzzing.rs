//! What the fuzz targets call, and the test of their corpus: a request up to the command that it becomes, and a policy as
//! `GetPolicy` shows it. For nobody else, and no part of what this crate promises.

use prost::Message;
use tonic::Status;
use tonic::body::Body;
use tonic::codec::{Codec as _, CompressionEncoding, Streaming};

use super::codec::Codec;
use super::status::{self, Refusal};
use super::{MAX_REQUEST_BYTES, convert, proto, reply};
use crate::gate::{Error, command};
use crate::identity::Grants;
use crate::policy::Policy;

/// What the gate is asked.
#[derive(Debug)]
pub enum Command {
    /// `Capture`.
    Capture(Box<command::Capture>),
    /// `BatchCapture`.
    BatchCapture(command::BatchCapture),
    /// `ConfirmCandidate`.
    ConfirmCandidate(command::ConfirmCandidate),
    /// `RejectCandidate`.
    RejectCandidate(command::RejectCandidate),
    /// `GetCandidate`.
    GetCandidate(command::GetCandidate),
    /// `ListCandidates`.
    ListCandidates(command::ListCandidates),
    /// `Correct`.
    Correct(Box<command::Correct>),
    /// `Delete`.
    Delete(command::ChangeDeleted),
    /// `Restore`.
    Restore(command::ChangeDeleted),
    /// `Recall`.
    Recall(command::Recall),
    /// `ExplainRecall`.
    ExplainRecall(command::Recall),
    /// `GetMemory`.
    GetMemory(command::GetMemory),
    /// `ListMemories`.
    ListMemories(command::ListMemories),
    /// `GetCaller`.
    GetCaller,
    /// `GetPolicy`.
    GetPolicy,
}

/// Reads the body of a call as its handler does, and makes the command of it. `encoding` is what the call says of its
/// messages.
///
/// # Errors
/// What the caller is answered; `Unimplemented` where there is no such method.
pub async fn command(method: &str, body: Body, encoding: Option<CompressionEncoding>) -> Result<Command, Status> {
    let call = Call { body, encoding };
    match method {
        "Capture" => call.read(convert::capture).await.map(|command| Command::Capture(Box::new(command))),
        "BatchCapture" => call.read(convert::batch_capture).await.map(Command::BatchCapture),
        "ConfirmCandidate" => call.read(convert::confirm_candidate).await.map(Command::ConfirmCandidate),
        "RejectCandidate" => call.read(convert::reject_candidate).await.map(Command::RejectCandidate),
        "GetCandidate" => call.read(convert::get_candidate).await.map(Command::GetCandidate),
        "ListCandidates" => call.read(convert::list_candidates).await.map(Command::ListCandidates),
        "Correct" => call.read(convert::correct).await.map(|command| Command::Correct(Box::new(command))),
        "Delete" => call.read(convert::delete).await.map(Command::Delete),
        "Restore" => call.read(convert::restore).await.map(Command::Restore),
        "Recall" => call.read(convert::recall).await.map(Command::Recall),
        "ExplainRecall" => call.read(convert::explain_recall).await.map(Command::ExplainRecall),
        "GetMemory" => call.read(convert::get_memory).await.map(Command::GetMemory),
        "ListMemories" => call.read(convert::list_memories).await.map(Command::ListMemories),
        "GetCaller" => call.read(|proto::GetCallerRequest {}| Ok(Command::GetCaller)).await,
        "GetPolicy" => call.read(|proto::GetPolicyRequest {}| Ok(Command::GetPolicy)).await,
        _ => Err(status::refused(&Refusal::MethodUnknown)),
    }
}

/// As `GetPolicy` shows it to a caller with these grants.
#[must_use]
pub fn shown(policy: &Policy, grants: &Grants) -> proto::GetPolicyResponse {
    reply::policy(policy, grants)
}

struct Call {
    body: Body,
    encoding: Option<CompressionEncoding>,
}

impl Call {
    async fn read<Q, T>(self, convert: impl FnOnce(Q) -> Result<T, Error>) -> Result<T, Status>
    where
        Q: Message + Default + Send + 'static,
    {
        let decoder = Codec::<Q, Q>::default().decoder();
        let mut messages = Streaming::new_request(decoder, self.body, self.encoding, Some(MAX_REQUEST_BYTES));
        let first = messages.message().await?;
        let request = first.ok_or_else(|| status::refused(&Refusal::Framing("there is no message")))?;
        convert(request).map_err(|error| status::of(&error))
    }
}
