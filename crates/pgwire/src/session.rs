//! One session: messages one after the other, until the client leaves or the server stops.
//!
//! ```text
//! Query ──> statements ──> command ──> frontend ──> rows ──> ReadyForQuery
//! Parse, Bind, Describe, Execute ──> extended.rs ──> the same; Sync ──> ReadyForQuery
//! ```

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use jiff::tz::TimeZone;
use tokio::sync::{Notify, watch};

use crate::backend_message::TransactionStatus;
use crate::cancel::CancelKey;
use crate::catalog;
use crate::command::{Command, command};
use crate::connection::{Connection, ReceiveError};
use crate::door::Door;
use crate::execute::{SessionAnswer, Statement, query, session_command};
use crate::failure::Failure;
use crate::frontend_message::{Format, FrontendMessage};
use crate::rows::Rows;
use crate::session_state::SessionState;
use crate::settings::Settings;
use crate::startup::Started;
use crate::statements::statements;

/// A session.
pub(crate) struct Session {
    pub(crate) door: Arc<Door>,
    pub(crate) connection: Connection,
    pub(crate) state: SessionState,
    key: CancelKey,
    stop: watch::Receiver<bool>,
    /// Whether messages are skipped until the next Sync, after an error.
    is_skipping: bool,
}

/// Why a session does not continue as usual.
pub(crate) enum Trouble {
    /// The statement failed.
    Failure(Failure),
    /// The client is gone, or does not read.
    Connection(io::Error),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Connection(error)
    }
}

/// The answer to a statement.
pub(crate) enum Answer {
    Rows(Rows),
    /// The tag of its completion.
    Done(String),
}

