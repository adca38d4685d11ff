//! Functions of a single row's values, by name.

use hadal_query::{Function, RowInput, Type};
use hadal_types::{Number, Value};
use sqlparser::ast::{self, CaseWhen, CeilFloorKind, Expr};
use sqlparser::tokenizer::Location;

use crate::bind::aggregate;
use crate::bind::aggregate_kind;
use crate::bind::arithmetic;
use crate::bind::bound_expr::TypedExpr;
use crate::bind::compare;
use crate::bind::list_function;
use crate::bind::literal;
use crate::bind::quantile::percentile_hint;
use crate::bind::scope::a;
use crate::bind::time_function;
use crate::bind::{Binder, arguments, truth};
use crate::error::{LocatedError, NOWHERE, Read};
use crate::suggest::did_you_mean;
use crate::syntax::source_position::{place, place_of_name};

/// The names of all functions; for percentiles, only some examples.
const NAMES: [&str; 54] = [
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
    "date_part",
    "date_trunc",
    "epoch",
    "extract",
    "floor",
    "histogram",
    "ifnull",
    "includes_all",
    "includes_any",
    "includes_end",
    "includes_none",
    "includes_start",
    "includes_within",
    "is_empty",
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
    "quantile",
    "raw_count",
    "round",
    "search",
    "sum",
    "time_bucket",
    "to_number",
    "to_timestamp",
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
    if !NAMES.contains(&name.as_str()) {
        return Err(unknown(&name, at));
    }
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
    call.bind(binder, bound).map_err(|error| error.or_at(at))
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

/// A call of a scalar function.
struct Call<'c> {
    name: &'c str,
    at: Location,
    places: Vec<Location>,
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
            "nullif" => self.nullif(binder, bound),
            "to_number" => {
                let [value] = self.exactly(bound)?;
                arithmetic_input(&value)?;
                Ok(value.into_number())
            }
            "time_bucket" => {
                let [width, time] = self.exactly(bound)?;
                time_function::time_bucket(&width, time, self.place(0))
            }
            "date_trunc" => {
                let [unit, time] = self.exactly(bound)?;
                time_function::date_trunc(self.constant(&unit)?, time, self.place(0))
            }
            "date_part" => {
                let [field, time] = self.exactly(bound)?;
                time_function::extract(self.constant(&field)?, time)
            }
            "epoch" => {
                let [time] = self.exactly(bound)?;
                time_function::extract("epoch", time)
            }
            "to_timestamp" => {
                let [seconds] = self.exactly(bound)?;
                let seconds = arithmetic::number(seconds, self.place(0))?;
                let epoch = TypedExpr::literal(literal::EPOCH);
                Ok(TypedExpr::call(Function::AddSeconds, [epoch, seconds], Type::Time))
            }
            _ => Err(unknown(self.name, self.at)),
        }
    }

    fn place(&self, index: usize) -> Location {
        self.places.get(index).copied().unwrap_or(NOWHERE)
    }

    fn exactly<const N: usize>(&self, bound: Vec<TypedExpr>) -> Read<[TypedExpr; N]> {
        let given = bound.len();
        bound.try_into().map_err(|_| {
            let (name, plural) = (self.name, if N == 1 { "" } else { "s" });
            LocatedError::new(format!("{name} takes {N} argument{plural}, not {given}"), self.at)
        })
    }

    fn none(&self, bound: Vec<TypedExpr>) -> Read<()> {
        self.exactly::<0>(bound).map(|_| ())
    }

    fn constant<'b>(&self, bound: &'b TypedExpr) -> Read<&'b str> {
        bound.as_string().ok_or_else(|| {
            LocatedError::new(format!("{} takes a constant text", self.name), self.place(0))
        })
    }

    fn search(&self, binder: &Binder<'_>, bound: Vec<TypedExpr>) -> Read<TypedExpr> {
        let [text] = self.exactly(bound)?;
        let text = self.constant(&text)?;
        match binder.scope.table() {
            Some(_) => Ok(TypedExpr::input(RowInput::AnyText(text.to_owned()))),
            None => {
                Err(LocatedError::new("search needs a table", self.at).hint("add FROM and a table"))
            }
        }
    }

    fn text(&self, function: Function, bound: Vec<TypedExpr>) -> Read<TypedExpr> {
        let [value] = self.exactly(bound)?;
        let value = string(self.name, value, self.place(0))?;
        Ok(TypedExpr::call(function, [value], Type::String))
    }

    fn length(&self, bound: Vec<TypedExpr>) -> Read<TypedExpr> {
        let [value] = self.exactly(bound)?;
        let value = match value.value_type {
            Type::Set | Type::Vector => value,
            _ => string(self.name, value, self.place(0))?,
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
    match did_you_mean(name, NAMES.into_iter().chain(aggregate_kind::NAMES)) {
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

fn string(name: &str, value: TypedExpr, at: Location) -> Read<TypedExpr> {
    match value.value_type {
        Type::Null => Ok(value),
        Type::Set | Type::Vector | Type::Histogram => {
            let message = format!("{name} takes a string; this is {}", a(value.value_type));
            Err(LocatedError::new(message, at))
        }
        _ => Ok(value.into_text()),
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
