//! Functions of a single row's values, by name.

use hadal_query::{Function, RowInput, Type};
use hadal_types::{Number, Value};
use sqlparser::ast::{self, CaseWhen, CeilFloorKind, Expr};
use sqlparser::tokenizer::Location;

use crate::bind::aggregate;
use crate::bind::aggregate_kind;
use crate::bind::arithmetic;
use crate::bind::bound_expr::TypedExpr;
use crate::bind::call::Call;
use crate::bind::compare;
use crate::bind::list_function;
use crate::bind::quantile::percentile_hint;
use crate::bind::regexp;
use crate::bind::scope::a;
use crate::bind::text_function;
use crate::bind::time_function;
use crate::bind::user_function;
use crate::bind::{Binder, arguments, truth};
use crate::error::{LocatedError, NOWHERE, Read};
use crate::suggest::did_you_mean;
use crate::syntax::source_position::{place, place_of_name};

/// The names of functions that no other list has; for percentiles, only some examples.
const NAMES: [&str; 53] = [
    "abs",
    "approx_count_distinct",
    "avg",
    "bucket",
    "cardinality",
    "ceil",
    "ceiling",
    "character_length",
    "char_length",
    "coalesce",
    "concat",
    "count",
    "current_timestamp",
    "floor",
    "greatest",
    "histogram",
    "ifnull",
    "includes_all",
    "includes_any",
    "includes_end",
    "includes_none",
    "includes_start",
    "includes_within",
    "is_empty",
    "least",
    "length",
    "lower",
    "max",
    "mean",
    "median",
    "min",
    "mod",
    "now",
    "nullif",
    "p50",
    "p95",
    "p99",
    "per_minute",
    "per_second",
    "percentile",
    "percentile_cont",
    "percentile_disc",
    "prefixes",
    "quantile",
    "random",
    "raw_count",
    "round",
    "search",
    "sum",
    "to_number",
    "unnest",
    "upper",
    "version",
];

/// Binds a call by name.
pub(crate) fn function(binder: &mut Binder<'_>, function: &ast::Function) -> Read<TypedExpr> {
    let name = aggregate::name_of(function);
    let at = place_of_name(&function.name);
    refuse_extras(function, at)?;
    if let Some(kind) = aggregate_kind::kind_of(&name) {
        return aggregate::bind(binder, kind, function).map_err(|error| error.or_at(at));
    }
    if let Some(aggregate) = binder.scope.user_aggregate(&name) {
        return user_function::bind_aggregate(binder, aggregate, (&name, at), function)
            .map_err(|error| error.or_at(at));
    }
    let user = match names().any(|listed| listed == name) {
        true => None,
        false => Some(binder.scope.user_function(&name).ok_or_else(|| unknown(&name, at))?),
    };
    if function.filter.is_some() || !function.within_group.is_empty() {
        return Err(LocatedError::new(format!("{name} is not an aggregate"), at));
    }
    let exprs = arguments(function)?;
    if let Some(predicate) = list_function::of_name(&name) {
        return list_function::bind(binder, predicate, &name, &exprs).map_err(|f| f.or_at(at));
    }
    let mut bound = Vec::with_capacity(exprs.len());
    for expr in &exprs {
        bound.push(binder.bind(expr)?);
    }
    let call = Call { name: &name, at, places: exprs.iter().map(|expr| place(expr)).collect() };
    let bound = match user {
        Some(user) => user_function::bind(binder, user, &call, bound),
        None => call.bind(binder, bound),
    };
    bound.map_err(|error| error.or_at(at))
}

fn refuse_extras(function: &ast::Function, at: Location) -> Read<()> {
    if function.over.is_some() {
        return Err(LocatedError::new("Hadal has no window functions", at).hint(
            "export the rows and go on elsewhere: hadal query --format csv \"SELECT …\" > file",
        ));
    }
    let clauses = match &function.args {
        ast::FunctionArguments::List(list) => !list.clauses.is_empty(),
        ast::FunctionArguments::Subquery(_) => {
            return Err(LocatedError::new("Hadal has no subqueries", at));
        }
        ast::FunctionArguments::None => false,
    };
    let parameters = !matches!(function.parameters, ast::FunctionArguments::None);
    match clauses || parameters || function.null_treatment.is_some() {
        true => Err(LocatedError::new("only expressions can stand in a call", at)),
        false => Ok(()),
    }
}

