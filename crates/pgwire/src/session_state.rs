//! What a session remembers between messages.

use std::collections::HashMap;
use std::sync::Arc;

use hadal_frontend::Principal;
use hadal_sql::Literal;
use hadal_types::limits::{PG_PORTALS_MAX, PG_PREPARED_BYTES_MAX, PG_PREPARED_MAX};

use crate::backend_message::{Notice, TransactionStatus};
use crate::catalog::SessionFacts;
use crate::column_type::ColumnType;
use crate::command::{Command, Transaction};
use crate::failure::Failure;
use crate::frontend_message::Format;
use crate::rows::Rows;
use crate::settings::Settings;

/// A prepared statement.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// The statement; empty for an empty text.
    pub(crate) sql: String,
    pub(crate) command: Command,
    /// The types of its parameters.
    pub(crate) types: Vec<u32>,
    /// The types of the columns of its answer, once the client has asked for them.
    pub(crate) promised: Option<Vec<ColumnType>>,
}

/// A statement with values that runs or waits to be run.
pub(crate) struct Portal {
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) values: Vec<Literal>,
    pub(crate) formats: Vec<Format>,
    /// The answer, once the statement has run.
    pub(crate) rows: Option<Rows>,
}

/// What a session remembers.
pub(crate) struct SessionState {
    pub(crate) principal: Principal,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) settings: Settings,
    pub(crate) status: TransactionStatus,
    /// Whether rows were logged in the open transaction.
    pub(crate) has_written: bool,
    pub(crate) statements: HashMap<String, Arc<Prepared>>,
    pub(crate) portals: HashMap<String, Portal>,
    /// Messages that are sent with the next completion.
    pub(crate) notices: Vec<Notice>,
    /// Settings whose new values are reported to the client.
    pub(crate) changed_settings: Vec<&'static str>,
}

impl SessionState {
    /// What the session is to the functions of the catalog.
    pub(crate) fn facts(&self, process: u32) -> SessionFacts {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let version = self.settings.get("server_version").unwrap_or_default();
        SessionFacts {
            user: self.user.clone(),
            database: self.database.clone(),
            process,
            version: format!("PostgreSQL {version}"),
            settings: self.settings.all().into_iter().map(owned).collect(),
        }
    }

    /// Sets a setting.
    pub(crate) fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), Failure> {
        self.settings.set(name, value)?;
        self.changed_settings.extend(Settings::reported_name(name));
        Ok(())
    }

    /// Returns a setting, or all settings, to the initial value.
    pub(crate) fn reset(&mut self, name: Option<&str>) -> Result<(), Failure> {
        match name {
            Some(name) => self.set(name, None),
            None => {
                self.settings.reset();
                self.changed_settings.extend(self.settings.reported().map(|(shown, _)| shown));
                Ok(())
            }
        }
    }

    /// Refuses a statement other than the end of a transaction that has failed.
    pub(crate) fn check_transaction(&self, command: &Command) -> Result<(), Failure> {
        let ends = matches!(
            command,
            Command::Transaction(
                Transaction::Commit | Transaction::Rollback | Transaction::Savepoint("ROLLBACK")
            )
        );
        match self.status == TransactionStatus::Failed && !ends {
            true => Err(Failure::new(
                "25P02",
                "current transaction is aborted, commands ignored until end of transaction block",
            )),
            false => Ok(()),
        }
    }

    /// Notes that a statement has failed.
    pub(crate) fn fail(&mut self) {
        if self.status == TransactionStatus::Open {
            self.status = TransactionStatus::Failed;
        }
    }

    /// Keeps a prepared statement. One without a name replaces the one before.
    pub(crate) fn prepare(&mut self, name: String, prepared: Prepared) -> Result<(), Failure> {
        if name.is_empty() {
            self.statements.remove("");
        } else if self.statements.contains_key(&name) {
            let message = format!("prepared statement {name:?} already exists");
            return Err(Failure::new("42P05", message));
        }
        let bytes: usize = self.statements.values().map(|statement| statement.sql.len()).sum();
        if self.statements.len() >= PG_PREPARED_MAX
            || bytes + prepared.sql.len() > PG_PREPARED_BYTES_MAX
        {
            let message = format!(
                "too many prepared statements: at most {PG_PREPARED_MAX}, of \
                 {PG_PREPARED_BYTES_MAX} bytes"
            );
            return Err(Failure::new("54000", message).hint("close those that are not needed"));
        }
        self.statements.insert(name, Arc::new(prepared));
        Ok(())
    }

    /// The prepared statement of this name.
    pub(crate) fn statement(&self, name: &str) -> Result<&Arc<Prepared>, Failure> {
        self.statements.get(name).ok_or_else(|| unknown_statement(name))
    }

    /// Forgets a prepared statement.
    pub(crate) fn deallocate(&mut self, name: &str) -> Result<(), Failure> {
        self.statements.remove(name).map(drop).ok_or_else(|| unknown_statement(name))
    }

    /// Keeps a portal. One without a name replaces the one before.
    pub(crate) fn open(&mut self, name: String, portal: Portal) -> Result<(), Failure> {
        if name.is_empty() {
            self.portals.remove("");
        } else if self.portals.contains_key(&name) {
            return Err(Failure::new("42P03", format!("portal {name:?} already exists")));
        }
        if self.portals.len() >= PG_PORTALS_MAX {
            let message = format!("too many portals: at most {PG_PORTALS_MAX}");
            return Err(Failure::new("54000", message).hint("close those that are not needed"));
        }
        self.portals.insert(name, portal);
        Ok(())
    }
}

