//! User functions registered from outside run over row blocks; the engine's code does not name
//! them.
#![expect(clippy::expect_used, reason = "a test may fail")]

use std::any::Any;
use std::sync::{Arc, Mutex};

use hadal_aggregate::{FinishError, Partial, ResultSet, finish};
use hadal_block::{BlockBuilder, BlockView};
use hadal_query::{
    AggregateFunction, AggregateId, AggregateUdf, ColumnRef, Expr, Function, FunctionId,
    FunctionRegistry, GroupInput, Measure, OrderKey, Output, PrepareError, Query, QueryKind,
    RowExpr, RowInput, ScalarUdf, StateKind, Type, UdfCall, UdfColumn, UdfError, UdfState,
    UdfValues,
};
use hadal_scan::{Scan, ScanError};
use hadal_types::limits::{FUNCTION_BATCH_BYTES, FUNCTION_BATCH_ROWS};
use hadal_types::{
    ColumnName, FunctionDefinition, FunctionKind, FunctionParameter, FunctionType, Kind, Logical,
    Micros, TableName, Value, Weight,
};

/// The first letter of a string, in upper case; fails for the empty string.
#[derive(Debug)]
struct Initial;

impl ScalarUdf for Initial {
    fn name(&self) -> &'static str {
        "initial"
    }

    fn call(&self, arguments: &[Value]) -> Result<Value, UdfError> {
        let [Value::String(text)] = arguments else { return Ok(Value::Null) };
        let letter = text.chars().next().ok_or_else(|| UdfError {
            function: "initial".to_owned(),
            message: "an empty string".to_owned(),
        })?;
        Ok(Value::string(&letter.to_uppercase().to_string()))
    }
}

/// The length of a string, computed for columns; notes rows and bytes of each call.
#[derive(Debug)]
struct Lengths {
    definition: Arc<FunctionDefinition>,
    calls: Mutex<Vec<(usize, usize)>>,
}

impl Lengths {
    fn new() -> Arc<Self> {
        let parameter =
            FunctionParameter { name: "text".to_owned(), value_type: FunctionType::String };
        let definition = FunctionDefinition {
            name: "lengths".to_owned(),
            kind: FunctionKind::Scalar,
            parameters: vec![parameter],
            returns: FunctionType::Number,
            called_on_null: false,
            source: String::new(),
        };
        Arc::new(Self { definition: Arc::new(definition), calls: Mutex::default() })
    }
}

impl ScalarUdf for Lengths {
    fn name(&self) -> &str {
        &self.definition.name
    }

    fn call(&self, _: &[Value]) -> Result<Value, UdfError> {
        let message = "called for one row".to_owned();
        Err(UdfError { function: "lengths".to_owned(), message })
    }

    fn definition(&self) -> Option<&Arc<FunctionDefinition>> {
        Some(&self.definition)
    }

    fn call_rows(
        &self,
        rows: usize,
        arguments: &[UdfColumn],
        _: &UdfCall<'_>,
    ) -> Result<UdfColumn, UdfError> {
        let mut lengths = UdfColumn::with_capacity(FunctionType::Number, rows);
        let [UdfColumn { values: UdfValues::Strings(strings), .. }] = arguments else {
            return Ok(lengths);
        };
        self.calls.lock().expect("no panic").push((rows, strings.text_bytes()));
        for text in strings.iter() {
            lengths.push(&Value::integer(i64::try_from(text.len()).expect("short")));
        }
        Ok(lengths)
    }
}

/// The longest of a group's strings; of several, the first in string order.
#[derive(Debug)]
struct Longest;

#[derive(Clone, Debug, Default)]
struct LongestState(String);

impl LongestState {
    fn see(&mut self, text: &str) {
        let is_longer = text.len() > self.0.len();
        if is_longer || text.len() == self.0.len() && text < self.0.as_str() {
            text.clone_into(&mut self.0);
        }
    }
}

impl AggregateUdf for Longest {
    fn name(&self) -> &'static str {
        "longest"
    }

    fn new_state(&self) -> Box<dyn UdfState> {
        Box::<LongestState>::default()
    }

    fn decode_state(&self, bytes: &[u8]) -> Result<Box<dyn UdfState>, UdfError> {
        let text = String::from_utf8(bytes.to_vec()).map_err(|error| UdfError {
            function: "longest".to_owned(),
            message: error.to_string(),
        })?;
        Ok(Box::new(LongestState(text)))
    }
}

