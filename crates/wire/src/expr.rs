//! Codec of expressions, as lists of nodes in Polish notation.

use hadal_query::{
    AggregateFunction, AggregateId, ColumnRef, Expr, Function, FunctionId, GroupInput, RowInput,
};
use hadal_types::limits::{
    EXPR_DEPTH_MAX, HISTOGRAM_BASE_MAX, HISTOGRAM_BUCKETS_MAX, TOP_VALUES_MAX,
};

use crate::codes::Code;
use crate::error::{At, DecodeError, DecodeErrorKind, at_most, required, unfit};
use crate::proto::expr_node::Node;
use crate::proto::{self, input, slot};
use crate::value::{decode_column, decode_value, encode_value};

/// A leaf of an expression.
pub(crate) trait Leaf: Sized {
    fn encode(&self) -> Node;

    /// Decodes a node that is neither a literal nor a call.
    fn decode(node: Node) -> Result<Self, DecodeError>;
}

pub(crate) fn encode_expr<L: Leaf>(expr: &Expr<L>) -> proto::Expr {
    let (mut nodes, mut waiting) = (Vec::new(), vec![expr]);
    while let Some(expr) = waiting.pop() {
        let node = match expr {
            Expr::Literal(value) => Node::Literal(encode_value(value)),
            Expr::Leaf(leaf) => leaf.encode(),
            Expr::Call { function, arguments } => {
                waiting.extend(arguments.iter().rev());
                let arguments = u32::try_from(arguments.len()).unwrap_or(u32::MAX);
                match function {
                    Function::User(FunctionId(function)) => {
                        Node::UserCall(proto::UserCall { function: *function, arguments })
                    }
                    function => Node::Call(proto::Call { function: function.code(), arguments }),
                }
            }
        };
        nodes.push(proto::ExprNode { node: Some(node) });
    }
    proto::Expr { nodes }
}

/// Decodes an expression from the last node to the first. Every call finds its arguments on top of
/// the stack of ready expressions, the first argument uppermost. So there is no recursion, and no
/// expression is ever too deep to drop.
pub(crate) fn decode_expr<L: Leaf>(expr: Option<proto::Expr>) -> Result<Expr<L>, DecodeError> {
    let nodes = required(expr)?.nodes;
    let mut ready: Vec<(Expr<L>, usize)> = Vec::new();
    for (index, node) in nodes.into_iter().enumerate().rev() {
        let parsed = decode_node(node, &mut ready).at_index("nodes", index)?;
        ready.push(parsed);
    }
    match (ready.pop(), ready.len()) {
        (Some((expr, _)), 0) => Ok(expr),
        (None, _) => Err(DecodeErrorKind::Missing.into()),
        (Some(_), others) => Err(unfit(format!("{} expressions", others + 1), "one")),
    }
}

/// Decodes the expression that begins with this node; returns it with its depth.
fn decode_node<L: Leaf>(
    node: proto::ExprNode,
    ready: &mut Vec<(Expr<L>, usize)>,
) -> Result<(Expr<L>, usize), DecodeError> {
    let (function, arguments) = match required(node.node)? {
        Node::Literal(value) => return Ok((Expr::Literal(decode_value(value)?), 1)),
        Node::Call(call) => (Code::of_code(call.function).at("function")?, call.arguments),
        Node::UserCall(call) => (Function::User(FunctionId(call.function)), call.arguments),
        leaf => return Ok((Expr::Leaf(L::decode(leaf)?), 1)),
    };
    let from = usize::try_from(arguments).ok().and_then(|n| ready.len().checked_sub(n));
    let from = from.ok_or_else(|| {
        unfit(format!("{arguments} arguments"), format!("the {} that follow", ready.len()))
    })?;
    let depth = 1 + ready[from..].iter().map(|(_, depth)| *depth).max().unwrap_or(0);
    at_most("levels", depth, EXPR_DEPTH_MAX)?;
    let arguments = ready.drain(from..).rev().map(|(argument, _)| argument).collect();
    Ok((Expr::Call { function, arguments }, depth))
}

