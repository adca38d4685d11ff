//! Rewrites a query of the catalog from PostgreSQL's SQL to SQLite's, token by token.
//!
//! | PostgreSQL | here |
//! |---|---|
//! | `pg_catalog.x` | `x` |
//! | `OPERATOR(pg_catalog.~)`, `~`, `!~`, `~*` | `REGEXP`, `NOT REGEXP`, with `(?i)` |
//! | `x = ANY (…)`, `x <> ALL (…)` | `x MATCH (…)`, `x NOT MATCH (…)`, which are functions here |
//! | `ARRAY[a, b]`, `ARRAY(SELECT …)`, `x[1]` | `pg_array(a, b)`, `(SELECT …)`, `pg_element(x, 1)` |
//! | `'t'::regclass`, `c.oid::regclass` | `to_regclass('t')`, `regclass_name(c.oid)` |
//! | `x::type`, `COLLATE name` | `x` |
//! | `(x).field` | `pg_field(x, 'field')`, which is null |
//! | `FROM string_to_array(a, b) s` | `FROM (SELECT string_to_array(a, b) AS s) s` |
//! | `current_user`, `current_schema` … | calls of functions |
//! | `$1` | `?1` |

use crate::failure::Failure;
use crate::lexer::{Lexeme, Lexer, Token};

/// Words that are calls without parentheses.
const CALLS: [&str; 8] = [
    "current_user",
    "current_role",
    "current_schema",
    "current_catalog",
    "session_user",
    "user",
    "current_database",
    "version",
];

/// Rewrites a query.
///
/// # Errors
/// A token without an end.
pub(super) fn rewrite(sql: &str) -> Result<String, Failure> {
    let lexemes: Vec<Lexeme<'_>> = Lexer::new(sql).collect::<Result<_, _>>()?;
    let mut rewriter = Rewriter { lexemes: &lexemes, at: 0, pieces: Vec::new() };
    while rewriter.at < lexemes.len() {
        rewriter.step();
    }
    Ok(rewriter.pieces.join(" "))
}

struct Rewriter<'r> {
    lexemes: &'r [Lexeme<'r>],
    at: usize,
    pieces: Vec<String>,
}

