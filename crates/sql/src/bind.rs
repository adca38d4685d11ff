//! Binding: turns syntax into an expression with resolved names and checked types.
//!
//! One [`Binder`] serves one query. Functions, comparisons, arithmetic and casts have their own
//! files; this file has the recursion, name resolution and logic.

pub(crate) mod aggregate;
pub(crate) mod aggregate_kind;
pub(crate) mod aggregate_parameter;
pub(crate) mod any_of;
pub(crate) mod arithmetic;
pub(crate) mod bound_expr;
pub(crate) mod call;
pub(crate) mod cast;
pub(crate) mod compare;
pub(crate) mod derived;
pub(crate) mod function;
pub(crate) mod list_function;
pub(crate) mod literal;
pub(crate) mod pattern;
pub(crate) mod quantile;
pub(crate) mod regexp;
pub(crate) mod scope;
pub(crate) mod text_function;
pub(crate) mod time_format;
pub(crate) mod time_function;
pub(crate) mod user_function;

use hadal_query::{Function, FunctionRegistry, Type};
use hadal_types::{ColumnSchema, Value, limits};
use sqlparser::ast::{self, BinaryOperator, Expr, Ident, UnaryOperator};
use sqlparser::tokenizer::Location;

use crate::Note;
use crate::bind::bound_expr::{TypedExpr, nodes};
use crate::bind::derived::{Derived, Lookup};
use crate::bind::scope::{Column, Scope, a};
use crate::error::{LocatedError, NOWHERE, Read};
use crate::suggest::did_you_mean;
use crate::syntax::select_ast::joined;
use crate::syntax::source_position::place;

/// Resolves names and checks types.
pub(crate) struct Binder<'a> {
    pub(crate) scope: Scope<'a>,
    /// The outputs of the inner query, around which this one is.
    pub(crate) derived: Option<Derived<'a>>,
    pub(crate) notes: Vec<Note>,
    /// Output columns with an alias.
    pub(crate) aliases: Vec<(String, TypedExpr)>,
    /// Whether a name refers to an output column before a column.
    pub(crate) use_aliases: bool,
    pub(crate) aggregates: Aggregates,
    pub(crate) patterns: usize,
    pub(crate) unnest_at: Location,
    /// The user functions that the query calls.
    pub(crate) functions: FunctionRegistry,
    copies: usize,
    depth: usize,
}

/// The clause in which aggregates cannot stand, because an inner query has groups.
pub(crate) const AROUND_GROUPS: &str = "a query around groups";

/// Whether aggregates are allowed at the binder's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aggregates {
    Allowed,
    /// Not allowed in the clause of this name.
    NotIn(&'static str),
    /// Not allowed in the argument of another aggregate.
    Inside,
}

/// What a name means.
enum Resolved<'a> {
    Column(Column<'a>),
    /// A computed output of the inner query.
    Output(TypedExpr),
}

impl<'a> Binder<'a> {
    pub(crate) fn new(scope: Scope<'a>) -> Self {
        Self {
            scope,
            derived: None,
            notes: Vec::new(),
            aliases: Vec::new(),
            use_aliases: false,
            aggregates: Aggregates::NotIn("a query without FROM"),
            patterns: 0,
            unnest_at: NOWHERE,
            functions: FunctionRegistry::default(),
            copies: 0,
            depth: 0,
        }
    }

    /// Binds one expression.
    pub(crate) fn bind(&mut self, expr: &Expr) -> Read<TypedExpr> {
        if self.depth >= 2 * limits::EXPR_DEPTH_MAX {
            return Err(crate::syntax::parse::too_deep(place(expr)));
        }
        self.depth += 1;
        let bound = self.bind_node(expr).map_err(|error| error.or_at(place(expr)));
        self.depth -= 1;
        bound
    }

    /// Binds a condition.
    pub(crate) fn bind_truth(&mut self, expr: &Expr) -> Read<TypedExpr> {
        let bound = self.bind(expr)?;
        truth(bound, place(expr))
    }