impl Leaf for RowInput {
    fn encode(&self) -> Node {
        let input = match self {
            Self::Time => input::Input::Time(proto::Empty {}),
            Self::Column(column) => input::Input::Column(proto::ColumnRef {
                name: column.name.to_string(),
                kind: column.kind.code(),
                logical: column.logical.code(),
            }),
            Self::AnyText(text) => input::Input::AnyText(text.clone()),
            Self::Random(seed) => input::Input::Random(*seed),
        };
        Node::Input(proto::Input { input: Some(input) })
    }

    fn decode(node: Node) -> Result<Self, DecodeError> {
        let Node::Input(input) = node else {
            return Err(unfit("a slot", "an input, in an expression over rows"));
        };
        Ok(match required(input.input)? {
            input::Input::Time(proto::Empty {}) => Self::Time,
            input::Input::Column(column) => Self::Column(ColumnRef {
                name: decode_column(&column.name)?,
                kind: Code::of_code(column.kind).at("kind")?,
                logical: Code::of_code(column.logical).at("logical")?,
            }),
            input::Input::AnyText(text) => Self::AnyText(text),
            input::Input::Random(seed) => Self::Random(seed),
        })
    }
}

impl Leaf for GroupInput {
    fn encode(&self) -> Node {
        let slot = match self {
            Self::Key(index) => slot::Slot::Key(encode_index(*index)),
            Self::RawCount => slot::Slot::RawCount(proto::Empty {}),
            Self::Count => slot::Slot::Count(proto::Empty {}),
            Self::Measure(index, finish) => {
                let (finish, parameter) = encode_finish(*finish);
                let (index, finish) = (encode_index(*index), finish.into());
                slot::Slot::Measure(proto::MeasureSlot { index, finish, parameter })
            }
            Self::Seconds => slot::Slot::Seconds(proto::Empty {}),
        };
        Node::Slot(proto::Slot { slot: Some(slot) })
    }

    fn decode(node: Node) -> Result<Self, DecodeError> {
        let Node::Slot(slot) = node else {
            return Err(unfit("an input", "a slot, in an expression over groups"));
        };
        Ok(match required(slot.slot)? {
            slot::Slot::Key(index) => Self::Key(decode_index(index)?),
            slot::Slot::RawCount(proto::Empty {}) => Self::RawCount,
            slot::Slot::Count(proto::Empty {}) => Self::Count,
            slot::Slot::Measure(measure) => {
                let finish = decode_finish(measure.finish, measure.parameter).at("finish")?;
                Self::Measure(decode_index(measure.index)?, finish)
            }
            slot::Slot::Seconds(proto::Empty {}) => Self::Seconds,
        })
    }
}

pub(crate) fn encode_index(index: usize) -> u64 {
    u64::try_from(index).unwrap_or(u64::MAX)
}

pub(crate) fn decode_index(index: u64) -> Result<usize, DecodeError> {
    usize::try_from(index).map_err(|_| unfit(index, "an index"))
}

/// Decodes the base of a histogram of powers.
pub(crate) fn decode_base(parameter: u32) -> Result<u16, DecodeError> {
    let base = u16::try_from(parameter).ok();
    let base = base.filter(|base| (2..=HISTOGRAM_BASE_MAX).contains(base));
    base.ok_or_else(|| unfit(parameter, format_args!("2 to {HISTOGRAM_BASE_MAX}")))
}

