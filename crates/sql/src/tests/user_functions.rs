//! Calls and definitions of user functions.

use std::sync::Arc;

use hadal_query::{Expr, Function, QueryKind, ScalarUdf, Type, UdfError};
use hadal_types::{FunctionDefinition, FunctionType, TableName, TableSchema, Value};

use super::catalog::{NOW, Tables};
use crate::{Catalog, Context, SqlError, Statement, UnknownColumns, lower, parse};

#[derive(Debug)]
struct Defined(Arc<FunctionDefinition>);

impl ScalarUdf for Defined {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn call(&self, _: &[Value]) -> Result<Value, UdfError> {
        Ok(Value::Null)
    }

    fn definition(&self) -> Option<&Arc<FunctionDefinition>> {
        Some(&self.0)
    }
}

/// Tables, and one function.
struct WithFunction(Tables, Arc<FunctionDefinition>);

impl Catalog for WithFunction {
    fn table(&self, name: &str) -> Option<Arc<TableSchema>> {
        self.0.table(name)
    }

    fn table_names(&self) -> Vec<TableName> {
        self.0.table_names()
    }

    fn function(&self, name: &str) -> Option<Arc<dyn ScalarUdf>> {
        (name == self.1.name).then(|| Arc::new(Defined(Arc::clone(&self.1))) as _)
    }
}

fn created(sql: &str) -> Result<FunctionDefinition, SqlError> {
    let catalog = Tables::new();
    let context = Context { catalog: &catalog, now: NOW, unknown_columns: UnknownColumns::Error };
    match lower(sql, &context)? {
        Statement::CreateFunction { definition, .. } => Ok(*definition),
        other => panic!("{other:?}"),
    }
}

const SLOW: &str =
    "CREATE FUNCTION slow(ms number, who string) RETURNS bool LANGUAGE js AS $$ return ms > 9 $$";

fn bound(sql: &str) -> Result<Statement, SqlError> {
    let catalog = WithFunction(Tables::new(), Arc::new(created(SLOW).expect("a definition")));
    let context = Context { catalog: &catalog, now: NOW, unknown_columns: UnknownColumns::Error };
    lower(sql, &context)
}

#[test]
fn a_definition_is_read() {
    let definition = created(SLOW).expect("a definition");
    assert_eq!(definition.name, "slow");
    assert_eq!(definition.returns, FunctionType::Bool);
    assert_eq!(definition.source, " return ms > 9 ");
    let names: Vec<_> = definition.parameters.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["ms", "who"]);
    assert!(!definition.called_on_null);
    let other = created(
        "create or replace function F(\"aB\" double precision) called on null input \
         returns text as 'return aB' language javascript;",
    )
    .expect("a definition");
    assert_eq!((other.name.as_str(), other.called_on_null), ("f", true));
    assert_eq!(other.parameters[0].name, "aB");
}

#[test]
fn wrong_definitions_are_refused_with_a_place() {
    for (sql, reason) in [
        ("CREATE FUNCTION f() RETURNS number AS $$ 1 $$", "LANGUAGE js is missing"),
        ("CREATE FUNCTION f() LANGUAGE js AS $$ 1 $$", "RETURNS and a type is missing"),
        ("CREATE FUNCTION f() RETURNS number LANGUAGE js", "AS and the source is missing"),
        ("CREATE FUNCTION f() RETURNS number LANGUAGE lua AS $$ $$", "language lua"),
        ("CREATE FUNCTION f(a blob) RETURNS number LANGUAGE js AS $$ $$", "blob is none of"),
        ("CREATE FUNCTION f(a number RETURNS number", "unexpected RETURNS"),
        ("CREATE FUNCTION f", "the statement ends early"),
        ("CREATE TABLE t (a int)", "tables are not created"),
        ("DROP TABLE t", "tables are not dropped"),
    ] {
        let error = parse(sql).err().unwrap_or_else(|| panic!("{sql} is refused"));
        assert!(error.to_string().contains(reason), "{sql}: {error}");
    }
}

#[test]
fn a_drop_is_read() {
    for (sql, if_exists) in
        [("DROP FUNCTION f", false), ("drop function if exists F(number, string)", true)]
    {
        let expected = Statement::DropFunction { name: "f".to_owned(), if_exists };
        assert_eq!(bound(sql), Ok(expected));
    }
}

#[test]
fn a_call_carries_its_function() {
    let sql = "SELECT slow(latency, user) AS s, count(*) FROM requests \
               WHERE slow(latency, 'x') GROUP BY 1";
    let Ok(Statement::Query { query, .. }) = bound(sql) else { panic!("a query") };
    assert_eq!(query.functions.scalars().count(), 1);
    assert_eq!(query.outputs[0].value_type, Type::Bool);
    let QueryKind::Groups { keys, .. } = &query.kind else { panic!("groups") };
    assert!(matches!(&keys[0], Expr::Call { function: Function::User(_), arguments }
        if arguments.len() == 2));
}

#[test]
fn wrong_calls_are_refused() {
    for (sql, reason) in [
        ("SELECT slow(latency) FROM requests", "slow takes 2 arguments, not 1"),
        ("SELECT slow(user, user) FROM requests", "number"),
        ("SELECT fast(latency) FROM requests", "there is no function fast"),
    ] {
        let error = bound(sql).expect_err("refused").to_string();
        assert!(error.contains(reason), "{sql}: {error}");
    }
}
