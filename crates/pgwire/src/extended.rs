//! The extended protocol: statements that are prepared, given values, described, and run in parts.

use std::sync::Arc;

use hadal_sql::Literal;
use hadal_types::limits::PG_PARAMETERS_MAX;

use crate::backend_message::Field;
use crate::column_type::ColumnType;
use crate::command::{Command, command};
use crate::execute::{Statement, request};
use crate::failure::Failure;
use crate::frontend_message::{Bind, Format, FrontendMessage, Target, format_of};
use crate::lexer::{Lexer, Token};
use crate::parameter::literal;
use crate::parameter_types::{example, parameter_types};
use crate::session::{Answer, Session, Trouble};
use crate::session_state::{Portal, Prepared, unknown_portal};
use crate::statements::statements;

/// Texts, one likely to fit where a parameter without a type is.
const EXAMPLES: [&str; 4] = ["", "1 minute", "2000-01-01", "hour"];

impl Session {
    /// Handles a message of the extended protocol.
    pub(crate) async fn extended(&mut self, message: FrontendMessage) -> Result<(), Trouble> {
        match message {
            FrontendMessage::Parse { name, sql, types } => self.parse(name, &sql, &types),
            FrontendMessage::Bind(bind) => self.bind(bind),
            FrontendMessage::Describe(Target::Statement, name) => {
                self.describe_statement(&name).await
            }
            FrontendMessage::Describe(Target::Portal, name) => self.describe_portal(&name).await,
            FrontendMessage::Execute { portal, rows } => self.run_portal(&portal, rows).await,
            FrontendMessage::Close(target, name) => {
                match target {
                    Target::Statement => drop(self.state.statements.remove(&name)),
                    Target::Portal => drop(self.state.portals.remove(&name)),
                }
                self.connection.output.empty(b'3');
                Ok(())
            }
            _ => Ok(self.connection.flush().await?),
        }
    }

    fn parse(&mut self, name: String, text: &str, types: &[u32]) -> Result<(), Trouble> {
        let statements = statements(text)?;
        if statements.len() > 1 {
            let message = "cannot insert multiple commands into a prepared statement";
            return Err(Failure::new("42601", message).into());
        }
        let sql = statements.into_iter().next().and_then(|range| text.get(range));
        let sql = sql.unwrap_or_default().to_owned();
        let count = parameter_count(&sql)?;
        let root = self.door.frontend.root();
        let types = parameter_types(&sql, types, count, &|table| {
            root.known_table(table).map(|table| Arc::clone(&table.schema))
        });
        let prepared = Prepared { command: command(&sql)?, sql, types, promised: None };
        self.state.prepare(name, prepared)?;
        self.connection.output.empty(b'1');
        Ok(())
    }

    fn bind(&mut self, bind: Bind) -> Result<(), Trouble> {
        let prepared = Arc::clone(self.state.statement(&bind.statement)?);
        if bind.values.len() != prepared.types.len() {
            let message = format!(
                "bind message supplies {} parameters, but prepared statement {:?} requires {}",
                bind.values.len(),
                bind.statement,
                prepared.types.len()
            );
            return Err(Failure::new("08P01", message).into());
        }
        let mut values = Vec::with_capacity(bind.values.len());
        for (index, (value, oid)) in bind.values.iter().zip(&prepared.types).enumerate() {
            let format = format_of(&bind.formats, index).ok_or_else(|| {
                Failure::new("08P01", "bind message has another number of formats than values")
            })?;
            values.push(literal(*oid, format, value.as_ref(), index)?);
        }
        let portal = Portal { prepared, values, formats: bind.result_formats, rows: None };
        self.state.open(bind.portal, portal)?;
        self.connection.output.empty(b'2');
        Ok(())
    }

    /// Sends the types of parameters and columns. The columns are promised: later answers have
    /// these types.
    async fn describe_statement(&mut self, name: &str) -> Result<(), Trouble> {
        let prepared = Arc::clone(self.state.statement(name)?);
        self.connection.output.parameter_description(&prepared.types);
        let fields = self.fields_in_advance(&prepared).await?;
        let Some(fields) = fields else {
            self.connection.output.empty(b'n');
            return Ok(());
        };
        self.connection.output.row_description(&fields, |_| Format::Text);
        let promised = fields.iter().map(|field| field.column_type).collect();
        let promised = Prepared { promised: Some(promised), ..Prepared::clone(&prepared) };
        self.state.statements.insert(name.to_owned(), Arc::new(promised));
        Ok(())
    }

