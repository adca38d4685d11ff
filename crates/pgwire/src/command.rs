//! Finds what kind of statement a text is, and reads session commands. Queries stay texts.

use crate::failure::Failure;
use crate::lexer::{Lexeme, Lexer, Token};

/// A statement, as far as the door distinguishes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// A query of data: SELECT, SHOW TABLES, DESCRIBE, SUMMARIZE, and whatever else the query
    /// language understands or refuses.
    Query,
    /// A query of the catalog.
    Catalog,
    /// SET name TO value; `None` is the default.
    Set(String, Option<String>),
    /// RESET name; `None` is ALL.
    Reset(Option<String>),
    /// SHOW name; `all` is ALL.
    Show(String),
    /// BEGIN, COMMIT and the like.
    Transaction(Transaction),
    /// DISCARD ALL.
    DiscardAll,
    /// DEALLOCATE name; `None` is ALL.
    Deallocate(Option<String>),
    /// A command without effect here, and its tag.
    Nothing(&'static str),
    /// INSERT INTO.
    Insert,
    /// COPY.
    Copy,
    /// DROP TABLE.
    DropTable,
}

/// A command about transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transaction {
    Begin,
    Commit,
    Rollback,
    /// SAVEPOINT, RELEASE, and ROLLBACK TO, with their tags.
    Savepoint(&'static str),
}

/// Functions and key words that a query without FROM asks of the catalog. Names that begin with
/// `pg_` and `has_` belong to them, too.
const CATALOG_FUNCTIONS: [&str; 20] = [
    "version",
    "current_schema",
    "current_schemas",
    "current_database",
    "current_catalog",
    "current_user",
    "current_role",
    "session_user",
    "user",
    "set_config",
    "current_setting",
    "obj_description",
    "col_description",
    "shobj_description",
    "format_type",
    "quote_ident",
    "inet_server_addr",
    "inet_server_port",
    "txid_current",
    "to_regclass",
];

/// Returns what kind of statement `text` is, which has at least one token.
///
/// # Errors
/// A session command that cannot be read.
pub(crate) fn command(text: &str) -> Result<Command, Failure> {
    let mut words = Lexer::new(text);
    let Some(first) = words.next().transpose()? else { return Ok(Command::Query) };
    let Token::Word(word) = first.token else { return Ok(Command::Query) };
    let mut rest = Words(words);
    Ok(match word.to_ascii_lowercase().as_str() {
        "select" | "with" | "values" | "table" => match asks_catalog(text)? {
            true => Command::Catalog,
            false => Command::Query,
        },
        "set" => set(&mut rest)?,
        "show" => show(&mut rest)?,
        "reset" => match rest.setting()?.as_str() {
            "all" => Command::Reset(None),
            name => Command::Reset(Some(name.to_owned())),
        },
        "begin" | "start" => Command::Transaction(Transaction::Begin),
        "commit" | "end" => Command::Transaction(Transaction::Commit),
        "abort" => Command::Transaction(Transaction::Rollback),
        "rollback" => match rest.has_word("to")? {
            true => Command::Transaction(Transaction::Savepoint("ROLLBACK")),
            false => Command::Transaction(Transaction::Rollback),
        },
        "savepoint" => Command::Transaction(Transaction::Savepoint("SAVEPOINT")),
        "release" => Command::Transaction(Transaction::Savepoint("RELEASE")),
        "discard" => match rest.has_word("all")? {
            true => Command::DiscardAll,
            false => Command::Nothing("DISCARD"),
        },
        "deallocate" => deallocate(&mut rest)?,
        "unlisten" => Command::Nothing("UNLISTEN"),
        "close" => Command::Nothing("CLOSE CURSOR"),
        "insert" => Command::Insert,
        "copy" => Command::Copy,
        "drop" if rest.has_word("table")? => Command::DropTable,
        "declare" | "fetch" | "move" => {
            return Err(Failure::unsupported("there are no cursors in SQL")
                .hint("use LIMIT, or the row limit of your client library's portals"));
        }
        "prepare" | "execute" => {
            return Err(Failure::unsupported("there are no prepared statements in SQL")
                .hint("use those of your client library, which go over the protocol"));
        }
        "listen" | "notify" => {
            return Err(Failure::unsupported("there are no notifications"));
        }
        _ => Command::Query,
    })
}

