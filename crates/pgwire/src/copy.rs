//! `COPY t (a, b) FROM STDIN`: the rows that follow, as CSV for the front.

use hadal_ingest::{InputFormat, Quote, ReadOptions};

use crate::failure::Failure;
use crate::statement_reader::StatementReader;

/// Where and how rows of a COPY are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Copy {
    pub(crate) table: String,
    pub(crate) columns: Vec<String>,
    is_csv: bool,
    has_header: bool,
    delimiter: u8,
    null: Option<String>,
}

/// Reads a COPY.
///
/// # Errors
/// [`Failure`] for forms other than from the client as text or CSV.
pub(crate) fn copy(sql: &str) -> Result<Copy, Failure> {
    let mut syntax = StatementReader::new(sql);
    syntax.expect("copy")?;
    if syntax.peek()?.is_some_and(|next| next.is("(")) {
        return Err(no_export(&syntax));
    }
    let table = syntax.table()?;
    let columns = syntax.columns()?;
    if syntax.peek()?.is_some_and(|next| next.is("to")) {
        return Err(no_export(&syntax));
    }
    syntax.expect("from")?;
    if !syntax.skip("stdin")? {
        return Err(syntax
            .unexpected("COPY takes rows FROM STDIN only")
            .hint("\\copy in psql sends a file of yours; hadal import FILE reads any format"));
    }
    let mut copy =
        Copy { table, columns, is_csv: false, has_header: false, delimiter: 0, null: None };
    syntax.skip("with")?;
    let is_list = syntax.skip("(")?;
    while let Some(next) = syntax.peek()? {
        if is_list && next.is(")") {
            syntax.next()?;
            break;
        }
        copy.read_option(&mut syntax)?;
        syntax.skip(",")?;
    }
    syntax.finish()?;
    if copy.delimiter == 0 {
        copy.delimiter = if copy.is_csv { b',' } else { b'\t' };
    }
    if copy.columns.is_empty() && !(copy.is_csv && copy.has_header) {
        return Err(Failure::new("42601", "COPY must name the columns").hint(
            "COPY t (a, b) FROM STDIN, or (FORMAT csv, HEADER): columns have no order of their own",
        ));
    }
    Ok(copy)
}

fn no_export(syntax: &StatementReader<'_>) -> Failure {
    let failed = syntax.unexpected("rows are not copied out");
    Failure { sqlstate: "0A000", ..failed }.hint(
        "SELECT them, \\copy (SELECT …) in psql with \\g and --csv, or hadal query --format csv",
    )
}

impl Copy {
    fn read_option(&mut self, syntax: &mut StatementReader<'_>) -> Result<(), Failure> {
        let at = syntax.clone();
        match syntax.name()?.to_ascii_lowercase().as_str() {
            "format" => {
                match syntax.name().or_else(|_| syntax.text())?.to_ascii_lowercase().as_str() {
                    "csv" => self.is_csv = true,
                    "text" => self.is_csv = false,
                    _ => {
                        return Err(at
                            .unexpected("COPY takes the formats text and csv")
                            .hint("hadal import FILE reads Parquet and Arrow"));
                    }
                }
            }
            "csv" => self.is_csv = true,
            "header" => {
                self.has_header = !(syntax.skip("false")? || syntax.skip("off")?);
                let _ = syntax.skip("true")? || syntax.skip("on")? || syntax.skip("match")?;
            }
            "delimiter" => {
                syntax.skip("as")?;
                match syntax.text()?.as_bytes() {
                    [byte] => self.delimiter = *byte,
                    _ => return Err(at.unexpected("the delimiter is one byte")),
                }
            }
            "null" => {
                syntax.skip("as")?;
                self.null = Some(syntax.text()?);
            }
            "encoding" | "quote" => {
                syntax.skip("as")?;
                let value = syntax.text()?.to_ascii_lowercase().replace('-', "");
                if !["utf8", "\""].contains(&value.as_str()) {
                    return Err(at.unexpected("COPY takes UTF8, and \" as quote"));
                }
            }
            _ => return Err(at.unexpected("COPY has no such option")),
        }
        Ok(())
    }

    /// How the front reads the bytes that [`CsvBody`] makes.
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            format: Some(InputFormat::Csv),
            separator: Some(if self.is_csv { self.delimiter } else { b',' }),
            quote: Some(Quote::Byte(b'"')),
            header: Some(true),
            nulls: self.null.iter().filter(|_| self.is_csv).cloned().collect(),
            ..ReadOptions::default()
        }
    }
}

/// Converts the bytes of a COPY to CSV with a head.
#[derive(Debug)]
pub(crate) struct CsvBody {
    copy: Copy,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    /// Whether the first line of the client, which is its head, is still to be skipped.
    skips_head: bool,
    has_begun: bool,
    /// Whether the line `\.` has ended the rows.
    has_ended: bool,
}