    /// The columns of a statement's answer before it is run; `None` for a statement without rows.
    async fn fields_in_advance(
        &mut self,
        prepared: &Prepared,
    ) -> Result<Option<Vec<Field>>, Trouble> {
        match prepared.command {
            _ if prepared.sql.is_empty() => Ok(None),
            Command::Query => self.query_fields(prepared).await.map(Some),
            // They read nothing but the catalog.
            Command::Show(_) | Command::Catalog => {
                let values: Vec<Literal> = prepared.types.iter().map(|_| Literal::Null).collect();
                let statement = Statement {
                    sql: &prepared.sql,
                    command: &prepared.command,
                    values: &values,
                    promised: None,
                };
                match self.execute(statement).await? {
                    Answer::Rows(rows) => Ok(Some(rows.fields)),
                    Answer::Done(_) => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    /// The columns of a query. Its parameters have no values yet, so examples take their places,
    /// until one fits.
    async fn query_fields(&self, prepared: &Prepared) -> Result<Vec<Field>, Trouble> {
        let mut first_error = None;
        for text in EXAMPLES {
            let values = prepared.types.iter().map(|oid| example(*oid, text)).collect();
            let request = request(&self.state.settings, &prepared.sql, values);
            match self.door.frontend.columns(&self.state.principal, &request).await {
                Ok(columns) => {
                    let field = |column: hadal_frontend::OutputColumn| Field {
                        column_type: ColumnType::in_advance(column.value_type, column.numbers),
                        name: column.name,
                    };
                    return Ok(columns.into_iter().map(field).collect());
                }
                Err(error) => first_error = first_error.or(Some(Failure::from(error))),
            }
            if prepared.types.is_empty() {
                break;
            }
        }
        Err(first_error.unwrap_or_else(|| Failure::new("XX000", "no example")).into())
    }

    /// Sends the columns of a portal's answer. A query is run for that: its numbers decide their
    /// types.
    async fn describe_portal(&mut self, name: &str) -> Result<(), Trouble> {
        let mut portal = self.take_portal(name)?;
        let has_rows =
            matches!(portal.prepared.command, Command::Query | Command::Catalog | Command::Show(_));
        if has_rows && !portal.prepared.sql.is_empty() && portal.rows.is_none() {
            match self.execute(portal.statement()).await? {
                Answer::Rows(rows) => portal.rows = Some(rows),
                Answer::Done(_) => {}
            }
        }
        match &portal.rows {
            Some(rows) => {
                check_formats(&portal.formats, rows.fields.len())?;
                let format = |index| format_of(&portal.formats, index).unwrap_or(Format::Text);
                self.connection.output.row_description(&rows.fields, format);
            }
            None => self.connection.output.empty(b'n'),
        }
        self.state.portals.insert(name.to_owned(), portal);
        Ok(())
    }

    /// Runs a portal, or sends the next rows of its answer.
    async fn run_portal(&mut self, name: &str, most: usize) -> Result<(), Trouble> {
        let mut portal = self.take_portal(name)?;
        if portal.prepared.sql.is_empty() {
            self.connection.output.empty(b'I');
            self.state.portals.insert(name.to_owned(), portal);
            return Ok(());
        }
        let rows = match portal.rows.take() {
            Some(rows) => Some(rows),
            None => match self.execute(portal.statement()).await? {
                Answer::Rows(rows) => Some(rows),
                Answer::Done(tag) => {
                    self.complete(&tag);
                    None
                }
            },
        };
        if let Some(mut rows) = rows {
            check_formats(&portal.formats, rows.fields.len())?;
            self.send_rows(&mut rows, &portal.formats, most).await?;
            portal.rows = Some(rows);
            self.state.portals.insert(name.to_owned(), portal);
        }
        Ok(())
    }

    fn take_portal(&mut self, name: &str) -> Result<Portal, Failure> {
        self.state.portals.remove(name).ok_or_else(|| unknown_portal(name))
    }
}

impl Portal {
    fn statement(&self) -> Statement<'_> {
        Statement {
            sql: &self.prepared.sql,
            command: &self.prepared.command,
            values: &self.values,
            promised: self.prepared.promised.as_deref(),
        }
    }
}

fn check_formats(formats: &[Format], columns: usize) -> Result<(), Failure> {
    match formats.len() <= 1 || formats.len() == columns {
        true => Ok(()),
        false => {
            let message = format!(
                "bind message has {} result formats but query has {columns} columns",
                formats.len()
            );
            Err(Failure::new("08P01", message))
        }
    }
}

/// The number of a statement's parameters: the largest number of one.
fn parameter_count(sql: &str) -> Result<usize, Failure> {
    let mut count = 0;
    for lexeme in Lexer::new(sql) {
        let lexeme = lexeme?;
        let Token::Parameter(number) = lexeme.token else { continue };
        if number == 0 || number > PG_PARAMETERS_MAX {
            let message = format!("parameters are $1 to ${PG_PARAMETERS_MAX}");
            return Err(Failure::new("54000", message).at(lexeme.from));
        }
        count = count.max(number);
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_counted_by_their_largest_number() {
        assert_eq!(parameter_count("SELECT $2, '$9' -- $7").expect("a count"), 2);
        assert_eq!(parameter_count("SELECT 1").expect("a count"), 0);
        let most = format!("SELECT ${PG_PARAMETERS_MAX}");
        assert_eq!(parameter_count(&most).expect("a count"), PG_PARAMETERS_MAX);
        for text in ["SELECT $0", "SELECT $99999999999999999999"] {
            assert_eq!(parameter_count(text).expect_err("refused").sqlstate, "54000");
        }
        let beyond = format!("SELECT ${}", PG_PARAMETERS_MAX + 1);
        assert_eq!(parameter_count(&beyond).expect_err("refused").offset, Some(7));
    }

    #[test]
    fn formats_are_for_one_column_or_for_all() {
        let text = Format::Text;
        assert!(check_formats(&[], 3).is_ok());
        assert!(check_formats(&[text], 3).is_ok());
        assert!(check_formats(&[text; 3], 3).is_ok());
        assert!(check_formats(&[text; 2], 3).is_err());
    }
}