    fn bind_node(&mut self, expr: &Expr) -> Read<TypedExpr> {
        match expr {
            Expr::Identifier(ident) => self.name(std::slice::from_ref(ident)),
            Expr::CompoundIdentifier(idents) => self.name(idents),
            Expr::Nested(inner) => self.bind(inner),
            Expr::Value(value) => literal::value(&value.value),
            Expr::TypedString(typed) => cast::typed_string(self, typed),
            Expr::Interval(interval) => literal::interval(interval),
            Expr::BinaryOp { left, op, right } => self.binary(expr, left, op, right),
            Expr::UnaryOp { op, expr } => self.unary(*op, expr),
            Expr::Cast { expr, data_type, format: None, .. } => cast::cast(self, expr, data_type),
            Expr::Function(function) => function::function(self, function),
            Expr::Ceil { expr, field } => function::rounded(self, Function::Ceil, expr, field),
            Expr::Floor { expr, field } => function::rounded(self, Function::Floor, expr, field),
            Expr::Extract { field, expr, .. } => {
                let time = self.bind(expr)?;
                time_function::extract(&field.to_string(), time, self.scope.zone())
            }
            Expr::AtTimeZone { timestamp, time_zone } => {
                time_function::at_time_zone(self, timestamp, time_zone)
            }
            Expr::Substring { .. } | Expr::Trim { .. } | Expr::Position { .. } => {
                text_function::keyword_form(self, expr)
            }
            Expr::Case { operand, conditions, else_result, .. } => {
                function::case(self, operand.as_deref(), conditions, else_result.as_deref())
            }
            _ => self.bind_condition(expr),
        }
    }

    fn bind_condition(&mut self, expr: &Expr) -> Read<TypedExpr> {
        match expr {
            Expr::IsNull(inner) | Expr::IsUnknown(inner) => self.is_null(inner),
            Expr::IsNotNull(inner) | Expr::IsNotUnknown(inner) => {
                self.is_null(inner).map(TypedExpr::negated)
            }
            Expr::IsTrue(inner) => self.is(inner, true),
            Expr::IsFalse(inner) => self.is(inner, false),
            Expr::IsNotTrue(inner) => self.is(inner, true).map(TypedExpr::negated),
            Expr::IsNotFalse(inner) => self.is(inner, false).map(TypedExpr::negated),
            Expr::IsNotDistinctFrom(left, right) => any_of::is_same(self, left, right),
            Expr::IsDistinctFrom(left, right) => {
                any_of::is_same(self, left, right).map(TypedExpr::negated)
            }
            Expr::AnyOp { left, compare_op, right, .. } => {
                any_of::any(self, left, compare_op, right)
            }
            Expr::AllOp { left, compare_op, right } => any_of::all(self, left, compare_op, right),
            Expr::InList { expr, list, negated } => {
                let condition = compare::in_list(self, expr, list)?;
                Ok(if *negated { condition.negated() } else { condition })
            }
            Expr::Between { expr, negated, low, high } => {
                let between = compare::between(self, expr, low, high)?;
                Ok(if *negated { between.negated() } else { between })
            }
            Expr::Like { .. } | Expr::ILike { .. } | Expr::RLike { .. } => {
                pattern::like(self, expr)
            }
            _ => Err(refuse(expr)),
        }
    }

    fn binary(
        &mut self,
        whole: &Expr,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
    ) -> Read<TypedExpr> {
        match op {
            BinaryOperator::And => self.junction(whole, op, Function::And),
            BinaryOperator::Or => self.junction(whole, op, Function::Or),
            BinaryOperator::StringConcat => {
                let texts = self.chain(whole, op, Self::bind)?;
                Ok(TypedExpr::call_all(Function::Concat, texts, Type::String))
            }
            _ => {
                if let Some(function) = compare::operator(op) {
                    return compare::compare_exprs(self, function, left, right);
                }
                if let Some(pattern) = pattern::operator(op) {
                    return pattern::matches(self, pattern, left, right);
                }
                if let Some(moved) = time_function::moved(self, left, op, right)? {
                    return Ok(moved);
                }
                let (left, right) = (self.bind(left)?, self.bind(right)?);
                arithmetic::binary(op, left, right)
            }
        }
    }

