//! Statements that change tables: INSERT, COPY, DROP TABLE.

use std::collections::HashSet;
use std::io;

use bytes::Bytes;
use hadal_frontend::{
    ByteStream, Decompressor, ErrorKind, FrontendError, IngestOptions, IngestReceipt, Shutdown,
};
use hadal_ingest::{Format, ReadOptions};

use crate::backend_message::TransactionStatus;
use crate::command::Command;
use crate::connection::{Connection, ReceiveError};
use crate::copy::{CsvBody, copy};
use crate::execute::Statement;
use crate::failure::Failure;
use crate::frontend_message::FrontendMessage;
use crate::insert::insert;
use crate::notices::notice;
use crate::session::{Session, Trouble};
use crate::statement_reader::StatementReader;

/// The door's name in `_rejects`.
const SOURCE: &str = "postgresql";

impl Session {
    /// Runs a statement that changes a table, and returns its tag.
    pub(crate) async fn write(&mut self, statement: Statement<'_>) -> Result<String, Trouble> {
        let tag = match statement.command {
            Command::Insert => self.insert(statement).await,
            Command::Copy => self.copy(statement.sql).await,
            Command::DropTable => self.drop_tables(statement.sql).await,
            _ => Err(Failure::unsupported("this statement is not supported").into()),
        }?;
        self.state.has_written |= self.state.status == TransactionStatus::Open;
        Ok(tag)
    }

    /// Logs the rows of an INSERT: all of them, or none.
    async fn insert(&mut self, statement: Statement<'_>) -> Result<String, Trouble> {
        let now = self.door.frontend.clock().now();
        let insert = insert(statement.sql, statement.values, now)?;
        let options =
            IngestOptions { strict: true, ..options(Format::Json, ReadOptions::default()) };
        let mut body =
            OneBody { received: insert.body.len() as u64, rest: Some(insert.body.into()) };
        let principal = &self.state.principal;
        let logging = self.door.frontend.ingest(principal, &insert.table, Ok(options), &mut body);
        let receipt = logging.await.map_err(Failure::from)?;
        self.note(&receipt);
        Ok(format!("INSERT 0 {}", receipt.accepted))
    }

    /// Logs the rows that follow a COPY. Bad rows do not affect the others.
    async fn copy(&mut self, sql: &str) -> Result<String, Trouble> {
        let copy = copy(sql)?;
        let (table, columns) = (copy.table.clone(), copy.columns.len());
        let options = options(Format::Csv, copy.options());
        self.connection.output.copy_in(columns);
        self.connection.flush().await?;
        let frontend = &self.door.frontend;
        let mut body = CopyBody {
            connection: &mut self.connection,
            shutdown: frontend.shutdown().clone(),
            csv: CsvBody::new(copy),
            received: 0,
            is_done: false,
            error: None,
        };
        let principal = &self.state.principal;
        let logged = frontend.ingest(principal, &table, Ok(options), &mut body).await;
        if let Some(error) = body.error.take() {
            return Err(error.into());
        }
        let receipt = logged.map_err(Failure::from)?;
        self.note(&receipt);
        Ok(format!("COPY {}", receipt.accepted))
    }

    /// Notes what the client should know of logged rows.
    fn note(&mut self, receipt: &IngestReceipt) {
        let rejects = &receipt.rejects;
        if let Some(first) = rejects.first.first() {
            let message = format!(
                "{} rows were refused; they are in _rejects. The first is row {}: {}",
                rejects.count, first.line, first.reason
            );
            self.state.notices.push(notice("WARNING", message));
        }
        for warning in &receipt.warnings {
            self.state.notices.push(notice("NOTICE", warning.message.clone()));
        }
    }

    async fn drop_tables(&mut self, sql: &str) -> Result<String, Trouble> {
        let (tables, if_exists) = drop_table(sql)?;
        for table in tables {
            let dropped = self.door.frontend.drop_table(&self.state.principal, &table).await;
            match dropped {
                Ok(_) => {}
                Err(error) if if_exists && error.kind == ErrorKind::UnknownTable => {
                    let message = format!("table {table} does not exist, skipping");
                    self.state.notices.push(notice("NOTICE", message));
                }
                Err(error) => return Err(Failure::from(error).into()),
            }
        }
        Ok("DROP TABLE".to_owned())
    }
}

