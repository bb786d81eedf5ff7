//! Requests: whatever the bytes of a call are, they become a command within the limits, or an answer that says what is
//! wrong with them.

use bytes::Bytes;
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use recall_gate::api::fuzzing::{Command, command};
use tonic::body::Body;
use tonic::codec::CompressionEncoding::Gzip;
use tonic::{Code, Status};

use super::{limits, ready};

/// The methods, in the order in which the first byte of an input names them.
pub const METHODS: [&str; 15] = [
    "Capture",
    "BatchCapture",
    "ConfirmCandidate",
    "RejectCandidate",
    "GetCandidate",
    "ListCandidates",
    "Correct",
    "Delete",
    "Restore",
    "Recall",
    "ExplainRecall",
    "GetMemory",
    "ListMemories",
    "GetCaller",
    "GetPolicy",
];

/// In what shape the bytes of an input come, as its second byte says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One message.
    Message,
    /// One message, compressed with gzip.
    Compressed,
    /// The whole body, with its frames.
    Body,
    /// The whole body, of a call that says its messages are compressed.
    CompressedBody,
}

const SHAPES: [Shape; 4] = [Shape::Message, Shape::Compressed, Shape::Body, Shape::CompressedBody];

/// Message and details of an answer stay below this.
const MAX_STATUS_BYTES: usize = 4096;

/// An input: method, shape, bytes.
pub fn input(method: &str, shape: Shape, bytes: &[u8]) -> Vec<u8> {
    let index = |found: Option<usize>| u8::try_from(found.expect("it is in the table")).expect("the table is short");
    let method = index(METHODS.iter().position(|name| *name == method));
    let shape = index(SHAPES.iter().position(|each| *each == shape));
    [&[method, shape], bytes].concat()
}

/// Reads an input as the service reads a call.
pub fn check(data: &[u8]) {
    let [method, shape, bytes @ ..] = data else { return };
    let method = METHODS[usize::from(*method) % METHODS.len()];
    let shape = SHAPES[usize::from(*shape) % SHAPES.len()];
    match read(method, shape, bytes) {
        Ok(command) => limits::check(method, &command),
        Err(status) => check_refusal(shape, &status),
    }
}

/// What a call becomes.
pub fn read(method: &str, shape: Shape, bytes: &[u8]) -> Result<Command, Status> {
    let (body, encoding) = match shape {
        Shape::Message => (framed(0, bytes), None),
        Shape::Compressed => (framed(1, bytes), Some(Gzip)),
        Shape::Body => (halves(bytes), None),
        Shape::CompressedBody => (halves(bytes), Some(Gzip)),
    };
    ready::now(command(method, body, encoding))
}

/// One message, with the five bytes before it.
fn framed(flag: u8, message: &[u8]) -> Body {
    let length = u32::try_from(message.len()).expect("inputs are short").to_be_bytes();
    let body = [&[flag], length.as_slice(), message].concat();
    Body::new(Full::new(Bytes::from(body)))
}

/// In two pieces, so that a frame is cut somewhere.
fn halves(bytes: &[u8]) -> Body {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let pieces = [first, second].map(|piece| Ok::<_, Status>(Frame::data(Bytes::copy_from_slice(piece))));
    Body::new(StreamBody::new(tokio_stream::iter(pieces)))
}

fn check_refusal(shape: Shape, status: &Status) {
    let size = status.message().len() + status.details().len();
    assert!(size < MAX_STATUS_BYTES, "an answer of {size} bytes: {status:?}");
    // What is wrong with frames is found by a layer around the handlers, before tonic answers it in its own way.
    if shape == Shape::Message {
        assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
        assert!(!status.details().is_empty(), "nothing says what is wrong: {status:?}");
    }
}