impl Session {
    /// # Errors
    /// When the system's random source fails.
    pub(crate) fn new(
        door: Arc<Door>,
        started: Started,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, ring::error::Unspecified> {
        let Started { connection, principal, options } = started;
        let user = options.get("user").cloned().unwrap_or_else(|| "hadal".to_owned());
        let settings = Settings::new(&door.config.version, &user, &options);
        let key = door.cancels.add()?;
        let state = SessionState {
            principal,
            database: options.get("database").cloned().unwrap_or_else(|| user.clone()),
            user,
            settings,
            status: TransactionStatus::Idle,
            has_written: false,
            statements: HashMap::new(),
            portals: HashMap::new(),
            notices: Vec::new(),
            changed_settings: Vec::new(),
        };
        Ok(Self { door, connection, state, key, stop, is_skipping: false })
    }

    /// Serves the client to the end.
    pub(crate) async fn run(mut self) {
        for (name, value) in self.state.settings.reported() {
            self.connection.output.parameter_status(name, value);
        }
        self.connection.output.backend_key(self.key.process, self.key.secret);
        if self.ready().await.is_err() {
            return;
        }
        let last = loop {
            let received = tokio::select! {
                biased;
                received = self.connection.receive() => received,
                () = stopped(&mut self.stop) => {
                    break Some(Failure::fatal("57P01", "the server is stopping"));
                }
            };
            let message = match received {
                Ok(None | Some(FrontendMessage::Terminate)) => break None,
                Ok(Some(message)) => message,
                Err(ReceiveError::Io(_)) => return,
                Err(ReceiveError::Protocol(error)) => break Some(Failure::from(error)),
                Err(error @ ReceiveError::Memory(_)) => {
                    break Some(Failure::fatal("53200", error.to_string()));
                }
            };
            match self.handle(message).await {
                Ok(()) => {}
                Err(Trouble::Failure(failure)) => break Some(failure),
                Err(Trouble::Connection(error)) => {
                    tracing::debug!(%error, "a session ended early");
                    return;
                }
            }
        };
        if let Some(failure) = last {
            self.connection.output.error(&failure.notice("", 0));
        }
        self.connection.close().await;
    }

    /// Handles one message. A failure ends the session.
    async fn handle(&mut self, message: FrontendMessage) -> Result<(), Trouble> {
        if self.is_skipping && !matches!(message, FrontendMessage::Sync) {
            return Ok(());
        }
        if message.is_extended() {
            return match self.extended(message).await {
                Err(Trouble::Failure(failure)) if !failure.is_fatal => {
                    self.report(&failure, "", 0);
                    self.is_skipping = true;
                    Ok(())
                }
                handled => handled,
            };
        }
        match message {
            FrontendMessage::Query(text) => self.simple(&text).await,
            FrontendMessage::Sync => {
                self.is_skipping = false;
                if self.state.status == TransactionStatus::Idle {
                    self.state.portals.clear();
                }
                self.ready().await
            }
            FrontendMessage::Flush => Ok(self.connection.flush().await?),
            // What is left of a COPY that has failed.
            FrontendMessage::CopyData(_)
            | FrontendMessage::CopyDone
            | FrontendMessage::CopyFail(_) => Ok(()),
            _ => Err(Failure::fatal("08P01", "unexpected message").into()),
        }
    }

    async fn ready(&mut self) -> Result<(), Trouble> {
        self.connection.output.ready(self.state.status);
        Ok(self.connection.flush().await?)
    }

    /// Reports the failure of a statement that begins at byte `start` of `text`.
    pub(crate) fn report(&mut self, failure: &Failure, text: &str, start: usize) {
        self.state.fail();
        self.connection.output.error(&failure.notice(text, start));
    }

    /// Runs the statements of a text, up to the first that fails.
    async fn simple(&mut self, text: &str) -> Result<(), Trouble> {
        match statements(text) {
            Ok(statements) if statements.is_empty() => self.connection.output.empty(b'I'),
            Ok(statements) => {
                for range in statements {
                    let start = range.start;
                    let sql = text.get(range).unwrap_or_default();
                    match self.simple_statement(sql).await {
                        Err(Trouble::Failure(failure)) if !failure.is_fatal => {
                            self.report(&failure, text, start);
                            break;
                        }
                        run => run?,
                    }
                }
            }
            Err(failure) => self.report(&failure, text, 0),
        }
        self.ready().await
    }

    async fn simple_statement(&mut self, sql: &str) -> Result<(), Trouble> {
        let command = command(sql)?;
        let statement = Statement { sql, command: &command, values: &[], promised: None };
        match self.execute(statement).await? {
            Answer::Done(tag) => self.complete(&tag),
            Answer::Rows(mut rows) => {
                self.connection.output.row_description(&rows.fields, |_| Format::Text);
                self.send_rows(&mut rows, &[], 0).await?;
            }
        }
        Ok(())
    }

    /// Runs a statement.
    pub(crate) async fn execute(&mut self, statement: Statement<'_>) -> Result<Answer, Trouble> {
        self.state.check_transaction(statement.command)?;
        if let Some(answer) = session_command(&mut self.state, statement.command)? {
            return Ok(match answer {
                SessionAnswer::Rows(rows) => Answer::Rows(rows),
                SessionAnswer::Done(tag) => Answer::Done(tag.to_owned()),
            });
        }
        let Self { door, connection, state, key, .. } = self;
        let rows = match statement.command {
            Command::Query => {
                let work = query(&door.frontend, &state.principal, &state.settings, statement);
                guarded(connection, &key.cancelled, work).await?
            }
            Command::Catalog => {
                let (deadline, facts) = (state.settings.deadline(), state.facts(key.process));
                let (sql, values) = (statement.sql, statement.values);
                let work = catalog::answer(&door.frontend, facts, sql, values, deadline);
                guarded(connection, &key.cancelled, work).await?
            }
            _ => {
                let written = self.write(statement).await?;
                return Ok(Answer::Done(written));
            }
        };
        Ok(Answer::Rows(rows))
    }

    /// Sends rows: all of them, or at most `most` if that is not 0. Then says whether more are
    /// left.
    pub(crate) async fn send_rows(
        &mut self,
        rows: &mut Rows,
        formats: &[Format],
        most: usize,
    ) -> Result<(), Trouble> {
        let zone: TimeZone = self.state.settings.zone.clone();
        let mut sent: usize = 0;
        while most == 0 || sent < most {
            if !rows.put_next(&mut self.connection.output, formats, &zone) {
                break;
            }
            sent += 1;
            self.connection.flush_if_full().await?;
        }
        if most > 0 && sent == most && !rows.is_done() {
            self.connection.output.empty(b's');
            return Ok(());
        }
        self.state.notices.append(&mut rows.notices);
        let tag = match rows.tag {
            "SELECT" => format!("SELECT {sent}"),
            tag => tag.to_owned(),
        };
        self.complete(&tag);
        Ok(())
    }

    /// Sends what a statement leaves behind: notices, changed settings, its tag.
    pub(crate) fn complete(&mut self, tag: &str) {
        let output = &mut self.connection.output;
        for notice in self.state.notices.drain(..) {
            if self.state.settings.sends(notice.severity) {
                output.notice(&notice);
            }
        }
        for name in self.state.changed_settings.drain(..) {
            let value = self.state.settings.get(&name.to_ascii_lowercase()).unwrap_or_default();
            output.parameter_status(name, value);
        }
        output.command_complete(tag);
    }
}

/// Waits until the server stops.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    drop(stop.wait_for(|stop| *stop).await);
}

/// Runs `work` until it is done, cancelled, or the client is gone. Dropping it cancels it.
pub(crate) async fn guarded<T>(
    connection: &mut Connection,
    cancelled: &Notify,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Trouble> {
    tokio::select! {
        biased;
        () = cancelled.notified() => {
            Err(Failure::new("57014", "canceling statement due to user request").into())
        }
        done = work => Ok(done?),
        () = connection.closed() => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
    }
}