/// The names of all functions.
fn names() -> impl Iterator<Item = &'static str> {
    let here = NAMES.into_iter().chain(regexp::NAMES).chain(time_function::NAMES);
    here.chain(text_function::names())
}

/// Whether a built-in function or aggregate has this name.
pub(crate) fn is_built_in(name: &str) -> bool {
    aggregate_kind::kind_of(name).is_some() || names().any(|listed| listed == name)
}

impl Call<'_> {
    fn bind(&self, binder: &mut Binder<'_>, bound: Vec<TypedExpr>) -> Read<TypedExpr> {
        match self.name {
            "now" | "current_timestamp" => {
                self.none(bound)?;
                Ok(TypedExpr::literal(Value::Time(binder.scope.now())))
            }
            "version" => {
                self.none(bound)?;
                let version = concat!("Hadal ", env!("CARGO_PKG_VERSION"));
                Ok(TypedExpr::literal(Value::string(version)))
            }
            "search" => self.search(binder, bound),
            "random" => self.random(binder, bound),
            "lower" => self.text(Function::Lower, bound),
            "upper" => self.text(Function::Upper, bound),
            "length" | "char_length" | "character_length" | "cardinality" => self.length(bound),
            "concat" => Ok(TypedExpr::call_all(Function::Concat, bound, Type::String)),
            "abs" => self.number(Function::Abs, bound),
            "floor" => self.number(Function::Floor, bound),
            "ceil" | "ceiling" => self.number(Function::Ceil, bound),
            "round" => self.round(bound),
            "mod" => self.two_numbers(Function::Remainder, bound),
            "bucket" => self.two_numbers(Function::Bucket, bound),
            "coalesce" | "ifnull" => coalesce(bound),
            "greatest" => self.extreme(Function::Greatest, bound),
            "least" => self.extreme(Function::Least, bound),
            "nullif" => self.nullif(binder, bound),
            "to_number" => self.to_number(bound),
            _ if time_function::NAMES.contains(&self.name) => {
                time_function::bind(self, bound, binder.scope.zone())
            }
            _ if regexp::NAMES.contains(&self.name) => regexp::bind(binder, self, bound),
            _ => {
                text_function::bind(self, bound).unwrap_or_else(|| Err(unknown(self.name, self.at)))
            }
        }
    }

    fn search(&self, binder: &Binder<'_>, bound: Vec<TypedExpr>) -> Read<TypedExpr> {
        let [text] = self.exactly(bound)?;
        let text = self.constant(&text, 0)?;
        match binder.scope.table() {
            Some(_) => Ok(TypedExpr::input(RowInput::AnyText(text.to_owned()))),
            None => {
                Err(LocatedError::new("search needs a table", self.at).hint("add FROM and a table"))
            }
        }
    }

    /// A number for each row. The seed is the constant argument, or else the time of the query, so
    /// that each query has other numbers.
    fn random(&self, binder: &Binder<'_>, bound: Vec<TypedExpr>) -> Read<TypedExpr> {
        let seed = match bound.is_empty() {
            true => binder.scope.now().0,
            false => {
                let [seed] = self.exactly(bound)?;
                seed.as_number().and_then(Number::to_i64).ok_or_else(|| {
                    let at = self.places.first().copied().unwrap_or(self.at);
                    LocatedError::new("the seed of random is a constant whole number", at)
                })?
            }
        };
        match binder.scope.table() {
            Some(_) => Ok(TypedExpr::input(RowInput::Random(seed))),
            None => {
                Err(LocatedError::new("random needs a table", self.at).hint("add FROM and a table"))
            }
        }
    }

    fn text(&self, function: Function, bound: Vec<TypedExpr>) -> Read<TypedExpr> {
        let [value] = self.exactly(bound)?;
        let value = self.string(value, 0)?;
        Ok(TypedExpr::call(function, [value], Type::String))
    }

    fn length(&self, bound: Vec<TypedExpr>) -> Read<TypedExpr> {
        let [value] = self.exactly(bound)?;
        let value = match value.value_type {
            Type::Set | Type::Vector => value,
            _ => self.string(value, 0)?,
        };
        Ok(TypedExpr { whole: true, ..TypedExpr::call(Function::Length, [value], Type::Number) })
    }

    fn number(&self, function: Function, bound: Vec<TypedExpr>) -> Read<TypedExpr> {
        let [value] = self.exactly(bound)?;
        let value = arithmetic::number(value, self.place(0))?;
        Ok(TypedExpr::call(function, [value], Type::Number))
    }

    fn two_numbers(&self, function: Function, bound: Vec<TypedExpr>) -> Read<TypedExpr> {
        let [left, right] = self.exactly(bound)?;
        let whole = function == Function::Remainder && left.whole && right.whole;
        let left = arithmetic::number(left, self.place(0))?;
        let right = arithmetic::number(right, self.place(1))?;
        Ok(TypedExpr { whole, ..TypedExpr::call(function, [left, right], Type::Number) })
    }

    fn round(&self, mut bound: Vec<TypedExpr>) -> Read<TypedExpr> {
        if bound.len() != 2 {
            return self.number(Function::Round, bound);
        }
        let digits = bound.pop().as_ref().and_then(TypedExpr::as_number);
        let allowed = Number::integer(-18)..=Number::integer(18);
        let digits = digits.filter(|digits| allowed.contains(digits));
        let Some(digits) = digits.and_then(Number::to_i64) else {
            return Err(LocatedError::new("round takes -18 to 18 digits", self.place(1)));
        };
        bound.push(TypedExpr::whole(digits));
        self.two_numbers(Function::Round, bound)
    }

    /// The largest or smallest argument. Texts beside times are read as times.
    fn extreme(&self, function: Function, values: Vec<TypedExpr>) -> Read<TypedExpr> {
        if values.is_empty() {
            let message = format!("{} takes at least one argument", self.name);
            return Err(LocatedError::new(message, self.at));
        }
        let (values, value_type) = match values.iter().any(|value| value.value_type == Type::Time) {
            true => (values.into_iter().map(arithmetic::time).collect::<Read<_>>()?, Type::Time),
            false => unite(values)?,
        };
        Ok(TypedExpr::call_all(function, values, value_type))
    }

    /// `to_number(x)`, or `to_number(text, ',')` for a text with that decimal sign.
    fn to_number(&self, bound: Vec<TypedExpr>) -> Read<TypedExpr> {
        let ([value], point) = self.and_one_more(bound)?;
        arithmetic_input(&value)?;
        let Some(point) = point else { return Ok(value.into_number()) };
        if !matches!(self.constant(&point, 1)?, "," | ".") {
            return Err(LocatedError::new("the decimal sign is ',' or '.'", self.place(1))
                .hint("to_number('1.299,99', ',') is 1299.99"));
        }
        let value = self.string(value, 0)?;
        Ok(TypedExpr::call(Function::ToNumber, [value, point], Type::Number))
    }

    fn nullif(&self, binder: &mut Binder<'_>, bound: Vec<TypedExpr>) -> Read<TypedExpr> {
        let [value, unwanted] = self.exactly(bound)?;
        let same = compare::compare(Function::Equal, binder.copy(&value)?, unwanted)?;
        let value_type = value.value_type;
        let null = TypedExpr::literal(Value::Null);
        Ok(TypedExpr::call(Function::Case, [same, null, value], value_type))
    }
}

