//! User functions cross the wire by name; the receiver runs its own definitions.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use hadal_aggregate::{Group, Groups, Partial, PartialBody, State, UserState, WeightedCount};
use hadal_query::{
    AggregateId, AggregateUdf, Expr, Function, FunctionHost, FunctionId, FunctionRegistry, Measure,
    Query, QueryKind, RowInput, ScalarUdf, StateKind, UdfError, UdfState,
};
use hadal_types::{
    FunctionDefinition, FunctionKind, FunctionType, Micros, TableName, Value, Weight,
};

use super::decode_query;
use crate::partial::{decode_partial, encode_partial};
use crate::query::QueryRequest;

/// A function that returns its first argument, and an aggregate that counts rows.
#[derive(Debug)]
struct Plain(&'static str);

#[derive(Clone, Debug)]
struct Rows(u8);

impl ScalarUdf for Plain {
    fn name(&self) -> &'static str {
        self.0
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, UdfError> {
        Ok(arguments.first().cloned().unwrap_or(Value::Null))
    }
}

impl AggregateUdf for Plain {
    fn name(&self) -> &'static str {
        self.0
    }

    fn new_state(&self) -> Box<dyn UdfState> {
        Box::new(Rows(0))
    }

    fn decode_state(&self, bytes: &[u8]) -> Result<Box<dyn UdfState>, UdfError> {
        let error = || UdfError { function: self.0.to_owned(), message: "no byte".to_owned() };
        let [rows] = bytes else { return Err(error()) };
        Ok(Box::new(Rows(*rows)))
    }
}

impl UdfState for Rows {
    fn add(&mut self, _: &Value, _: Weight) {
        self.0 += 1;
    }

    fn merge(&mut self, other: &dyn UdfState) {
        if let Some(Self(rows)) = other.as_any().downcast_ref() {
            self.0 += rows;
        }
    }

    fn finish(&self) -> Value {
        Value::integer(self.0.into())
    }

    fn encode(&self) -> Vec<u8> {
        vec![self.0]
    }

    fn heap_bytes(&self) -> usize {
        0
    }

    fn boxed_clone(&self) -> Box<dyn UdfState> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn registry(scalars: &[&'static str], aggregates: &[&'static str]) -> FunctionRegistry {
    let mut functions = FunctionRegistry::default();
    for name in scalars {
        functions.add_scalar(Arc::new(Plain(name)));
    }
    for name in aggregates {
        functions.add_aggregate(Arc::new(Plain(name)));
    }
    functions
}

/// A query that calls the second of two scalar functions and an aggregate.
fn query() -> Query {
    let argument = || Expr::Leaf(RowInput::Time);
    let measures = vec![Measure::new(StateKind::User(AggregateId(0)), argument())];
    let keys = vec![Expr::call(Function::User(FunctionId(1)), [argument()])];
    Query {
        functions: Arc::new(registry(&["one", "two"], &["rows"])),
        ..Query::new(TableName::new("t").expect("a name"), QueryKind::Groups { keys, measures })
    }
}

fn request() -> QueryRequest {
    QueryRequest {
        query: Arc::new(query()),
        remaining: Duration::from_secs(1),
        attempt: 0,
        plan: None,
    }
}

#[test]
fn a_query_comes_through_where_its_functions_are_registered() {
    let functions = registry(&["three", "two", "one"], &["sum", "rows"]);
    assert_eq!(QueryRequest::decode(request().encode(), &functions), Ok(request()));
}

#[test]
fn a_query_with_unknown_functions_is_refused_by_name() {
    let refused = |functions: &FunctionRegistry| {
        let error = QueryRequest::decode(request().encode(), functions);
        error.expect_err("refused").to_string()
    };
    let error = refused(&FunctionRegistry::default());
    assert!(error.contains("found function one, expected one that is registered here"), "{error}");
    let error = refused(&registry(&["one", "two"], &[]));
    assert!(error.contains("function rows"), "{error}");
    assert!(decode_query(request().encode()).is_err());
}

/// A host that makes functions without a source, and a function that it made.
#[derive(Debug)]
struct Host;

#[derive(Debug)]
struct Made(Arc<FunctionDefinition>);

impl FunctionHost for Host {
    fn scalar(&self, definition: Arc<FunctionDefinition>) -> Result<Arc<dyn ScalarUdf>, UdfError> {
        Ok(Arc::new(Made(definition)))
    }

    fn aggregate(&self, _: Arc<FunctionDefinition>) -> Result<Arc<dyn AggregateUdf>, UdfError> {
        Ok(Arc::new(Plain("rows")))
    }

    fn check(&self, _: Arc<FunctionDefinition>) -> Result<(), UdfError> {
        Ok(())
    }
}

impl ScalarUdf for Made {
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

#[test]
fn a_definition_travels_with_the_query_and_is_made_by_the_host() {
    let definition = FunctionDefinition {
        name: "made".to_owned(),
        kind: FunctionKind::Scalar,
        parameters: Vec::new(),
        returns: FunctionType::Number,
        called_on_null: true,
        source: "return 1".to_owned(),
    };
    let mut functions = FunctionRegistry::default();
    let id = functions.add_scalar(Arc::new(Made(Arc::new(definition.clone()))));
    let values = vec![Expr::call(Function::User(id), [])];
    let table = TableName::new("t").expect("a name");
    let query =
        Query { functions: Arc::new(functions), ..Query::new(table, QueryKind::Rows { values }) };
    let request = QueryRequest { query: Arc::new(query), ..request() };
    let hosted = FunctionRegistry::with_host(Some(Arc::new(Host)));
    let decoded = QueryRequest::decode(request.encode(), &hosted).expect("decoded");
    let made = decoded.query.functions.scalars().next().expect("a function");
    assert_eq!(made.definition().map(|made| (**made).clone()), Some(definition));
    let error = QueryRequest::decode(request.encode(), &FunctionRegistry::default());
    let error = error.expect_err("refused").to_string();
    assert!(error.contains("--allow-functions"), "{error}");
}

#[test]
fn states_of_user_aggregates_come_through() {
    let query = query();
    let group = |seconds: i64, state: Option<Box<dyn UdfState>>| {
        let states = [State::User(UserState::from_parts(AggregateId(0), state))].into();
        let mut count = WeightedCount::default();
        count.add_row(Weight::ONE);
        ([Value::Time(Micros(seconds))].into(), Group { count, states })
    };
    let groups = vec![group(1, None), group(2, Some(Box::new(Rows(7))))];
    let groups = Groups::from_parts(&query, groups, 0).expect("groups of the query");
    let partial = Partial { body: PartialBody::Groups(groups), ..Partial::empty(&query) };
    let bytes = encode_partial(partial.clone());
    assert_eq!(decode_partial(bytes, &query), Ok(partial));
}
