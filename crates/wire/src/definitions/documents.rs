//! Codec of what processes ask about dashboards, saved views and frozen answers.

use bytes::Bytes;
use hadal_types::limits::{DOCUMENT_NAME_BYTES_MAX, DOCUMENTS_MAX, NOTE_BYTES_MAX};
use hadal_types::{Document, DocumentKind, DocumentSummary};

use crate::error::{At, DecodeError, at_most, required, unfit};
use crate::frames::{self, Frames};
use crate::proto::definitions_answer::Answer;
use crate::proto::definitions_request::Request;
use crate::proto::{self};

/// What a process asks about documents.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentsRequest {
    /// Summaries of all documents of a kind.
    List(DocumentKind),
    /// The document of this kind and name.
    Get(DocumentKind, String),
    /// To store or replace a document.
    Set {
        /// The version that is replaced, 0 if there is none, or `None` for any.
        based_on: Option<i64>,
        /// The document.
        document: Document,
    },
    /// To remove a document.
    Remove {
        /// Its kind.
        kind: DocumentKind,
        /// Its name.
        name: String,
        /// Its version, or `None` for any.
        based_on: Option<i64>,
    },
}

/// The answer to a [`DocumentsRequest`], beside those that other requests have, too.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentsAnswer {
    /// Summaries and their versions.
    List(DocumentKind, Vec<(i64, DocumentSummary)>),
    /// The document and its version, if there is one.
    One(Option<(i64, Document)>),
    /// No further document can be stored, in words.
    Full(String),
}

pub(super) fn encode_request(request: &DocumentsRequest) -> Request {
    let key = |kind: DocumentKind, name: &str| {
        let (kind, name) = (kind.name().to_owned(), name.to_owned());
        proto::DocumentKey { kind, name }
    };
    match request {
        DocumentsRequest::List(kind) => Request::Documents(kind.name().to_owned()),
        DocumentsRequest::Get(kind, name) => Request::Document(key(*kind, name)),
        DocumentsRequest::Set { based_on, document } => Request::SetDocument(proto::SetDocument {
            kind: document.kind().name().to_owned(),
            based_on: *based_on,
            body: document.json().get().to_owned(),
        }),
        DocumentsRequest::Remove { kind, name, based_on } => {
            let (key, based_on) = (Some(key(*kind, name)), *based_on);
            Request::RemoveDocument(proto::RemoveDocument { key, based_on })
        }
    }
}

/// Decodes the output of [`encode_request`]; other requests are refused.
pub(super) fn decode_request(request: Request) -> Result<DocumentsRequest, DecodeError> {
    Ok(match request {
        Request::Documents(kind) => DocumentsRequest::List(decode_kind(&kind).at("documents")?),
        Request::Document(key) => {
            let (kind, name) = decode_key(key).at("document")?;
            DocumentsRequest::Get(kind, name)
        }
        Request::SetDocument(set) => {
            let kind = decode_kind(&set.kind).at("kind").at("set_document")?;
            let document = decode_document(kind, &set.body).at("body").at("set_document")?;
            DocumentsRequest::Set { based_on: set.based_on, document }
        }
        Request::RemoveDocument(remove) => {
            let (kind, name) = decode_key(required(remove.key)?).at("remove_document")?;
            DocumentsRequest::Remove { kind, name, based_on: remove.based_on }
        }
        _ => return Err(unfit("another request", "one about documents")),
    })
}

pub(super) fn encode_answer(answer: &DocumentsAnswer) -> Answer {
    match answer {
        DocumentsAnswer::List(kind, summaries) => {
            let frame = |(version, summary): &(i64, DocumentSummary)| proto::VersionedDocument {
                version: *version,
                kind: kind.name().to_owned(),
                body: summary.to_json(),
            };
            Answer::Documents(frames::encode(summaries.iter().map(frame)))
        }
        DocumentsAnswer::One(None) => Answer::NoDocument(proto::Empty {}),
        DocumentsAnswer::One(Some((version, document))) => {
            let (kind, body) =
                (document.kind().name().to_owned(), document.json().get().to_owned());
            Answer::Document(proto::VersionedDocument { version: *version, kind, body })
        }
        DocumentsAnswer::Full(reason) => {
            let end = reason.floor_char_boundary(NOTE_BYTES_MAX);
            Answer::DocumentsFull(reason[..end].to_owned())
        }
    }
}

/// Decodes the output of [`encode_answer`]; other answers are refused.
pub(super) fn decode_answer(answer: Answer) -> Result<DocumentsAnswer, DecodeError> {
    Ok(match answer {
        Answer::Documents(summaries) => decode_summaries(summaries).at("documents")?,
        Answer::NoDocument(_) => DocumentsAnswer::One(None),
        Answer::Document(one) => {
            let kind = decode_kind(&one.kind).at("kind").at("document")?;
            let document = decode_document(kind, &one.body).at("body").at("document")?;
            DocumentsAnswer::One(Some((one.version, document)))
        }
        Answer::DocumentsFull(reason) => {
            at_most("bytes", reason.len(), NOTE_BYTES_MAX).at("documents_full")?;
            DocumentsAnswer::Full(reason)
        }
        _ => return Err(unfit("another answer", "one about documents")),
    })
}

/// Decodes summaries of one kind.
fn decode_summaries(summaries: Bytes) -> Result<DocumentsAnswer, DecodeError> {
    let (mut kind, mut all) = (DocumentKind::View, Vec::new());
    for (index, one) in Frames::<proto::VersionedDocument>::new(summaries).enumerate() {
        let decode = || {
            let one = one?;
            at_most("documents", index + 1, DOCUMENTS_MAX)?;
            kind = decode_kind(&one.kind).at("kind")?;
            let summary = DocumentSummary::from_json(&one.body);
            let summary = summary.ok_or_else(|| unfit("a text", "a summary"))?;
            Ok((one.version, summary))
        };
        let one: Result<_, DecodeError> = decode();
        all.push(one.at_index("documents", index)?);
    }
    Ok(DocumentsAnswer::List(kind, all))
}

fn decode_key(key: proto::DocumentKey) -> Result<(DocumentKind, String), DecodeError> {
    at_most("bytes", key.name.len(), DOCUMENT_NAME_BYTES_MAX).at("name")?;
    Ok((decode_kind(&key.kind).at("kind")?, key.name))
}

fn decode_kind(name: &str) -> Result<DocumentKind, DecodeError> {
    DocumentKind::named(name).ok_or_else(|| unfit("a text", "dashboard, view or snapshot"))
}

fn decode_document(kind: DocumentKind, body: &str) -> Result<Document, DecodeError> {
    Document::from_json(kind, body).map_err(|error| unfit(error, "a document"))
}