    /// AND or OR of all conditions of a chain, of any length.
    fn junction(
        &mut self,
        chain: &Expr,
        op: &BinaryOperator,
        function: Function,
    ) -> Read<TypedExpr> {
        let conditions = self.chain(chain, op, Self::bind_truth)?;
        Ok(TypedExpr::call_all(function, conditions, Type::Bool))
    }

    fn chain(
        &mut self,
        chain: &Expr,
        op: &BinaryOperator,
        bind: fn(&mut Self, &Expr) -> Read<TypedExpr>,
    ) -> Read<Vec<TypedExpr>> {
        operands(chain, op).into_iter().map(|operand| bind(self, operand)).collect()
    }

    fn unary(&mut self, op: UnaryOperator, inner: &Expr) -> Read<TypedExpr> {
        match op {
            UnaryOperator::Not => self.bind_truth(inner).map(TypedExpr::negated),
            UnaryOperator::Plus | UnaryOperator::Minus => {
                let number = arithmetic::number(self.bind(inner)?, place(inner))?;
                let whole = number.whole;
                Ok(match op {
                    UnaryOperator::Minus => TypedExpr {
                        whole,
                        ..TypedExpr::call(Function::Negate, [number], Type::Number)
                    },
                    _ => number,
                })
            }
            _ => Err(LocatedError::new(format!("there is no operator {op}"), place(inner))),
        }
    }

    /// Resolves a name: to an output column if those are visible, else to a column.
    fn name(&mut self, parts: &[Ident]) -> Read<TypedExpr> {
        if self.use_aliases
            && let Some(output) = self.alias(parts)?
        {
            return Ok(output);
        }
        match self.resolve(parts)? {
            Resolved::Column(column) => Ok(column.bind()),
            Resolved::Output(output) if output.has_aggregate() => {
                let at = parts.first().map_or(NOWHERE, |part| part.span.start);
                match self.aggregates {
                    Aggregates::Inside => {
                        Err(LocatedError::new("an aggregate of an aggregate", at)
                            .hint("Hadal has no groups of groups"))
                    }
                    _ => Ok(output),
                }
            }
            Resolved::Output(output) => Ok(output),
        }
    }