/// Whether a SELECT asks the catalog: it reads a table of it, or no table and calls a function of
/// it.
fn asks_catalog(text: &str) -> Result<bool, Failure> {
    let lexemes: Vec<Lexeme<'_>> = Lexer::new(text).collect::<Result<_, _>>()?;
    let mut has_from = false;
    let mut calls_catalog = false;
    for (index, lexeme) in lexemes.iter().enumerate() {
        let Some(name) = lexeme.name() else { continue };
        let is_qualified = index > 0 && lexemes[index - 1].is(".");
        let is_schema = lexemes.get(index + 1).is_some_and(|next| next.is("."));
        let follows_table_word =
            index > 0 && ["from", "join", ","].iter().any(|word| lexemes[index - 1].is(word));
        if is_schema && (name == "information_schema" || name == "pg_catalog") {
            return Ok(true);
        }
        if follows_table_word && has_from && name.starts_with("pg_") && !is_schema {
            return Ok(true);
        }
        has_from |= matches!(lexeme.token, Token::Word(_)) && name == "from" && !is_qualified;
        if has_from && follows_table_word && name.starts_with("pg_") {
            return Ok(true);
        }
        let is_function = name.starts_with("pg_")
            || name.starts_with("has_")
            || CATALOG_FUNCTIONS.contains(&name.as_str());
        calls_catalog |= is_function && !is_qualified;
    }
    Ok(calls_catalog && !has_from)
}

/// The words after the first one.
struct Words<'t>(Lexer<'t>);

