use hadal_query::{AggregateFunction, Expr, Function, GroupInput, RowInput};
use hadal_types::Value;

use super::*;
use crate::proto::expr_node::Node;

fn literal(number: i64) -> Expr<RowInput> {
    Expr::Literal(Value::integer(number))
}

fn node(node: Node) -> proto::ExprNode {
    proto::ExprNode { node: Some(node) }
}

fn call(function: Function, arguments: u32) -> proto::ExprNode {
    node(Node::Call(proto::Call { function: function.code(), arguments }))
}

fn refused<L: Leaf + std::fmt::Debug>(nodes: Vec<proto::ExprNode>) -> String {
    decode_expr::<L>(Some(proto::Expr { nodes })).expect_err("refused").to_string()
}

#[test]
fn a_call_stands_before_its_arguments() {
    let difference = Expr::call(Function::Subtract, [literal(1), literal(2)]);
    let expr = Expr::call(Function::Add, [difference, Expr::Leaf(RowInput::Time)]);
    let wire = encode_expr(&expr);
    let kinds: Vec<&str> = wire
        .nodes
        .iter()
        .map(|node| match &node.node {
            Some(Node::Call(call)) if call.function == Function::Add.code() => "+",
            Some(Node::Call(_)) => "-",
            Some(Node::Literal(_)) => "1",
            Some(Node::Input(_)) => "x",
            _ => "?",
        })
        .collect();
    assert_eq!(kinds, ["+", "-", "1", "1", "x"]);
    assert_eq!(decode_expr(Some(wire)), Ok(expr));
}

#[test]
fn depth_ends_where_the_engine_ends_it() {
    let nested =
        |depth: usize| (1..depth).fold(literal(1), |expr, _| Expr::call(Function::Negate, [expr]));
    let over = |depth| decode_expr::<RowInput>(Some(encode_expr(&nested(depth))));
    assert_eq!(over(EXPR_DEPTH_MAX), Ok(nested(EXPR_DEPTH_MAX)));
    let error = over(EXPR_DEPTH_MAX + 1).expect_err("too deep");
    assert_eq!(error.to_string(), "nodes[0]: 65 levels; at most 64 are allowed");
    assert!(error.is_limit());
    // Far deeper than any call stack: encoded and refused without recursion.
    let mut nodes = vec![call(Function::Negate, 1); 1_000_000];
    nodes.push(node(Node::Literal(encode_value(&Value::Null))));
    assert_eq!(refused::<RowInput>(nodes), "nodes[999936]: 65 levels; at most 64 are allowed");
}

#[test]
fn what_is_no_expression_is_refused() {
    let one = || node(Node::Literal(encode_value(&Value::integer(1))));
    assert_eq!(refused::<RowInput>(Vec::new()), ": is missing");
    assert_eq!(refused::<RowInput>(vec![one(), one()]), ": found 2 expressions, expected one");
    assert_eq!(
        refused::<RowInput>(vec![call(Function::Add, 2), one()]),
        "nodes[0]: found 2 arguments, expected the 1 that follow"
    );
    assert_eq!(
        refused::<RowInput>(vec![call(Function::And, u32::MAX)]),
        "nodes[0]: found 4294967295 arguments, expected the 0 that follow"
    );
    let unknown = node(Node::Call(proto::Call { function: 1_000, arguments: 0 }));
    assert_eq!(refused::<RowInput>(vec![unknown]), "nodes[0].function: code 1000 is unknown");
    let empty = proto::ExprNode { node: None };
    assert_eq!(refused::<RowInput>(vec![empty]), "nodes[0]: is missing");
}

#[test]
fn rows_and_groups_are_not_mixed_up() {
    let time = node(RowInput::Time.encode());
    let count = node(GroupInput::Count.encode());
    assert_eq!(
        refused::<GroupInput>(vec![time]),
        "nodes[0]: found an input, expected a slot, in an expression over groups"
    );
    assert_eq!(
        refused::<RowInput>(vec![count]),
        "nodes[0]: found a slot, expected an input, in an expression over rows"
    );
}

#[test]
fn only_finishes_with_a_parameter_have_one() {
    let slot = |finish: proto::Finish, parameter| {
        let measure = proto::MeasureSlot { index: 0, finish: finish.into(), parameter };
        let slot = proto::Slot { slot: Some(slot::Slot::Measure(measure)) };
        GroupInput::decode(Node::Slot(slot)).map_err(|error| error.to_string())
    };
    assert_eq!(
        slot(proto::Finish::Histogram, 1_000),
        Ok(GroupInput::Measure(0, AggregateFunction::Histogram(1_000)))
    );
    assert_eq!(
        slot(proto::Finish::Histogram, 1_001),
        Err("finish: 1001 buckets; at most 1000 are allowed".to_owned())
    );
    assert_eq!(
        slot(proto::Finish::TopValues, 1_001),
        Err("finish: 1001 values; at most 1000 are allowed".to_owned())
    );
    assert_eq!(
        slot(proto::Finish::LogHistogram, 1),
        Err("finish: found 1, expected 2 to 1000".to_owned())
    );
    assert_eq!(
        slot(proto::Finish::Sum, 1),
        Err("finish: found parameter 1, expected none".to_owned())
    );
    assert_eq!(slot(proto::Finish::Unspecified, 0), Err("finish: is missing".to_owned()));
}