    /// What a name means: a column, or a computed output of the inner query.
    fn resolve(&mut self, parts: &[Ident]) -> Read<Resolved<'a>> {
        let Some(derived) = self.derived.as_ref() else {
            return self.column(parts).map(Resolved::Column);
        };
        let output = match derived.find(parts) {
            Lookup::Output(output) => match &output.column {
                Some(column) => return Ok(Resolved::Column(column.clone())),
                None => output.bound.clone(),
            },
            Lookup::Table(rest) => return self.column(rest).map(Resolved::Column),
            Lookup::Missing => {
                let name = joined(parts);
                let at = parts.first().map_or(NOWHERE, |part| part.span.start);
                let error = LocatedError::new(format!("there is no column {name}"), at);
                return Err(match did_you_mean(&name, derived.names()) {
                    Some(hint) => error.hint(hint),
                    None => error.hint("the inner query names its columns"),
                });
            }
        };
        self.count_copies(nodes(&output.expr))?;
        Ok(Resolved::Output(output))
    }

    /// The output column of this name, if output columns are visible here.
    pub(crate) fn alias(&mut self, parts: &[Ident]) -> Read<Option<TypedExpr>> {
        let Some(output) = self.find_alias(parts) else { return Ok(None) };
        let (size, output) = (nodes(&output.expr), output.clone());
        self.count_copies(size).map(|()| Some(output))
    }

    fn find_alias(&self, parts: &[Ident]) -> Option<&TypedExpr> {
        let [ident] = parts else { return None };
        if self.aggregates == Aggregates::Inside {
            return None;
        }
        let has_groups =
            [Aggregates::Allowed, Aggregates::NotIn(AROUND_GROUPS)].contains(&self.aggregates);
        let allowed = |bound: &TypedExpr| has_groups || !bound.has_aggregate();
        let named = |same: &dyn Fn(&str) -> bool| {
            let output = self.aliases.iter().find(|(name, bound)| same(name) && allowed(bound));
            output.map(|(_, bound)| bound)
        };
        named(&|name| name == ident.value).or_else(|| match ident.quote_style {
            Some(_) => None,
            None => named(&|name| name.eq_ignore_ascii_case(&ident.value)),
        })
    }

    /// The column of this name. An absent column, if allowed, adds a note.
    pub(crate) fn column(&mut self, parts: &[Ident]) -> Read<Column<'a>> {
        let column = self.scope.column(parts)?;
        if let Column::Absent(name) = &column {
            let why = match self.scope.has_columns() {
                true => format!("there is no column {name}"),
                false => format!("no row can be read, so nobody knows a column {name}"),
            };
            self.note("unknown_column", format!("{why}; it is null in every row"));
        }
        Ok(column)
    }

    /// The column that `expr` names, ignoring parentheses; `None` for other expressions.
    pub(crate) fn as_column(&mut self, expr: &Expr) -> Read<Option<Column<'a>>> {
        let parts = match strip(expr) {
            Expr::Identifier(ident) => std::slice::from_ref(ident),
            Expr::CompoundIdentifier(idents) => idents.as_slice(),
            _ => return Ok(None),
        };
        match self.use_aliases && self.find_alias(parts).is_some() {
            true => Ok(None),
            false => Ok(match self.resolve(parts)? {
                Resolved::Column(column) => Some(column),
                Resolved::Output(_) => None,
            }),
        }
    }

    /// Whether the value is null; a column is null if all its kinds are.
    fn is_null(&mut self, inner: &Expr) -> Read<TypedExpr> {
        match self.as_column(inner)? {
            Some(Column::Known(column)) => Ok(is_null_column(column)),
            Some(column) => Ok(TypedExpr::call(Function::IsNull, [column.bind()], Type::Bool)),
            None => Ok(TypedExpr::call(Function::IsNull, [self.bind(inner)?], Type::Bool)),
        }
    }

    fn is(&mut self, inner: &Expr, expected: bool) -> Read<TypedExpr> {
        let value = self.bind_truth(inner)?;
        let not_null =
            TypedExpr::call(Function::IsNull, [self.copy(&value)?], Type::Bool).negated();
        let same = if expected { value } else { value.negated() };
        Ok(TypedExpr::call(Function::And, [not_null, same], Type::Bool))
    }

    /// Returns a copy of `bound`. The total size of copies is limited, because each level of `x IS
    /// TRUE IS TRUE …` copies the level below it twice.
    pub(crate) fn copy(&mut self, bound: &TypedExpr) -> Read<TypedExpr> {
        self.count_copies(nodes(&bound.expr))?;
        Ok(bound.clone())
    }

    /// Counts copies of `nodes` nodes.
    pub(crate) fn count_copies(&mut self, nodes: usize) -> Read<()> {
        self.copies = self.copies.saturating_add(nodes);
        match self.copies > limits::EXPR_COPIES_MAX {
            true => {
                Err(LocatedError::new("expressions that repeat too much of each other", NOWHERE))
            }
            false => Ok(()),
        }
    }

    /// Adds a note for the client, once each, up to the limit of notes per result.
    pub(crate) fn note(&mut self, code: &'static str, message: String) {
        let note = Note { code, message };
        if self.notes.len() < limits::WARNINGS_MAX && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Checks that an aggregate is allowed at `at`.
    pub(crate) fn allow_aggregate(&self, name: &str, at: Location) -> Read<()> {
        match self.aggregates {
            Aggregates::Allowed => Ok(()),
            Aggregates::Inside => {
                Err(LocatedError::new(format!("{name} inside another aggregate"), at))
            }
            Aggregates::NotIn(clause) => {
                let error =
                    LocatedError::new(format!("{name} is an aggregate; {clause} has none"), at);
                Err(match clause {
                    AROUND_GROUPS => error.hint("Hadal has no groups of groups"),
                    "WHERE" => error.hint("conditions on aggregates go into HAVING"),
                    _ => error,
                })
            }
        }
    }
}

