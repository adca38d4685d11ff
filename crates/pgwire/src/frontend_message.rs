//! Messages of clients. Source: PostgreSQL 18, section 54.7, "Message Formats".

use bytes::Bytes;

use crate::body_reader::BodyReader;
use crate::protocol_error::ProtocolError;

/// How a value is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Binary,
}

/// A prepared statement or a portal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Statement,
    Portal,
}

/// Values for a prepared statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bind {
    pub(crate) portal: String,
    pub(crate) statement: String,
    /// One for each value, or one for all, or none: then all are texts.
    pub(crate) formats: Vec<Format>,
    /// `None` is null.
    pub(crate) values: Vec<Option<Bytes>>,
    /// The same for the columns of the answer.
    pub(crate) result_formats: Vec<Format>,
}

/// A message of a client after the startup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FrontendMessage {
    /// Statements without parameters.
    Query(String),
    /// A statement to prepare. A type of 0 is not given.
    Parse {
        name: String,
        sql: String,
        types: Vec<u32>,
    },
    Bind(Bind),
    Describe(Target, String),
    /// Rows of a portal; 0 means all.
    Execute {
        portal: String,
        rows: usize,
    },
    Close(Target, String),
    Sync,
    Flush,
    CopyData(Bytes),
    CopyDone,
    CopyFail(String),
    /// A password, or a message of SASL.
    Password(Bytes),
    Terminate,
}

impl FrontendMessage {
    /// Decodes the message of type `kind` with this body.
    pub(crate) fn decode(kind: u8, body: Bytes) -> Result<Self, ProtocolError> {
        let kind = char::from(kind);
        let mut body = BodyReader::new(kind, body);
        let message = match kind {
            'Q' => Self::Query(body.text()?),
            'P' => {
                let (name, sql, count) = (body.text()?, body.text()?, body.count(4)?);
                let types = (0..count).map(|_| body.u32()).collect::<Result<_, _>>()?;
                Self::Parse { name, sql, types }
            }
            'B' => Self::Bind(bind(&mut body)?),
            'D' => Self::Describe(target(&mut body)?, body.text()?),
            'C' => Self::Close(target(&mut body)?, body.text()?),
            // A negative number means all, as 0 does.
            'E' => Self::Execute {
                portal: body.text()?,
                rows: usize::try_from(body.i32()?).unwrap_or(0),
            },
            'S' => Self::Sync,
            'H' => Self::Flush,
            'd' => Self::CopyData(body.all()),
            'c' => Self::CopyDone,
            'f' => Self::CopyFail(body.text()?),
            'p' => Self::Password(body.all()),
            'X' => Self::Terminate,
            other => return Err(ProtocolError::Kind(other)),
        };
        body.end()?;
        Ok(message)
    }

    /// Whether an error that it causes makes the server skip messages until Sync.
    pub(crate) const fn is_extended(&self) -> bool {
        matches!(
            self,
            Self::Parse { .. }
                | Self::Bind(_)
                | Self::Describe(..)
                | Self::Execute { .. }
                | Self::Close(..)
                | Self::Flush
        )
    }
}

fn bind(body: &mut BodyReader) -> Result<Bind, ProtocolError> {
    let (portal, statement, formats) = (body.text()?, body.text()?, formats(body)?);
    let count = body.count(4)?;
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        values.push(match usize::try_from(body.i32()?) {
            Ok(length) => Some(body.bytes(length)?),
            Err(_) => None,
        });
    }
    let result_formats = self::formats(body)?;
    Ok(Bind { portal, statement, formats, values, result_formats })
}

fn formats(body: &mut BodyReader) -> Result<Vec<Format>, ProtocolError> {
    let count = body.count(2)?;
    let format = |_| match body.u16() {
        Ok(0) => Ok(Format::Text),
        Ok(1) => Ok(Format::Binary),
        Ok(_) => Err(ProtocolError::Malformed('B')),
        Err(error) => Err(error),
    };
    (0..count).map(format).collect()
}

fn target(body: &mut BodyReader) -> Result<Target, ProtocolError> {
    match body.u8()? {
        b'S' => Ok(Target::Statement),
        b'P' => Ok(Target::Portal),
        _ => Err(ProtocolError::Malformed('D')),
    }
}

/// The format of the value or column with this index.
///
/// # Errors
/// A message when there are neither one nor no formats, nor one for each.
pub(crate) fn format_of(formats: &[Format], index: usize) -> Option<Format> {
    match formats {
        [] => Some(Format::Text),
        [all] => Some(*all),
        each => each.get(index).copied(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(kind: u8, body: &[u8]) -> Result<FrontendMessage, ProtocolError> {
        FrontendMessage::decode(kind, Bytes::copy_from_slice(body))
    }

    #[test]
    fn messages_are_decoded() {
        assert_eq!(decode(b'Q', b"SELECT 1\0"), Ok(FrontendMessage::Query("SELECT 1".to_owned())));
        let parse = FrontendMessage::Parse {
            name: "s".to_owned(),
            sql: "q".to_owned(),
            types: vec![23, 0],
        };
        assert_eq!(decode(b'P', b"s\0q\0\0\x02\0\0\0\x17\0\0\0\0"), Ok(parse));
        let bind = FrontendMessage::Bind(Bind {
            portal: String::new(),
            statement: "s".to_owned(),
            formats: vec![Format::Binary],
            values: vec![Some(Bytes::from_static(b"ab")), None],
            result_formats: vec![Format::Text],
        });
        let body = b"\0s\0\0\x01\0\x01\0\x02\0\0\0\x02ab\xff\xff\xff\xff\0\x01\0\0";
        assert_eq!(decode(b'B', body), Ok(bind));
        let execute = FrontendMessage::Execute { portal: "p".to_owned(), rows: 7 };
        assert_eq!(decode(b'E', b"p\0\0\0\0\x07"), Ok(execute));
    }

    #[test]
    fn counts_and_lengths_stay_within_the_message() {
        for (kind, body) in [
            (b'Q', &b"SELECT 1"[..]),
            (b'Q', b"a\0b"),
            (b'P', b"s\0q\0"),
            (b'P', b"s\0q\0\xff\xff\0\0\0\0"),
            (b'B', b"\0\0\0\0\0\x01\x7f\xff\xff\xff"),
            (b'B', b"\0\0\0\x01\0\x02\0\0\0\0"),
            (b'B', b""),
            (b'D', b""),
            (b'D', b"Zx\0"),
            (b'E', b"p\0\0"),
        ] {
            let error = decode(kind, body).expect_err("malformed");
            assert!(matches!(error, ProtocolError::Malformed(_)), "{error}");
        }
        assert_eq!(decode(b'Q', b"\xff\0"), Err(ProtocolError::NotUtf8('Q')));
        assert_eq!(decode(b'?', b""), Err(ProtocolError::Kind('?')));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_an_error(
            kind in any::<u8>(),
            body in prop::collection::vec(any::<u8>(), 0..80),
        ) {
            let _ = decode(kind, &body);
        }
    }
}
