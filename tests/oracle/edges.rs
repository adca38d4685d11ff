//! Comparisons with values at the edges of row blocks, where zone maps decide whether a block is
//! scanned: the smallest and the largest value of each block, and their neighbours.

use hadal_query::{Expr, Function, GroupInput, Query, QueryKind, Type};
use hadal_tests::engine::{self, Cuts};
use hadal_tests::generate::{self, Random, RowSpec, TIME_COLUMN, derive};
use hadal_tests::oracle::{EngineFault, Expected, Produced, Row, check_query};
use hadal_types::{ColumnName, TimeRange, Value};

/// The number of tables of one run, and the maximum of their rows.
const TABLES: u64 = 60;
const ROWS_MAX: usize = 400;
/// The number of edge values with which each column is compared.
const EDGES: usize = 8;

/// The query that counts the rows with this condition.
fn count_of(condition: Expr<hadal_query::RowInput>) -> Query {
    let shape = QueryKind::Groups { keys: Vec::new(), measures: Vec::new() };
    let rows = hadal_query::Output {
        name: "rows".to_owned(),
        value_type: Type::Number,
        expr: Expr::Leaf(GroupInput::RawCount),
    };
    let table = hadal_types::TableName::new(generate::TABLE).expect("a name");
    Query { filter: Some(condition), outputs: vec![rows], limit: 1, ..Query::new(table, shape) }
}

#[test]
fn what_lies_at_an_edge_is_found_and_what_lies_beyond_is_not() {
    let time_column = ColumnName::new(TIME_COLUMN).expect("a name");
    let cuts = [Cuts::Rows(53), Cuts::Rows(97), Cuts::Cold(97), Cuts::Rows(65_536)];
    let mut asked = 0;
    for seed in 0..TABLES {
        let mut rows = generate::rows(seed, &RowSpec::of_seed(seed));
        rows.truncate(ROWS_MAX);
        let facts = generate::facts(&rows);
        let random = &mut Random::new(derive(seed, 8_000));
        let cuts = *random.pick(&cuts);
        let blocks = engine::blocks(&rows, &time_column, cuts).expect("blocks");
        // Smaller counterexamples are searched in new blocks.
        let run = |some: &[Row], query: &Query| -> Result<Produced, EngineFault> {
            match some.len() == rows.len() {
                true => engine::ask(&blocks, query, 1),
                false => engine::ask(&engine::blocks(some, &time_column, cuts)?, query, 1),
            }
        };
        let inputs = generate::inputs(random, &facts.schema);
        let pools = generate::pools(&inputs, &facts);
        let time = inputs.iter().position(|(of, _)| *of == Type::Time).map(|at| &pools[at]);
        let mut edge = || match time.and_then(|pool| pool.edge(random)) {
            Some(Value::Time(time)) => Some(time),
            _ => None,
        };
        for _ in 0..EDGES {
            let range = TimeRange { from: edge(), to: edge() };
            let always = Expr::Literal(Value::Bool(true));
            let query = Query { range, ..count_of(always) };
            let checked = check_query(&rows, &facts.schema, &query, run);
            checked.unwrap_or_else(|text| panic!("seed {seed}: {text}"));
        }
        for ((of, input), pool) in inputs.iter().zip(&pools) {
            if !matches!(of, Type::Number | Type::Time) {
                continue;
            }
            let edges: Vec<Value> = (0..EDGES).filter_map(|_| pool.edge(random)).collect();
            for edge in edges {
                let (input, edge) = (input.clone(), Expr::Literal(edge));
                for function in Function::COMPARISONS {
                    let condition = match random.percent(30) {
                        true => Expr::call(function, [edge.clone(), input.clone()]),
                        false => Expr::call(function, [input.clone(), edge.clone()]),
                    };
                    let checked = check_query(&rows, &facts.schema, &count_of(condition), run);
                    let expectation = checked.unwrap_or_else(|text| panic!("seed {seed}: {text}"));
                    assert_eq!(expectation, Expected::Rows(1), "a count");
                    asked += 1;
                }
            }
        }
    }
    assert!(asked > 3_000, "{asked} comparisons");
}