impl UdfState for LongestState {
    fn add(&mut self, value: &Value, _: Weight) {
        if let Value::String(text) = value {
            self.see(text);
        }
    }

    fn merge(&mut self, other: &dyn UdfState) {
        if let Some(Self(text)) = other.as_any().downcast_ref() {
            self.see(text);
        }
    }

    fn finish(&self) -> Value {
        Value::string(&self.0)
    }

    fn encode(&self) -> Vec<u8> {
        self.0.clone().into_bytes()
    }

    fn heap_bytes(&self) -> usize {
        self.0.capacity()
    }

    fn boxed_clone(&self) -> Box<dyn UdfState> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn name(text: &str) -> ColumnName {
    ColumnName::new(text).expect("a name")
}

fn block(words: &[&str]) -> Vec<u8> {
    let mut builder = BlockBuilder::new(name("time"));
    for (time, word) in (0..).zip(words) {
        let id = builder.column(&name("word"), Kind::String);
        builder.push_string(id, word).expect("taken");
        builder.end_row(Micros(time));
    }
    builder.finish(Micros(0), None).expect("fits")
}

fn word() -> RowExpr {
    let column = ColumnRef { name: name("word"), kind: Kind::String, logical: Logical::Plain };
    Expr::Leaf(RowInput::Column(column))
}

fn output(name: &str, value_type: Type, leaf: GroupInput) -> Output {
    Output { name: name.to_owned(), value_type, expr: Expr::Leaf(leaf) }
}

/// `SELECT initial(word), longest(word), count(*) GROUP BY 1 ORDER BY 1`.
fn query(functions: FunctionRegistry, scalar: FunctionId, aggregate: AggregateId) -> Query {
    let measure = Measure::new(StateKind::User(aggregate), word());
    let keys = vec![Expr::call(Function::User(scalar), [word()])];
    let longest = GroupInput::Measure(0, AggregateFunction::User(aggregate));
    let order =
        OrderKey { expr: Expr::Leaf(GroupInput::Key(0)), descending: false, nulls_first: false };
    Query {
        outputs: vec![
            output("initial", Type::String, GroupInput::Key(0)),
            output("longest", Type::String, longest),
            output("count", Type::Number, GroupInput::Count),
        ],
        order: vec![order],
        functions: Arc::new(functions),
        ..Query::new(
            TableName::new("t").expect("a name"),
            QueryKind::Groups { keys, measures: vec![measure] },
        )
    }
}

fn words_query() -> Query {
    let mut functions = FunctionRegistry::default();
    let scalar = functions.add_scalar(Arc::new(Initial));
    let aggregate = functions.add_aggregate(Arc::new(Longest));
    query(functions, scalar, aggregate)
}

fn scanned(words: &[&str], query: &Query) -> Result<Partial, ScanError> {
    let scan = Scan::new(Arc::new(query.clone())).expect("its functions are registered");
    let (bytes, mut partial) = (block(words), Partial::empty(query));
    let view = BlockView::parse(&bytes).expect("parses");
    scan.block(&view, &|_, column| column.verify(), &mut partial)?;
    Ok(partial)
}

fn rows(result: &ResultSet) -> Vec<String> {
    let text = |value: &Value| value.to_string();
    let row = |row: &hadal_aggregate::SparseRow| row.iter().map(text).collect::<Vec<_>>().join(" ");
    result.rows.iter().map(row).collect()
}

fn finished(partial: Partial, query: &Query) -> Result<ResultSet, FinishError> {
    finish(partial, query, &|| false)
}

#[test]
fn functions_from_outside_group_and_aggregate_rows_of_several_blocks() {
    let query = words_query();
    let first = ["apple", "bee", "avocado", "cow", "Ant"];
    let second = ["almond", "blackberry", "bat", "dog"];
    let merged = |first: &[&str], second: &[&str]| {
        let mut partial = scanned(first, &query).expect("scans");
        partial.merge(scanned(second, &query).expect("scans"));
        rows(&finished(partial, &query).expect("finishes"))
    };
    let expected = ["A avocado 4", "B blackberry 3", "C cow 1", "D dog 1"];
    assert_eq!(merged(&first, &second), expected);
    assert_eq!(merged(&second, &first), expected);
    let together: Vec<&str> = first.into_iter().chain(second).collect();
    let whole = scanned(&together, &query).expect("scans");
    assert_eq!(rows(&finished(whole, &query).expect("finishes")), expected);
}

#[test]
fn a_function_from_outside_filters_rows_that_repeat_and_others() {
    let repeated: Vec<&str> = ["apple", "bee", "avocado"].into_iter().cycle().take(300).collect();
    let others: Vec<String> = (0..300).map(|index| format!("{}{index}", index % 7)).collect();
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    for (words, letter, count) in [(repeated, "A", 200), (others, "3", 43)] {
        let plain = words_query();
        let initial = Expr::call(Function::User(FunctionId(0)), [word()]);
        let equals = [initial, Expr::Literal(Value::string(letter))];
        let query = Query { filter: Some(Expr::call(Function::Equal, equals)), ..plain };
        let partial = scanned(&words, &query).expect("scans");
        assert_eq!(partial.stats.rows_matched, count);
    }
}

/// `SELECT lengths(word), count(*) WHERE word <> 'bee' GROUP BY 1 ORDER BY 1`, and the calls of it.
fn lengths_of(words: &[&str]) -> (Vec<String>, Vec<(usize, usize)>) {
    let (mut functions, function) = (FunctionRegistry::default(), Lengths::new());
    let scalar = functions.add_scalar(Arc::clone(&function) as _);
    let aggregate = functions.add_aggregate(Arc::new(Longest));
    let not_bee = [word(), Expr::Literal(Value::string("bee"))];
    let plain = query(functions, scalar, aggregate);
    let keys = plain.keys().to_vec();
    let query = Query {
        filter: Some(Expr::call(Function::NotEqual, not_bee)),
        kind: QueryKind::Groups { keys, measures: Vec::new() },
        outputs: vec![
            output("length", Type::Number, GroupInput::Key(0)),
            output("count", Type::Number, GroupInput::Count),
        ],
        ..plain
    };
    let partial = scanned(words, &query).expect("scans");
    let rows = rows(&finished(partial, &query).expect("finishes"));
    let calls = function.calls.lock().expect("no panic").clone();
    (rows, calls)
}

#[test]
fn a_function_of_columns_is_called_once_per_string_of_the_selected_rows() {
    let words: Vec<&str> = ["apple", "bee", "fig"].into_iter().cycle().take(300).collect();
    assert_eq!(lengths_of(&words), (vec!["3 100".to_owned(), "5 100".to_owned()], vec![(2, 8)]));
}

#[test]
fn batches_of_columns_have_limits() {
    let rows = FUNCTION_BATCH_ROWS + 1;
    let texts: Vec<String> = (0..rows).map(|index| format!("{index:06}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (answer, calls) = lengths_of(&texts);
    assert_eq!(answer, [format!("6 {rows}")]);
    assert_eq!(calls, [(FUNCTION_BATCH_ROWS, 6 * FUNCTION_BATCH_ROWS), (1, 6)]);
    let long = FUNCTION_BATCH_BYTES / 20;
    let texts: Vec<String> =
        (0..50).map(|index| format!("{index:02}{}", "x".repeat(long))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (answer, calls) = lengths_of(&texts);
    assert_eq!(answer, [format!("{} 50", long + 2)]);
    assert_eq!(calls.iter().map(|(rows, _)| rows).sum::<usize>(), 50);
    assert!(calls.len() > 2 && calls.iter().all(|(_, bytes)| *bytes <= FUNCTION_BATCH_BYTES));
}

#[test]
fn a_function_that_fails_fails_the_query() {
    let error = scanned(&["apple", ""], &words_query()).expect_err("an empty string");
    assert_eq!(error.to_string(), "initial: an empty string");
}

#[test]
fn a_function_that_nobody_registered_is_refused() {
    let query = query(FunctionRegistry::default(), FunctionId(0), AggregateId(0));
    let error = Scan::new(Arc::new(query)).expect_err("refused");
    assert_eq!(error, PrepareError::UnknownFunction);
}