/// The tables of a DROP TABLE, and whether they need not be there.
fn drop_table(sql: &str) -> Result<(Vec<String>, bool), Failure> {
    let mut syntax = StatementReader::new(sql);
    syntax.expect("drop")?;
    syntax.expect("table")?;
    let if_exists = syntax.skip("if")?;
    if if_exists {
        syntax.expect("exists")?;
    }
    let mut tables = vec![syntax.table()?];
    while syntax.skip(",")? {
        tables.push(syntax.table()?);
    }
    let _ = syntax.skip("cascade")? || syntax.skip("restrict")?;
    syntax.finish()?;
    Ok((tables, if_exists))
}

fn options(format: Format, read: ReadOptions) -> IngestOptions {
    IngestOptions {
        source: SOURCE,
        format,
        decompressor: Decompressor::plain(),
        batch: None,
        time: None,
        sets: HashSet::new(),
        strict: false,
        any_age: false,
        explain: false,
        read,
    }
}

/// A body that is there as a whole.
struct OneBody {
    received: u64,
    rest: Option<Bytes>,
}

impl ByteStream for OneBody {
    async fn next(&mut self) -> Result<Option<Bytes>, FrontendError> {
        Ok(self.rest.take())
    }

    fn received(&self) -> u64 {
        self.received
    }
}

/// The rows that follow a COPY, as CSV.
struct CopyBody<'s> {
    connection: &'s mut Connection,
    shutdown: Shutdown,
    csv: CsvBody,
    received: u64,
    is_done: bool,
    /// Why the connection cannot continue.
    error: Option<io::Error>,
}

impl ByteStream for CopyBody<'_> {
    async fn next(&mut self) -> Result<Option<Bytes>, FrontendError> {
        let broken = |message: &str| FrontendError::new(ErrorKind::BadBatch, message);
        while !self.is_done {
            let received = tokio::select! {
                biased;
                received = self.connection.receive() => received,
                () = self.shutdown.begun() => {
                    return Err(FrontendError::new(ErrorKind::Unavailable, "the server is stopping"));
                }
            };
            let csv = match received {
                Ok(Some(FrontendMessage::CopyData(bytes))) => {
                    self.received += bytes.len() as u64;
                    self.csv.push(&bytes, false)
                }
                Ok(Some(FrontendMessage::CopyDone)) => {
                    self.is_done = true;
                    self.csv.push(&[], true)
                }
                Ok(Some(FrontendMessage::Sync | FrontendMessage::Flush)) => continue,
                Ok(Some(FrontendMessage::CopyFail(reason))) => {
                    self.is_done = true;
                    return Err(broken(&format!("COPY was ended by the client: {reason}")));
                }
                Ok(None | Some(FrontendMessage::Terminate)) => {
                    self.error = Some(io::ErrorKind::UnexpectedEof.into());
                    return Err(broken("the client is gone"));
                }
                Ok(Some(_)) => return Err(broken("unexpected message during COPY")),
                Err(ReceiveError::Io(error)) => {
                    self.error = Some(error);
                    return Err(broken("the connection is broken"));
                }
                Err(error) => {
                    self.error = Some(io::Error::other(error.to_string()));
                    return Err(broken("the connection is broken"));
                }
            };
            if !csv.is_empty() {
                return Ok(Some(csv.into()));
            }
        }
        Ok(None)
    }

    fn received(&self) -> u64 {
        self.received
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_to_drop_are_read() {
        let names = |sql| drop_table(sql).map(|(tables, if_exists)| (tables.join(" "), if_exists));
        assert_eq!(names("DROP TABLE t"), Ok(("t".to_owned(), false)));
        let sql = "drop table if exists public.\"A b\", c CASCADE";
        assert_eq!(names(sql), Ok(("A b c".to_owned(), true)));
        for sql in ["DROP TABLE", "DROP TABLE a b", "DROP TABLE a,"] {
            assert!(names(sql).is_err(), "{sql}");
        }
    }
}