/// Removes the parentheses around `expr`.
pub(crate) fn strip(expr: &Expr) -> &Expr {
    let mut expr = expr;
    while let Expr::Nested(inner) = expr {
        expr = inner;
    }
    expr
}

/// The operands of a chain `a OP b OP c` from left to right, ignoring parentheses.
pub(crate) fn operands<'e>(chain: &'e Expr, op: &BinaryOperator) -> Vec<&'e Expr> {
    let mut operands = Vec::new();
    let mut waiting = vec![chain];
    while let Some(expr) = waiting.pop() {
        match strip(expr) {
            Expr::BinaryOp { left, op: inner, right } if inner == op => {
                waiting.push(right);
                waiting.push(left);
            }
            operand => operands.push(operand),
        }
    }
    operands
}

/// Checks that `bound` is a condition: only truth values are.
pub(crate) fn truth(bound: TypedExpr, at: Location) -> Read<TypedExpr> {
    match bound.value_type {
        Type::Bool | Type::Null => Ok(bound),
        Type::Number => Err(LocatedError::new("a condition must be a bool; this is a number", at)
            .hint("compare it, for example with <> 0")),
        other => {
            Err(LocatedError::new(format!("a condition must be a bool; this is {}", a(other)), at))
        }
    }
}

fn is_null_column(column: &ColumnSchema) -> TypedExpr {
    let parts = column.parts.iter().map(|part| {
        TypedExpr::call(Function::IsNull, [TypedExpr::part(column, part.kind)], Type::Bool)
    });
    let mut parts: Vec<TypedExpr> = parts.collect();
    match parts.len() {
        0 => TypedExpr::literal(Value::Bool(true)),
        1 => parts.remove(0),
        _ => TypedExpr::call_all(Function::And, parts, Type::Bool),
    }
}

fn refuse(expr: &Expr) -> LocatedError {
    const EXPORT: &str = "export the rows and go on elsewhere: \
                          hadal query --format csv \"SELECT …\" > file";
    let what = match expr {
        Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => {
            return LocatedError::new("Hadal has no subqueries", place(expr)).hint(EXPORT);
        }
        Expr::Array(_) => {
            return LocatedError::new(
                "a list can stand only in ANY, ALL and the includes functions",
                place(expr),
            )
            .hint("x = ANY(ARRAY['a', 'b']), or includes_any(column, 'a', 'b')");
        }
        Expr::Overlay { .. } => "overlay",
        Expr::SimilarTo { .. } => "SIMILAR TO (~ takes a regular expression)",
        Expr::Collate { .. } => "COLLATE",
        Expr::Tuple(_) => "lists in parentheses outside of IN",
        Expr::CompoundFieldAccess { .. } | Expr::JsonAccess { .. } => {
            "access into a value (nested fields are columns: a.b)"
        }
        _ => "an expression of this form",
    };
    LocatedError::new(format!("{what} is not supported"), place(expr))
}

/// The arguments of a function; all must be expressions.
pub(crate) fn arguments(function: &ast::Function) -> Read<Vec<&Expr>> {
    let ast::FunctionArguments::List(list) = &function.args else { return Ok(Vec::new()) };
    list.args
        .iter()
        .map(|argument| match argument {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => Ok(expr),
            _ => Err(LocatedError::new(
                format!("{} takes expressions", aggregate::name_of(function)),
                NOWHERE,
            )),
        })
        .collect()
}
