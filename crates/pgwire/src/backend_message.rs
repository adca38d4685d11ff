//! Messages of the server, appended to a buffer. Source: PostgreSQL 18, section 54.7.

use bytes::{BufMut, BytesMut};

use crate::column_type::ColumnType;
use crate::frontend_message::Format;

/// The state of a session's transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransactionStatus {
    Idle,
    Open,
    Failed,
}

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) column_type: ColumnType,
}

/// An error or a notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) severity: &'static str,
    pub(crate) sqlstate: &'static str,
    pub(crate) message: String,
    pub(crate) detail: Option<String>,
    pub(crate) hint: Option<String>,
    /// The character in the text of the statement, counted from 1.
    pub(crate) position: Option<usize>,
}

/// Bytes that wait to be sent.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) bytes: BytesMut,
}

impl Output {
    /// Appends a message: its type, its length, and what `write` appends.
    fn message(&mut self, kind: u8, write: impl FnOnce(&mut BytesMut)) {
        self.bytes.put_u8(kind);
        let start = self.bytes.len();
        self.bytes.put_u32(0);
        write(&mut self.bytes);
        let length = u32::try_from(self.bytes.len() - start).unwrap_or(u32::MAX);
        self.bytes[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }

    /// AuthenticationOk, or a request of authentication with this code and content.
    pub(crate) fn authentication(&mut self, code: u32, content: &[u8]) {
        self.message(b'R', |body| {
            body.put_u32(code);
            body.put_slice(content);
        });
    }

    pub(crate) fn parameter_status(&mut self, name: &str, value: &str) {
        self.message(b'S', |body| {
            put_text(body, name);
            put_text(body, value);
        });
    }

    pub(crate) fn backend_key(&mut self, process: u32, secret: u32) {
        self.message(b'K', |body| {
            body.put_u32(process);
            body.put_u32(secret);
        });
    }

    /// The newest minor version of the protocol that the server has, and unknown options.
    pub(crate) fn negotiate_version(&mut self, options: &[String]) {
        self.message(b'v', |body| {
            body.put_u32(3 << 16);
            body.put_u32(u32::try_from(options.len()).unwrap_or(u32::MAX));
            for option in options {
                put_text(body, option);
            }
        });
    }

    pub(crate) fn ready(&mut self, status: TransactionStatus) {
        self.message(b'Z', |body| {
            body.put_u8(match status {
                TransactionStatus::Idle => b'I',
                TransactionStatus::Open => b'T',
                TransactionStatus::Failed => b'E',
            });
        });
    }

    /// A message without content: one of `1`, `2`, `3`, `n`, `s`, `I`.
    pub(crate) fn empty(&mut self, kind: u8) {
        self.message(kind, |_| ());
    }

    pub(crate) fn row_description(&mut self, fields: &[Field], formats: impl Fn(usize) -> Format) {
        self.message(b'T', |body| {
            body.put_u16(u16::try_from(fields.len()).unwrap_or(u16::MAX));
            for (index, field) in fields.iter().enumerate() {
                put_text(body, &field.name);
                // No table and no column: the columns of a table may change with every row.
                body.put_u32(0);
                body.put_u16(0);
                body.put_u32(field.column_type.oid());
                body.put_i16(field.column_type.length());
                body.put_i32(-1);
                body.put_u16(match formats(index) {
                    Format::Text => 0,
                    Format::Binary => 1,
                });
            }
        });
    }

    pub(crate) fn parameter_description(&mut self, types: &[u32]) {
        self.message(b't', |body| {
            body.put_u16(u16::try_from(types.len()).unwrap_or(u16::MAX));
            types.iter().for_each(|oid| body.put_u32(*oid));
        });
    }

    /// A row of `count` values, which `write` appends.
    pub(crate) fn data_row(&mut self, count: usize, write: impl FnOnce(&mut BytesMut)) {
        self.message(b'D', |body| {
            body.put_u16(u16::try_from(count).unwrap_or(u16::MAX));
            write(body);
        });
    }

    pub(crate) fn command_complete(&mut self, tag: &str) {
        self.message(b'C', |body| put_text(body, tag));
    }

    /// The client may send rows of this many columns, as text.
    pub(crate) fn copy_in(&mut self, columns: usize) {
        self.message(b'G', |body| {
            body.put_u8(0);
            body.put_u16(u16::try_from(columns).unwrap_or(u16::MAX));
            (0..columns).for_each(|_| body.put_u16(0));
        });
    }

    pub(crate) fn error(&mut self, error: &Notice) {
        self.message(b'E', |body| put_notice(body, error));
    }

    pub(crate) fn notice(&mut self, notice: &Notice) {
        self.message(b'N', |body| put_notice(body, notice));
    }
}

fn put_notice(body: &mut BytesMut, notice: &Notice) {
    let position = notice.position.map(|position| position.to_string());
    let fields = [
        (b'S', Some(notice.severity)),
        (b'V', Some(notice.severity)),
        (b'C', Some(notice.sqlstate)),
        (b'M', Some(notice.message.as_str())),
        (b'D', notice.detail.as_deref()),
        (b'H', notice.hint.as_deref()),
        (b'P', position.as_deref()),
    ];
    for (code, text) in fields {
        if let Some(text) = text {
            body.put_u8(code);
            put_text(body, text);
        }
    }
    body.put_u8(0);
}

/// Appends a text and the zero byte that ends it. A zero byte within would end it, too, so it is
/// left out.
fn put_text(body: &mut BytesMut, text: &str) {
    for part in text.split('\0') {
        body.put_slice(part.as_bytes());
    }
    body.put_u8(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_its_length() {
        let mut output = Output::default();
        output.command_complete("SELECT 3");
        assert_eq!(&output.bytes[..], b"C\0\0\0\x0dSELECT 3\0");
        output.bytes.clear();
        output.ready(TransactionStatus::Failed);
        assert_eq!(&output.bytes[..], b"Z\0\0\0\x05E");
    }

    #[test]
    fn an_error_has_its_fields() {
        let mut output = Output::default();
        output.error(&Notice {
            severity: "ERROR",
            sqlstate: "42601",
            message: "a\0b".to_owned(),
            detail: None,
            hint: Some("h".to_owned()),
            position: Some(7),
        });
        assert_eq!(&output.bytes[5..], b"SERROR\0VERROR\0C42601\0Mab\0Hh\0P7\0\0");
    }
}