impl CsvBody {
    pub(crate) fn new(copy: Copy) -> Self {
        // Names of the statement replace those of the head.
        let skips_head = copy.has_header && !copy.columns.is_empty();
        Self { copy, line: Vec::new(), skips_head, has_begun: false, has_ended: false }
    }

    /// The CSV of further bytes; `is_last` at the end.
    pub(crate) fn push(&mut self, bytes: &[u8], is_last: bool) -> Vec<u8> {
        let mut csv = Vec::with_capacity(bytes.len() + bytes.len() / 8);
        if !self.has_begun {
            self.has_begun = true;
            if !self.copy.columns.is_empty() {
                let separator = if self.copy.is_csv { self.copy.delimiter } else { b',' };
                for (index, column) in self.copy.columns.iter().enumerate() {
                    if index > 0 {
                        csv.push(separator);
                    }
                    push_cell(&mut csv, column.as_bytes());
                }
                csv.push(b'\n');
            }
        }
        if self.copy.is_csv && !self.skips_head {
            csv.extend_from_slice(bytes);
            return csv;
        }
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            self.end_line(&mut csv);
            if self.copy.is_csv {
                csv.extend_from_slice(rest);
                return csv;
            }
        }
        self.line.extend_from_slice(rest);
        if is_last && !self.line.is_empty() {
            self.end_line(&mut csv);
        }
        csv
    }

    fn end_line(&mut self, csv: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.skips_head) || self.has_ended {
            return;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        if line == b"\\." {
            self.has_ended = true;
            return;
        }
        let null = self.copy.null.as_deref().unwrap_or("\\N").as_bytes();
        for (index, field) in fields(line, self.copy.delimiter).enumerate() {
            if index > 0 {
                csv.push(b',');
            }
            if field != null {
                push_cell(csv, &unescaped(field));
            }
        }
        csv.push(b'\n');
    }
}

/// The fields of a line, with their escapes. A delimiter after a backslash is none.
fn fields(line: &[u8], delimiter: u8) -> impl Iterator<Item = &[u8]> {
    let mut is_escaped = false;
    line.split(move |byte| {
        let is_end = *byte == delimiter && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    })
}

fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut bytes = field.iter();
    while let Some(byte) = bytes.next() {
        plain.push(match (byte, byte == &b'\\') {
            (_, true) => match bytes.next() {
                Some(b'n') => b'\n',
                Some(b't') => b'\t',
                Some(b'r') => b'\r',
                Some(b'b') => 8,
                Some(b'f') => 12,
                Some(b'v') => 11,
                Some(other) => *other,
                None => b'\\',
            },
            (byte, false) => *byte,
        });
    }
    plain
}

/// Appends a cell in quotes.
fn push_cell(csv: &mut Vec<u8>, cell: &[u8]) {
    csv.push(b'"');
    for byte in cell {
        if *byte == b'"' {
            csv.push(b'"');
        }
        csv.push(*byte);
    }
    csv.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(sql: &str, pieces: &[&str]) -> String {
        let mut body = CsvBody::new(copy(sql).expect("a COPY"));
        let mut bytes: Vec<u8> =
            pieces.iter().flat_map(|piece| body.push(piece.as_bytes(), false)).collect();
        bytes.extend(body.push(b"", true));
        String::from_utf8(bytes).expect("UTF-8")
    }

    #[test]
    fn text_becomes_csv() {
        let sql = "COPY t (a, \"b c\") FROM STDIN";
        assert_eq!(
            csv(sql, &["1\tx\\ty", "\"\n\\N\t\\\\\\t\n", "\\.\n9\t9\n"]),
            "\"a\",\"b c\"\n\"1\",\"x\ty\"\"\"\n,\"\\\t\"\n"
        );
        assert_eq!(csv(sql, &["1\t2"]), "\"a\",\"b c\"\n\"1\",\"2\"\n");
    }

    #[test]
    fn csv_passes_as_it_is() {
        let sql = "COPY t (a, b) FROM STDIN WITH (FORMAT csv, DELIMITER ';', HEADER)";
        assert_eq!(csv(sql, &["x;y\n1;2\n", "3;4"]), "\"a\";\"b\"\n1;2\n3;4");
        assert_eq!(csv("COPY t FROM STDIN CSV HEADER", &["x,y\n1,2\n"]), "x,y\n1,2\n");
    }

    #[test]
    fn other_forms_are_refused() {
        for sql in [
            "COPY t TO STDOUT",
            "COPY (SELECT 1) TO STDOUT",
            "COPY t (a) FROM '/etc/passwd'",
            "COPY t (a) FROM PROGRAM 'ls'",
            "COPY t FROM STDIN",
            "COPY t (a) FROM STDIN (FORMAT binary)",
            "COPY t (a) FROM STDIN (DELIMITER 'ab')",
            "COPY t (a) FROM STDIN (NOPE)",
        ] {
            assert!(
                copy(sql).expect_err("refused").hint.is_some()
                    || sql.contains("(D")
                    || sql.contains("(N"),
                "{sql}"
            );
        }
    }
}