fn encode_finish(finish: AggregateFunction) -> (proto::Finish, u32) {
    match finish {
        AggregateFunction::Count => (proto::Finish::Count, 0),
        AggregateFunction::RawCount => (proto::Finish::RawCount, 0),
        AggregateFunction::Sum => (proto::Finish::Sum, 0),
        AggregateFunction::Avg => (proto::Finish::Avg, 0),
        AggregateFunction::Min => (proto::Finish::Min, 0),
        AggregateFunction::Max => (proto::Finish::Max, 0),
        AggregateFunction::Quantile(millionths) => (proto::Finish::Quantile, millionths),
        AggregateFunction::QuantileCont(millionths) => (proto::Finish::QuantileCont, millionths),
        AggregateFunction::Histogram(buckets) => (proto::Finish::Histogram, u32::from(buckets)),
        AggregateFunction::Distinct => (proto::Finish::Distinct, 0),
        AggregateFunction::VarPop => (proto::Finish::VarPop, 0),
        AggregateFunction::VarSamp => (proto::Finish::VarSamp, 0),
        AggregateFunction::StddevPop => (proto::Finish::StddevPop, 0),
        AggregateFunction::StddevSamp => (proto::Finish::StddevSamp, 0),
        AggregateFunction::CovarPop => (proto::Finish::CovarPop, 0),
        AggregateFunction::CovarSamp => (proto::Finish::CovarSamp, 0),
        AggregateFunction::Corr => (proto::Finish::Corr, 0),
        AggregateFunction::RegrSlope => (proto::Finish::RegrSlope, 0),
        AggregateFunction::RegrIntercept => (proto::Finish::RegrIntercept, 0),
        AggregateFunction::ArgMin => (proto::Finish::ArgMin, 0),
        AggregateFunction::ArgMax => (proto::Finish::ArgMax, 0),
        AggregateFunction::TopValues(count) => (proto::Finish::TopValues, u32::from(count)),
        AggregateFunction::LogHistogram(base) => (proto::Finish::LogHistogram, u32::from(base)),
        AggregateFunction::EdgeHistogram => (proto::Finish::EdgeHistogram, 0),
        AggregateFunction::User(AggregateId(index)) => (proto::Finish::User, index),
    }
}

fn decode_finish(code: i32, parameter: u32) -> Result<AggregateFunction, DecodeError> {
    let finish = match proto::Finish::try_from(code) {
        Ok(proto::Finish::Count) => AggregateFunction::Count,
        Ok(proto::Finish::RawCount) => AggregateFunction::RawCount,
        Ok(proto::Finish::Sum) => AggregateFunction::Sum,
        Ok(proto::Finish::Avg) => AggregateFunction::Avg,
        Ok(proto::Finish::Min) => AggregateFunction::Min,
        Ok(proto::Finish::Max) => AggregateFunction::Max,
        Ok(proto::Finish::Quantile) => return Ok(AggregateFunction::Quantile(parameter)),
        Ok(proto::Finish::QuantileCont) => return Ok(AggregateFunction::QuantileCont(parameter)),
        Ok(proto::Finish::Histogram) => {
            let buckets = u16::try_from(parameter).unwrap_or(u16::MAX);
            at_most("buckets", usize::from(buckets), usize::from(HISTOGRAM_BUCKETS_MAX))?;
            return Ok(AggregateFunction::Histogram(buckets));
        }
        Ok(proto::Finish::Distinct) => AggregateFunction::Distinct,
        Ok(proto::Finish::VarPop) => AggregateFunction::VarPop,
        Ok(proto::Finish::VarSamp) => AggregateFunction::VarSamp,
        Ok(proto::Finish::StddevPop) => AggregateFunction::StddevPop,
        Ok(proto::Finish::StddevSamp) => AggregateFunction::StddevSamp,
        Ok(proto::Finish::CovarPop) => AggregateFunction::CovarPop,
        Ok(proto::Finish::CovarSamp) => AggregateFunction::CovarSamp,
        Ok(proto::Finish::Corr) => AggregateFunction::Corr,
        Ok(proto::Finish::RegrSlope) => AggregateFunction::RegrSlope,
        Ok(proto::Finish::RegrIntercept) => AggregateFunction::RegrIntercept,
        Ok(proto::Finish::ArgMin) => AggregateFunction::ArgMin,
        Ok(proto::Finish::ArgMax) => AggregateFunction::ArgMax,
        Ok(proto::Finish::TopValues) => {
            let count = u16::try_from(parameter).unwrap_or(u16::MAX);
            at_most("values", usize::from(count), usize::from(TOP_VALUES_MAX))?;
            return Ok(AggregateFunction::TopValues(count));
        }
        Ok(proto::Finish::EdgeHistogram) => AggregateFunction::EdgeHistogram,
        Ok(proto::Finish::LogHistogram) => {
            return decode_base(parameter).map(AggregateFunction::LogHistogram);
        }
        Ok(proto::Finish::User) => return Ok(AggregateFunction::User(AggregateId(parameter))),
        Ok(proto::Finish::Unspecified) => return Err(DecodeErrorKind::Missing.into()),
        Err(_) => return Err(DecodeErrorKind::UnknownCode(code).into()),
    };
    if parameter == 0 { Ok(finish) } else { Err(unfit(format!("parameter {parameter}"), "none")) }
}

#[cfg(test)]
mod tests;