fn unknown(name: &str, at: Location) -> LocatedError {
    if let Some(hint) = percentile_hint(name) {
        return LocatedError::new(format!("there is no percentile {name}"), at).hint(hint);
    }
    let error = LocatedError::new(format!("there is no function {name}"), at);
    match did_you_mean(name, names().chain(aggregate_kind::NAMES)) {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

fn arithmetic_input(value: &TypedExpr) -> Read<()> {
    match value.value_type {
        Type::Set | Type::Vector | Type::Histogram => Err(LocatedError::new(
            format!("{} cannot become a number", a(value.value_type)),
            NOWHERE,
        )),
        _ => Ok(()),
    }
}

/// `ceil(x)` and `floor(x)`, which the parser recognizes by name.
pub(crate) fn rounded(
    binder: &mut Binder<'_>,
    function: Function,
    expr: &Expr,
    field: &CeilFloorKind,
) -> Read<TypedExpr> {
    match field {
        CeilFloorKind::DateTimeField(ast::DateTimeField::NoDateTime) => {
            let value = arithmetic::number(binder.bind(expr)?, place(expr))?;
            Ok(TypedExpr::call(function, [value], Type::Number))
        }
        _ => Err(LocatedError::new("floor and ceil take one number", place(expr))
            .hint("bucket(x, width), or date_trunc('hour', time)")),
    }
}

/// Binds CASE.
pub(crate) fn case(
    binder: &mut Binder<'_>,
    operand: Option<&Expr>,
    arms: &[CaseWhen],
    otherwise: Option<&Expr>,
) -> Read<TypedExpr> {
    let operand = operand.map(|operand| binder.bind(operand)).transpose()?;
    let (mut conditions, mut values) = (Vec::new(), Vec::new());
    for arm in arms {
        let condition = binder.bind(&arm.condition)?;
        conditions.push(match &operand {
            Some(operand) => {
                let operand = binder.copy(operand)?;
                compare::compare(Function::Equal, operand, condition)?
            }
            None => truth(condition, place(&arm.condition))?,
        });
        values.push(binder.bind(&arm.result)?);
    }
    values.extend(otherwise.map(|otherwise| binder.bind(otherwise)).transpose()?);
    let (mut values, value_type) = unite(values)?;
    let otherwise = if values.len() > conditions.len() { values.pop() } else { None };
    let arms = conditions.into_iter().zip(values);
    let arguments = arms.flat_map(|(condition, value)| [condition, value]).chain(otherwise);
    Ok(TypedExpr::call_all(Function::Case, arguments.collect(), value_type))
}

fn coalesce(values: Vec<TypedExpr>) -> Read<TypedExpr> {
    if values.is_empty() {
        return Err(LocatedError::new("coalesce takes at least one argument", NOWHERE));
    }
    let (values, value_type) = unite(values)?;
    Ok(TypedExpr::call_all(Function::Coalesce, values, value_type))
}

/// Converts values to one type: the first that can hold all values that are not null.
fn unite(values: Vec<TypedExpr>) -> Read<(Vec<TypedExpr>, Type)> {
    let types: Vec<Type> =
        values.iter().map(|value| value.value_type).filter(|of| *of != Type::Null).collect();
    let Some(first) = types.first().copied() else { return Ok((values, Type::Null)) };
    if types.iter().all(|of| *of == first) {
        return Ok((values, first));
    }
    let only = |allowed: &[Type]| types.iter().all(|of| allowed.contains(of));
    let turn = |turn: fn(TypedExpr) -> TypedExpr, to: Type| {
        let null = |value: &TypedExpr| value.value_type == Type::Null;
        let turned = values.iter().cloned();
        let turned = turned.map(|value| if null(&value) { value } else { turn(value) });
        Ok((turned.collect(), to))
    };
    if only(&[Type::Number, Type::Bool]) {
        return turn(TypedExpr::into_number, Type::Number);
    }
    if only(&[Type::Number, Type::Bool, Type::String, Type::Time]) {
        return turn(TypedExpr::into_text, Type::String);
    }
    let names: Vec<&str> = types.iter().map(|of| of.name()).collect();
    Err(LocatedError::new(format!("values of different types: {}", names.join(", ")), NOWHERE))
}