impl<'t> Words<'t> {
    fn next(&mut self) -> Result<Option<Lexeme<'t>>, Failure> {
        Ok(self.0.next().transpose()?)
    }

    fn peek(&self) -> Result<Option<Lexeme<'t>>, Failure> {
        Ok(self.0.clone().next().transpose()?)
    }

    /// Skips the next token if it is this word or symbol; returns whether it was.
    fn skip(&mut self, word: &str) -> Result<bool, Failure> {
        let is_next = self.peek()?.is_some_and(|lexeme| lexeme.is(word));
        if is_next {
            self.next()?;
        }
        Ok(is_next)
    }

    /// Whether the word is anywhere in the rest.
    fn has_word(&self, word: &str) -> Result<bool, Failure> {
        for lexeme in self.0.clone() {
            if lexeme?.is(word) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The name of a setting, which may have dots, in lower case.
    fn setting(&mut self) -> Result<String, Failure> {
        let mut name = self.name()?;
        while self.skip(".")? {
            name.push('.');
            name.push_str(&self.name()?);
        }
        Ok(name.to_ascii_lowercase())
    }

    fn name(&mut self) -> Result<String, Failure> {
        let lexeme = self.next()?;
        lexeme.and_then(|lexeme| lexeme.name()).ok_or_else(|| {
            Failure::new("42601", "the name of a setting is missing").hint("SET name TO value")
        })
    }

    /// The values up to the end of the statement, joined by commas; `None` is DEFAULT.
    fn values(&mut self) -> Result<Option<String>, Failure> {
        let mut values: Vec<String> = Vec::new();
        let mut sign = "";
        while let Some(lexeme) = self.next()? {
            match lexeme.token {
                Token::Word(word) if word.eq_ignore_ascii_case("default") => return Ok(None),
                Token::Word(word) => values.push(word.to_owned()),
                Token::Number(number) => {
                    values.push(format!("{sign}{number}"));
                    sign = "";
                }
                Token::Text(text) | Token::Name(text) => values.push(text.into_owned()),
                Token::Symbol(",") => {}
                Token::Symbol("-") => sign = "-",
                Token::Symbol(_) | Token::Parameter(_) => {
                    return Err(Failure::syntax("SET takes constants", lexeme.from));
                }
            }
        }
        match values.is_empty() {
            true => Err(Failure::new("42601", "SET names no value").hint("SET name TO value")),
            false => Ok(Some(values.join(", "))),
        }
    }
}

fn set(words: &mut Words<'_>) -> Result<Command, Failure> {
    if !words.skip("session")? {
        words.skip("local")?;
    }
    if words.skip("time")? {
        words.skip("zone")?;
        let zone = words.values()?.filter(|zone| !zone.eq_ignore_ascii_case("local"));
        return Ok(Command::Set("timezone".to_owned(), zone));
    }
    // SET SESSION CHARACTERISTICS, SET TRANSACTION: there is one way in which queries read.
    if words.peek()?.is_some_and(|next| {
        ["characteristics", "transaction", "constraints"].iter().any(|word| next.is(word))
    }) {
        return Ok(Command::Nothing("SET"));
    }
    let name = words.setting()?;
    // SET NAMES 'utf8' and SET ROLE me have no sign of equality.
    match name.as_str() {
        "names" => return Ok(Command::Set("client_encoding".to_owned(), words.values()?)),
        "role" | "authorization" => return Ok(Command::Nothing("SET")),
        _ => {}
    }
    if !words.skip("to")? && !words.skip("=")? {
        return Err(Failure::new("42601", format!("SET {name} lacks its value"))
            .hint(format!("SET {name} TO value")));
    }
    Ok(Command::Set(name, words.values()?))
}

fn show(words: &mut Words<'_>) -> Result<Command, Failure> {
    if words.peek()?.is_some_and(|next| next.is("tables")) {
        return Ok(Command::Query);
    }
    if words.skip("time")? {
        return Ok(Command::Show("timezone".to_owned()));
    }
    if words.skip("transaction")? {
        return Ok(Command::Show("transaction_isolation".to_owned()));
    }
    Ok(Command::Show(words.setting()?))
}

fn deallocate(words: &mut Words<'_>) -> Result<Command, Failure> {
    words.skip("prepare")?;
    let is_all = words.peek()?.is_some_and(|next| next.is("all"));
    Ok(Command::Deallocate(if is_all { None } else { Some(words.name()?) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Command {
        command(text).expect("a command")
    }

    fn set_to(name: &str, value: &str) -> Command {
        Command::Set(name.to_owned(), Some(value.to_owned()))
    }

    #[test]
    fn session_commands_are_read() {
        assert_eq!(of("SET application_name = 'a b'"), set_to("application_name", "a b"));
        assert_eq!(
            of("set session statement_timeout to 5000"),
            set_to("statement_timeout", "5000")
        );
        assert_eq!(of("SET hadal.require_complete TO on"), set_to("hadal.require_complete", "on"));
        assert_eq!(of("SET TIME ZONE 'Europe/Berlin'"), set_to("timezone", "Europe/Berlin"));
        assert_eq!(of("SET TIME ZONE LOCAL"), Command::Set("timezone".to_owned(), None));
        assert_eq!(of("SET DateStyle = ISO, MDY"), set_to("datestyle", "ISO, MDY"));
        assert_eq!(of("SET extra_float_digits = -3"), set_to("extra_float_digits", "-3"));
        assert_eq!(of("SET NAMES 'UTF8'"), set_to("client_encoding", "UTF8"));
        let characteristics = "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY";
        assert_eq!(of(characteristics), Command::Nothing("SET"));
        assert_eq!(of("SHOW server_version"), Command::Show("server_version".to_owned()));
        assert_eq!(of("SHOW tables"), Command::Query);
        assert_eq!(of("RESET ALL"), Command::Reset(None));
        assert_eq!(of("DEALLOCATE ALL"), Command::Deallocate(None));
        assert_eq!(of("DISCARD ALL"), Command::DiscardAll);
        assert!(command("SET x").expect_err("refused").hint.is_some());
        assert!(command("SET x TO (1)").is_err());
    }

    #[test]
    fn transactions_are_read() {
        assert_eq!(
            of("BEGIN ISOLATION LEVEL SERIALIZABLE"),
            Command::Transaction(Transaction::Begin)
        );
        assert_eq!(of("rollback"), Command::Transaction(Transaction::Rollback));
        let back = Command::Transaction(Transaction::Savepoint("ROLLBACK"));
        assert_eq!(of("ROLLBACK TO SAVEPOINT x"), back);
    }

    #[test]
    fn queries_of_the_catalog_are_told_from_queries_of_data() {
        for text in [
            "SELECT version()",
            "select pg_catalog.version()",
            "SELECT current_schema()",
            "SELECT * FROM pg_catalog.pg_class c",
            "SELECT 1 FROM pg_type WHERE true",
            "select table_name from information_schema.tables",
            "SELECT a FROM b JOIN pg_class ON true",
            "SELECT pg_backend_pid()",
        ] {
            assert_eq!(of(text), Command::Catalog, "{text}");
        }
        for text in [
            "SELECT 1",
            "SELECT now()",
            "SELECT count(*) FROM requests",
            "SELECT version FROM requests",
            "SELECT user FROM requests",
            "SELECT 'pg_class' FROM requests",
            "SELECT pg_version FROM requests",
            "EXPLAIN SELECT 1",
            "(SELECT 1)",
        ] {
            assert_eq!(of(text), Command::Query, "{text}");
        }
    }
}
