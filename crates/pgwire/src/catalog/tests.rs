//! Queries of real clients, answered by the catalog of two tables.

use hadal_types::{ColumnName, ColumnPart, ColumnSchema, Kind, Logical, TableName};

use super::*;

fn schema(table: &str) -> Arc<TableSchema> {
    let name = |name: &str| ColumnName::new(name).expect("a name");
    let column = |column: &str, kind, logical| ColumnSchema {
        name: name(column),
        parts: vec![ColumnPart { kind, logical, rows: 1 }],
    };
    Arc::new(TableSchema {
        name: TableName::new(table).expect("a name"),
        time_column: name("time"),
        columns: vec![
            column("host", Kind::String, Logical::Plain),
            column("ok", Kind::Number, Logical::Bool),
            column("status", Kind::Number, Logical::Plain),
            column("tags", Kind::Set, Logical::Plain),
            column("time", Kind::Number, Logical::Time),
        ],
        rows: 7,
        time_range: None,
    })
}

fn ask(sql: &str, values: &[Literal]) -> Result<Vec<Vec<String>>, Failure> {
    let settings = [("timezone".to_owned(), "UTC".to_owned())].into();
    let facts = SessionFacts {
        user: "me".to_owned(),
        database: "db".to_owned(),
        process: 7,
        version: "PostgreSQL 16.4 (Hadal 1)".to_owned(),
        settings,
    };
    let connection = open(&[schema("requests"), schema("users")], facts).expect("a catalog");
    let values: Vec<Parameter> = values.iter().cloned().map(Parameter).collect();
    let rows = run(&connection, &rewrite::rewrite(sql)?, &values)?;
    let text = |row: &hadal_aggregate::SparseRow| row.iter().map(ToString::to_string).collect();
    Ok(rows.remaining().iter().map(text).collect())
}

#[track_caller]
fn rows(sql: &str) -> Vec<Vec<String>> {
    ask(sql, &[]).unwrap_or_else(|failure| panic!("{}: {sql}", failure.message))
}

#[test]
fn functions_know_the_session() {
    assert_eq!(rows("select pg_catalog.version()"), [["PostgreSQL 16.4 (Hadal 1)"]]);
    assert_eq!(
        rows("SELECT current_schema(), current_user, current_database()"),
        [["public", "me", "db"]]
    );
    assert_eq!(rows("SELECT pg_backend_pid()"), [["7"]]);
    assert_eq!(rows("SELECT current_setting('TimeZone')"), [["UTC"]]);
    assert_eq!(rows("SELECT set_config('search_path', '', false)"), [[""]]);
}

/// `\dt`, `\d requests` and `\l` of psql 15.
#[test]
fn psql_describes_tables() {
    let tables = rows(
        r#"SELECT n.nspname as "Schema", c.relname as "Name",
             CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' END as "Type",
             pg_catalog.pg_get_userbyid(c.relowner) as "Owner"
           FROM pg_catalog.pg_class c
             LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
             LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
           WHERE c.relkind IN ('r','p','')
             AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast'
             AND n.nspname <> 'information_schema'
             AND pg_catalog.pg_table_is_visible(c.oid)
           ORDER BY 1,2;"#,
    );
    assert_eq!(tables, [["public", "requests", "table", "me"], ["public", "users", "table", "me"]]);
    let named = rows(
        "SELECT c.oid, n.nspname, c.relname FROM pg_catalog.pg_class c
           LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relname OPERATOR(pg_catalog.~) '^(requests)$' COLLATE pg_catalog.default
           AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 2, 3;",
    );
    let oid = &named[0][0];
    let columns = rows(&format!(
        "SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
           (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true)
            FROM pg_catalog.pg_attrdef d
            WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef),
           a.attnotnull,
           (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t
            WHERE c.oid = a.attcollation AND t.oid = a.atttypid
              AND a.attcollation <> t.typcollation) AS attcollation,
           a.attidentity, a.attgenerated
         FROM pg_catalog.pg_attribute a
         WHERE a.attrelid = '{oid}' AND a.attnum > 0 AND NOT a.attisdropped
         ORDER BY a.attnum;"
    ));
    let types: Vec<(&str, &str)> =
        columns.iter().map(|row| (row[0].as_str(), row[1].as_str())).collect();
    assert_eq!(
        types,
        [
            ("time", "timestamp with time zone"),
            ("host", "text"),
            ("ok", "boolean"),
            ("status", "numeric"),
            ("tags", "text[]")
        ]
    );
    assert_eq!(columns[0][3], "false", "a bool");
    let parents = rows(&format!(
        "SELECT c.oid::pg_catalog.regclass FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i
         WHERE c.oid = i.inhparent AND i.inhrelid = '{oid}' AND c.relkind != 'p'
         ORDER BY inhseqno;"
    ));
    assert!(parents.is_empty());
    let databases = rows(
        r#"SELECT d.datname as "Name", pg_catalog.pg_get_userbyid(d.datdba) as "Owner",
             pg_catalog.pg_encoding_to_char(d.encoding) as "Encoding",
             pg_catalog.array_to_string(d.datacl, E'\n') AS "Access privileges"
           FROM pg_catalog.pg_database d ORDER BY 1;"#,
    );
    assert_eq!(databases, [["db", "me", "UTF8", "null"]]);
}