impl Rewriter<'_> {
    fn is(&self, distance: usize, word: &str) -> bool {
        self.lexemes.get(self.at + distance).is_some_and(|lexeme| lexeme.is(word))
    }

    fn push(&mut self, piece: impl Into<String>, tokens: usize) {
        self.pieces.push(piece.into());
        self.at += tokens;
    }

    /// Rewrites the next token, and those that belong to it.
    fn step(&mut self) {
        let lexeme = &self.lexemes[self.at];
        match &lexeme.token {
            Token::Word(word) => self.word(&word.to_ascii_lowercase(), word),
            Token::Name(name) if self.is(1, ".") && name == "pg_catalog" => self.at += 2,
            Token::Name(name) => self.push(format!("\"{}\"", name.replace('"', "\"\"")), 1),
            Token::Text(text) => self.push(format!("'{}'", text.replace('\'', "''")), 1),
            Token::Number(number) => self.push(*number, 1),
            Token::Parameter(number) => self.push(format!("?{number}"), 1),
            Token::Symbol(symbol) => self.symbol(symbol),
        }
    }

    fn word(&mut self, lower: &str, word: &str) {
        let is_name = self.at > 0
            && (self.lexemes[self.at - 1].is(".") || self.lexemes[self.at - 1].is("as"));
        match lower {
            "pg_catalog" if self.is(1, ".") => self.at += 2,
            // Functions and types of that schema, but not its tables.
            "information_schema" if self.is(1, ".") && self.is(3, "(") => self.at += 2,
            "operator" if self.is(1, "(") => {
                let end = (2..6).find(|distance| self.is(*distance, ")"));
                let operator = end.and_then(|end| self.lexemes.get(self.at + end - 1));
                match (end, operator.map(|lexeme| &lexeme.token)) {
                    (Some(end), Some(Token::Symbol(symbol))) => {
                        let symbol = (*symbol).to_owned();
                        self.at += end;
                        self.symbol(&symbol);
                    }
                    _ => self.push(word, 1),
                }
            }
            "collate" => {
                self.at += 2;
                while self.is(0, ".") {
                    self.at += 2;
                }
            }
            "array" if self.is(1, "[") => {
                self.push("pg_array (", 2);
            }
            "array" if self.is(1, "(") => self.at += 1,
            "ilike" => self.push("LIKE", 1),
            "lateral" => self.at += 1,
            "array_agg" if self.is(1, "(") => self.push("group_concat", 1),
            "string_to_array" if self.is(1, "(") && self.is_in_from() => self.array_in_from(word),
            _ if CALLS.contains(&lower) && !self.is(1, "(") && !self.is(1, ".") && !is_name => {
                self.push(format!("{lower} ()"), 1);
            }
            _ => self.push(word, 1),
        }
    }

    fn symbol(&mut self, symbol: &str) {
        match symbol {
            "::" => self.cast(),
            "~" => self.push("REGEXP", 1),
            "!~" => self.push("NOT REGEXP", 1),
            "~*" => self.push("REGEXP '(?i)' ||", 1),
            "!~*" => self.push("NOT REGEXP '(?i)' ||", 1),
            "~~" | "~~*" => self.push("LIKE", 1),
            "!~~" | "!~~*" => self.push("NOT LIKE", 1),
            "=" if (self.is(1, "any") || self.is(1, "some")) && self.is(2, "(") => {
                let operator = if self.is(3, "select") { "IN" } else { "MATCH" };
                self.push(operator, 2);
            }
            "<>" | "!=" if self.is(1, "all") && self.is(2, "(") => {
                let operator = if self.is(3, "select") { "NOT IN" } else { "NOT MATCH" };
                self.push(operator, 2);
            }
            // A field of a composite value, which nothing here has.
            "." if self.at > 0 && self.lexemes[self.at - 1].is(")") => {
                let start = self.operand_start();
                self.pieces.insert(start, "pg_field (".to_owned());
                let field = self.lexemes.get(self.at + 1).and_then(Lexeme::name);
                self.push(format!(", '{}' )", field.unwrap_or_default().replace('\'', "''")), 2);
            }
            // An element of an array.
            "[" => {
                let start = self.operand_start();
                self.pieces.insert(start, "pg_element (".to_owned());
                self.push(",", 1);
            }
            // The alias of `generate_series` stands for its only column, which is `value` here.
            "]" if self.is_alias_of_series() => self.push(". value )", 1),
            "]" => self.push(")", 1),
            other => self.push(other, 1),
        }
    }

    /// Whether the token before is FROM or a comma.
    fn is_in_from(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.lexemes.get(at));
        before.is_some_and(|before| before.is("from") || before.is(","))
    }

    /// Makes `f(…) AS s`, an array in FROM, a query of one row with a column of that name.
    fn array_in_from(&mut self, function: &str) {
        let mut depth = 0_usize;
        let end = self.lexemes.iter().enumerate().skip(self.at + 1).find(|(_, lexeme)| {
            if lexeme.is("(") {
                depth += 1;
            } else if lexeme.is(")") {
                depth = depth.saturating_sub(1);
            }
            depth == 0
        });
        let alias = end.and_then(|(end, _)| {
            let named = if self.lexemes.get(end + 1)?.is("as") { end + 2 } else { end + 1 };
            Some((end, self.lexemes.get(named)?.name()?))
        });
        let Some((end, alias)) = alias else { return self.push(function, 1) };
        self.push(format!("( SELECT {function}"), 1);
        while self.at <= end {
            self.step();
        }
        self.pieces.push(format!("AS \"{}\" )", alias.replace('"', "\"\"")));
    }

    /// Whether the token before is the alias of a call of `generate_series`.
    fn is_alias_of_series(&self) -> bool {
        let Some(alias) = self.at.checked_sub(1).and_then(|at| self.lexemes.get(at)) else {
            return false;
        };
        let has_series = self.lexemes.iter().any(|lexeme| lexeme.is("generate_series"));
        let plain = |two: &[Lexeme<'_>]| two[0].is(")") && two[1].token == alias.token;
        let with_as = |three: &[Lexeme<'_>]| {
            three[0].is(")") && three[1].is("as") && three[2].token == alias.token
        };
        has_series
            && alias.name().is_some()
            && (self.lexemes.windows(2).any(plain) || self.lexemes.windows(3).any(with_as))
    }

    /// Leaves out a cast. One to a name of an object becomes a call.
    fn cast(&mut self) {
        self.at += 1;
        let mut cast_type = self.type_name();
        // The last of several casts decides how the value is shown.
        while self.is(0, "::") {
            self.at += 1;
            let next = self.type_name();
            if next == "oid" {
                cast_type.push_str("_oid");
            }
        }
        let is_text = self.pieces.last().is_some_and(|piece| piece.starts_with('\''));
        let function = match (cast_type.as_str(), is_text) {
            ("regclass" | "regclass_oid", true) => "to_regclass",
            ("regnamespace" | "regnamespace_oid", true) => "to_regnamespace",
            ("regtype" | "regtype_oid", true) => "to_regtype",
            ("regclass", false) => "regclass_name",
            ("regnamespace", false) => "regnamespace_name",
            ("regtype", false) => "regtype_name",
            ("regrole", false) => "pg_get_userbyid",
            _ => return,
        };
        let start = self.operand_start();
        self.pieces.insert(start, format!("{function} ("));
        self.pieces.push(")".to_owned());
    }

    /// Skips the name of a type, and returns its last part in lower case.
    fn type_name(&mut self) -> String {
        let mut name = String::new();
        while let Some(part) = self.lexemes.get(self.at).and_then(Lexeme::name) {
            name = part.to_ascii_lowercase();
            self.at += 1;
            match self.is(0, ".") {
                true => self.at += 1,
                false => break,
            }
        }
        let words = [["double", "precision"], ["character", "varying"]];
        if words.iter().any(|[first, second]| *first == name && self.is(0, second)) {
            self.at += 1;
        }
        if (name == "timestamp" || name == "time") && (self.is(0, "with") || self.is(0, "without"))
        {
            self.at += 3;
        }
        if self.is(0, "(") {
            while self.at < self.lexemes.len() && !self.is(0, ")") {
                self.at += 1;
            }
            self.at += 1;
        }
        while self.is(0, "[") && self.is(1, "]") {
            self.at += 2;
        }
        name
    }

    /// The first piece of the operand that ends with the last piece: a name with its qualifiers, a
    /// constant, or parentheses with the function before them.
    fn operand_start(&self) -> usize {
        let piece = |index: usize| self.pieces.get(index).map_or("", String::as_str);
        let is_name = |index: usize| {
            piece(index).starts_with(|c: char| c.is_alphabetic() || "_\"".contains(c))
        };
        let mut start = self.pieces.len().saturating_sub(1);
        if piece(start) == ")" {
            let mut depth = 0_usize;
            loop {
                match piece(start) {
                    ")" => depth += 1,
                    text if text.ends_with('(') => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth == 0 || start == 0 {
                    break;
                }
                start -= 1;
            }
            if piece(start) == "(" && start > 0 && is_name(start - 1) {
                start -= 1;
            }
        }
        while start >= 2 && piece(start - 1) == "." && is_name(start - 2) {
            start -= 2;
        }
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_postgresql_spells_differently_is_rewritten() {
        for (sql, expected) in [
            ("SELECT pg_catalog.version()", "SELECT version ( )"),
            ("n OPERATOR(pg_catalog.~) '^(t)$' COLLATE pg_catalog.default", "n REGEXP '^(t)$'"),
            ("a !~ 'x' AND b ~* 'y'", "a NOT REGEXP 'x' AND b REGEXP '(?i)' || 'y'"),
            ("k = ANY (ARRAY['r','v'])", "k MATCH ( pg_array ( 'r' , 'v' ) )"),
            ("a.b[s] = 1", "pg_element ( a . b , s ) = 1"),
            (
                "a[s] FROM generate_series(0, 1) s",
                "pg_element ( a , s . value ) FROM generate_series ( 0 , 1 ) s",
            ),
            (
                "trim(s[i]) FROM generate_series(1, 2) as i, string_to_array(x, ',') s",
                "trim ( pg_element ( s , i . value ) ) FROM generate_series ( 1 , 2 ) as i , \
                 ( SELECT string_to_array ( x , ',' ) AS \"s\" ) s",
            ),
            ("(result.keys).n = 1", "pg_field ( ( result . keys ) , 'n' ) = 1"),
            ("k = any (select 1)", "k IN ( select 1 )"),
            ("k <> ALL ($1)", "k NOT MATCH ( ?1 )"),
            ("'t'::regclass", "to_regclass ( 't' )"),
            ("'t'::pg_catalog.regclass::oid", "to_regclass ( 't' )"),
            ("c.oid::pg_catalog.regclass", "regclass_name ( c . oid )"),
            ("c.oid::regclass::text", "regclass_name ( c . oid )"),
            ("f(x, (y))::regtype", "regtype_name ( f ( x , ( y ) ) )"),
            ("a::pg_catalog.int2[] || b::numeric(1, 2)", "a || b"),
            ("x::timestamp with time zone = y", "x = y"),
            ("n = current_schema", "n = current_schema ()"),
            ("current_schema() AS user", "current_schema ( ) AS user"),
            ("information_schema._pg_truetypid(a)", "_pg_truetypid ( a )"),
            ("information_schema.tables t", "information_schema . tables t"),
            ("E'it\\'s' \"a\"", "'it''s' \"a\""),
        ] {
            assert_eq!(rewrite(sql).expect("rewritten"), expected, "{sql}");
        }
    }

    #[test]
    fn odd_texts_are_rewritten_to_something() {
        for sql in ["::", "x::", "COLLATE", "OPERATOR(", "]", "ARRAY[", "x::a.", "x::t(", "'a'::"] {
            let _ = rewrite(sql).expect("no end is missing");
        }
        assert!(rewrite("'a").is_err());
    }
}