fn unknown_statement(name: &str) -> Failure {
    Failure::new("26000", format!("prepared statement {name:?} does not exist"))
}

/// A portal that is not there.
pub(crate) fn unknown_portal(name: &str) -> Failure {
    Failure::new("34000", format!("portal {name:?} does not exist"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn state() -> SessionState {
        SessionState {
            principal: Principal::administrator(),
            user: "me".to_owned(),
            database: "d".to_owned(),
            settings: Settings::new("1", "me", &BTreeMap::new()),
            status: TransactionStatus::Idle,
            has_written: false,
            statements: HashMap::new(),
            portals: HashMap::new(),
            notices: Vec::new(),
            changed_settings: Vec::new(),
        }
    }

    fn prepared(sql: &str) -> Prepared {
        Prepared { sql: sql.to_owned(), command: Command::Query, types: Vec::new(), promised: None }
    }

    #[test]
    fn prepared_statements_have_limits() {
        let mut state = state();
        state.prepare(String::new(), prepared("a")).expect("prepared");
        state.prepare(String::new(), prepared("b")).expect("replaced");
        for index in 1..PG_PREPARED_MAX {
            state.prepare(index.to_string(), prepared("x")).expect("prepared");
        }
        assert_eq!(state.prepare("1".to_owned(), prepared("x")).expect_err("").sqlstate, "42P05");
        assert_eq!(state.prepare("y".to_owned(), prepared("x")).expect_err("").sqlstate, "54000");
        state.statements.clear();
        let long = "x".repeat(PG_PREPARED_BYTES_MAX);
        state.prepare("a".to_owned(), prepared(&long)).expect("prepared");
        assert_eq!(state.prepare("b".to_owned(), prepared("x")).expect_err("").sqlstate, "54000");
    }

    #[test]
    fn portals_have_a_limit() {
        let mut state = state();
        let portal = || Portal {
            prepared: Arc::new(prepared("x")),
            values: Vec::new(),
            formats: Vec::new(),
            rows: None,
        };
        for index in 0..PG_PORTALS_MAX {
            state.open(index.to_string(), portal()).expect("opened");
        }
        assert_eq!(state.open("x".to_owned(), portal()).expect_err("").sqlstate, "54000");
    }

    #[test]
    fn a_failed_transaction_must_end_first() {
        let mut state = state();
        state.fail();
        assert_eq!(state.status, TransactionStatus::Idle);
        state.status = TransactionStatus::Open;
        state.fail();
        assert_eq!(state.check_transaction(&Command::Query).expect_err("").sqlstate, "25P02");
        let end = Command::Transaction(Transaction::Rollback);
        assert!(state.check_transaction(&end).is_ok());
    }
}