#[test]
fn names_and_numbers_of_tables_are_converted() {
    let both = "SELECT 'requests'::regclass::oid = c.oid, c.oid::regclass::text
                FROM pg_class c WHERE c.relname = 'requests'";
    assert_eq!(rows(both), [["1", "requests"]]);
    assert_eq!(rows("SELECT to_regclass('public.nope')"), [["null"]]);
    assert_eq!(rows("SELECT '\"users\"'::regclass IS NOT NULL"), [["1"]]);
}

#[test]
fn parameters_and_lists_are_compared() {
    let sql = "SELECT relname FROM pg_class WHERE relname = $1 AND relkind = ANY (ARRAY['r','v'])";
    let value = Literal::Text("users".to_owned());
    assert_eq!(ask(sql, &[value]).expect("rows"), [["users"]]);
    let sql = "SELECT count(*) FROM pg_class WHERE relname = ANY ($1)";
    let list = Literal::List(vec![Literal::Text("users".to_owned())]);
    assert_eq!(ask(sql, &[list]).expect("rows"), [["1"]]);
    assert_eq!(
        rows("SELECT count(*) FROM pg_namespace WHERE nspname = ANY (current_schemas(false))"),
        [["2"]]
    );
}

#[test]
fn the_information_schema_lists_columns() {
    let sql = "SELECT column_name, data_type, udt_name FROM information_schema.columns
               WHERE table_schema = 'public' AND table_name = 'users' ORDER BY ordinal_position";
    let columns = rows(sql);
    assert_eq!(columns[0], ["time", "timestamp with time zone", "timestamptz"]);
    assert_eq!(columns[4], ["tags", "ARRAY", "_text"]);
    let sql = "SELECT table_name FROM information_schema.tables WHERE quote_ident(table_schema) \
               IN ('public') ORDER BY table_name";
    assert_eq!(rows(sql), [["requests"], ["users"]]);
}

#[test]
fn what_is_not_there_is_named() {
    for (sql, sqlstate, word) in [
        ("SELECT * FROM pg_nope", "42P01", "pg_nope"),
        ("SELECT nope FROM pg_class", "42703", "nope"),
        ("SELECT pg_nope(1) FROM pg_class", "42883", "pg_nope"),
        ("SELECT (a).b FROM pg_class", "0A000", "not supported"),
    ] {
        let failure = ask(sql, &[]).expect_err("refused");
        assert_eq!(failure.sqlstate, sqlstate, "{}", failure.message);
        assert!(failure.message.contains(word) && failure.hint.is_some(), "{}", failure.message);
    }
    // The catalog is only read, and has no other file.
    for sql in ["WITH x AS (SELECT 1) DELETE FROM pg_class", "SELECT * FROM pg_class, x.y"] {
        assert!(ask(sql, &[]).is_err(), "{sql}");
    }
}

#[test]
fn a_query_of_too_many_rows_is_refused() {
    let failure = ask("SELECT 1 FROM generate_series(1, 200000)", &[]).expect_err("refused");
    assert_eq!(failure.sqlstate, "54000");
}
