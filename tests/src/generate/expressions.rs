//! Random expressions in which every function gets arguments of the right types.

use hadal_query::{Expr, Function, PatternSyntax, TimeField, Type};
use hadal_types::{Micros, Value};

use super::facts::Pool;
use super::pool;
use super::random::Random;

/// Generates expressions over the given leaves.
#[derive(Debug)]
pub struct Expressions<'a, L> {
    /// The source of randomness.
    pub random: &'a mut Random,
    /// The leaves, with their types.
    pub leaves: &'a [(Type, Expr<L>)],
    /// The known values of each leaf, in the same order. Leaves beyond the end have none.
    pub pools: &'a [Pool],
    /// The smallest width of a time bucket in microseconds, which limits the number of buckets.
    pub bucket_micros_min: i64,
}

const VALUES: [Type; 6] =
    [Type::Bool, Type::Number, Type::Time, Type::String, Type::Set, Type::Vector];
const LIST_FUNCTIONS: [Function; 6] = [
    Function::IncludesAny,
    Function::IncludesAll,
    Function::IncludesNone,
    Function::IncludesStart,
    Function::IncludesEnd,
    Function::IncludesWithin,
];
const ARITHMETIC: [Function; 7] = [
    Function::Add,
    Function::Subtract,
    Function::Multiply,
    Function::Divide,
    Function::DivideWhole,
    Function::Remainder,
    Function::Bucket,
];
const OF_ONE_NUMBER: [Function; 5] =
    [Function::Negate, Function::Abs, Function::Round, Function::Floor, Function::Ceil];
const FIELDS: [TimeField; 14] = [
    TimeField::Year,
    TimeField::Month,
    TimeField::Day,
    TimeField::Hour,
    TimeField::Minute,
    TimeField::Second,
    TimeField::DayOfWeek,
    TimeField::Epoch,
    TimeField::Quarter,
    TimeField::Week,
    TimeField::IsoYear,
    TimeField::DayOfYear,
    TimeField::IsoDayOfWeek,
    TimeField::Millisecond,
];
/// Widths of time buckets in seconds: from a second to four weeks.
const WIDTHS: [i64; 8] = [1, 10, 60, 300, 3_600, 86_400, 7 * 86_400, 28 * 86_400];

impl<L: Clone> Expressions<'_, L> {
    /// One of the types of row values.
    pub fn any_type(&mut self) -> Type {
        *self.random.pick(&VALUES)
    }

    /// An expression of this type, calls nested at most `depth` deep.
    pub fn expr(&mut self, of: Type, depth: usize) -> Expr<L> {
        if depth == 0 || self.random.percent(20) {
            return self.leaf(of);
        }
        if self.random.percent(10) {
            return self.choice(of, depth - 1);
        }
        match of {
            Type::Bool => self.truth(depth - 1),
            Type::Number => self.number(depth - 1),
            Type::Time => self.time(depth - 1),
            Type::String => self.string(depth - 1),
            _ => self.leaf(of),
        }
    }

    /// A leaf of this type if there is one, at times a literal.
    pub fn leaf(&mut self, of: Type) -> Expr<L> {
        let index = if self.random.percent(10) { None } else { self.leaf_index(of) };
        match index {
            None => Expr::Literal(self.literal(of)),
            Some(at) => self.leaves[at].1.clone(),
        }
    }

    /// The index of a leaf of this type.
    fn leaf_index(&mut self, of: Type) -> Option<usize> {
        let leaves = self.leaves.iter().enumerate();
        let fitting: Vec<usize> =
            leaves.filter(|(_, leaf)| leaf.0 == of).map(|(at, _)| at).collect();
        (!fitting.is_empty()).then(|| *self.random.pick(&fitting))
    }

    /// A leaf of this type and its known values. Without such a leaf, any expression and no values.
    fn known_or(&mut self, of: Type, depth: usize) -> (Expr<L>, Pool) {
        match self.leaf_index(of).filter(|_| self.random.percent(80)) {
            Some(at) => {
                let pool = self.pools.get(at).cloned().unwrap_or_default();
                (self.leaves[at].1.clone(), pool)
            }
            None => (self.expr(of, depth), Pool::default()),
        }
    }

    /// A literal of this type: mostly one of these values or next to one.
    fn near(&mut self, pool: &Pool, of: Type) -> Expr<L> {
        let value = pool.value(self.random).filter(|_| self.random.percent(85));
        Expr::Literal(value.unwrap_or_else(|| self.literal(of)))
    }

    /// A literal of this type, rarely null.
    pub fn literal(&mut self, of: Type) -> Value {
        if self.random.percent(3) {
            return Value::Null;
        }
        match of {
            Type::Bool => Value::Bool(self.random.percent(50)),
            Type::Number => Value::Number(pool::number(self.random)),
            Type::Time => Value::Time(pool::time(self.random)),
            Type::String => Value::string(pool::word(self.random)),
            Type::Set => pool::set(self.random),
            Type::Vector => pool::vector(self.random),
            Type::Null | Type::Histogram => Value::Null,
        }
    }

    /// The start of the time bucket that contains `time`.
    pub fn bucket(&mut self, time: Expr<L>) -> Expr<L> {
        if self.random.percent(25) {
            return self.calendar_bucket(time);
        }
        let widths: Vec<i64> = WIDTHS
            .iter()
            .map(|seconds| seconds * Micros::SECOND)
            .filter(|width| *width >= self.bucket_micros_min)
            .collect();
        let width = match widths.is_empty() {
            true => self.bucket_micros_min,
            false => *self.random.pick(&widths),
        };
        // The distance of two block edges, or a microsecond more or less.
        let times = self.leaf_index(Type::Time).and_then(|at| self.pools.get(at)).cloned();
        let spans = times.clone().and_then(|pool| pool.width(self.random));
        let spans = spans.filter(|span| *span >= self.bucket_micros_min);
        let width = spans.filter(|_| self.random.percent(30)).unwrap_or(width);
        let mut arguments = vec![time, Expr::Literal(Value::integer(width))];
        if self.random.percent(30) {
            let origin = self.random.between(-86_400, 345_600) * Micros::SECOND;
            let table_time = match times.and_then(|pool| pool.value(self.random)) {
                Some(Value::Time(time)) if self.random.percent(50) => Some(time.0),
                _ => None,
            };
            arguments.push(Expr::Literal(Value::integer(table_time.unwrap_or(origin))));
        }
        Expr::call(Function::TimeBucket, arguments)
    }

    /// Functions that return the type of their arguments.
    fn choice(&mut self, of: Type, depth: usize) -> Expr<L> {
        if self.random.percent(50) {
            let count = 1 + self.random.below(3);
            let arguments: Vec<_> = (0..count).map(|_| self.expr(of, depth)).collect();
            let functions = [Function::Coalesce, Function::Greatest, Function::Least];
            return Expr::call(*self.random.pick(&functions), arguments);
        }
        let mut arguments = Vec::new();
        let is_constant = self.random.percent(40);
        let value = |all: &mut Self| match is_constant {
            true => Expr::Literal(all.literal(of)),
            false => all.expr(of, depth),
        };
        for _ in 0..1 + self.random.below(2) {
            arguments.push(self.expr(Type::Bool, depth));
            arguments.push(value(self));
        }
        if self.random.percent(70) {
            arguments.push(value(self));
        }
        Expr::call(Function::Case, arguments)
    }

    fn truth(&mut self, depth: usize) -> Expr<L> {
        match self.random.below(13) {
            12 => self.text_relation(depth),
            0..2 => {
                let function = *self.random.pick(&[Function::And, Function::Or]);
                let count = 1 + self.random.below(3);
                let arguments: Vec<_> = (0..count).map(|_| self.expr(Type::Bool, depth)).collect();
                Expr::call(function, arguments)
            }
            2 => Expr::call(Function::Not, [self.expr(Type::Bool, depth)]),
            3 => {
                let of = self.any_type();
                Expr::call(Function::IsNull, [self.expr(of, depth)])
            }
            4..7 => self.comparison(depth),
            7 => self.membership(depth),
            8..10 => self.pattern(depth),
            10 => self.list_relation(),
            _ => {
                let of = *self.random.pick(&[Type::Set, Type::Vector]);
                Expr::call(Function::IsEmpty, [self.leaf(of)])
            }
        }
    }

    fn comparison(&mut self, depth: usize) -> Expr<L> {
        let of = match self.random.below(6) {
            0..3 => Type::Number,
            3 => Type::String,
            _ => self.any_type(),
        };
        let function = *self.random.pick(&Function::COMPARISONS);
        let (left, pool) = self.known_or(of, depth);
        let right = match self.random.percent(70) {
            true => self.near(&pool, of),
            false => self.expr(of, depth),
        };
        match self.random.percent(15) {
            true => Expr::call(function, [right, left]),
            false => Expr::call(function, [left, right]),
        }
    }

    fn membership(&mut self, depth: usize) -> Expr<L> {
        let of = self.any_type();
        let (of_what, pool) = self.known_or(of, depth);
        let mut arguments = vec![of_what];
        for _ in 0..1 + self.random.below(5) {
            arguments.push(self.near(&pool, of));
        }
        Expr::call(Function::In, arguments)
    }

    fn pattern(&mut self, depth: usize) -> Expr<L> {
        let (text, pool) = self.known_or(Type::String, depth);
        let syntax = *self.random.pick(&[
            PatternSyntax::Like,
            PatternSyntax::ILike,
            PatternSyntax::Regex,
            PatternSyntax::IRegex,
        ]);
        let pattern = match syntax {
            PatternSyntax::Like | PatternSyntax::ILike => match pool.value(self.random) {
                Some(Value::String(text)) if self.random.percent(60) => part_of(&text),
                _ => pool::like(self.random).to_owned(),
            },
            PatternSyntax::Regex | PatternSyntax::IRegex => pool::regex(self.random).to_owned(),
        };
        Expr::call(Function::Matches(syntax), [text, Expr::Literal(Value::string(&pattern))])
    }

    fn list_relation(&mut self) -> Expr<L> {
        let of = *self.random.pick(&[Type::Set, Type::Vector]);
        let function = *self.random.pick(&LIST_FUNCTIONS);
        let (list, pool) = self.known_or(of, 0);
        let mut arguments = vec![list];
        for _ in 0..self.random.below(4) {
            let existing = match pool.value(self.random) {
                Some(Value::Set(words) | Value::Vector(words)) if !words.is_empty() => {
                    Some(self.random.pick(&words).clone())
                }
                _ => None,
            };
            let existing = existing.filter(|_| self.random.percent(60));
            let word = existing.unwrap_or_else(|| pool::word(self.random).into());
            arguments.push(Expr::Literal(Value::string(&word)));
        }
        Expr::call(function, arguments)
    }

    fn number(&mut self, depth: usize) -> Expr<L> {
        match self.random.below(12) {
            10..12 => self.math_call(depth),
            0..4 => {
                let function = *self.random.pick(&ARITHMETIC);
                let (left, pool) = self.known_or(Type::Number, depth);
                let width = pool.width(self.random).filter(|_| self.random.percent(50));
                let right = match width.filter(|_| function == Function::Bucket) {
                    Some(width) => Expr::Literal(Value::integer(width)),
                    None => self.expr(Type::Number, depth),
                };
                Expr::call(function, [left, right])
            }
            4 => {
                let function = *self.random.pick(&OF_ONE_NUMBER);
                Expr::call(function, [self.expr(Type::Number, depth)])
            }
            5 => {
                let digits = Value::integer(self.random.between(-6, 9));
                let number = self.expr(Type::Number, depth);
                Expr::call(Function::Round, [number, Expr::Literal(digits)])
            }
            6 => {
                let left = self.expr(Type::Time, depth);
                Expr::call(Function::SecondsBetween, [left, self.expr(Type::Time, depth)])
            }
            7 => {
                let field = Function::Extract(*self.random.pick(&FIELDS));
                Expr::call(field, [self.expr(Type::Time, depth)])
            }
            8 => {
                let of = *self.random.pick(&[Type::String, Type::Set, Type::Vector]);
                Expr::call(Function::Length, [self.expr(of, depth)])
            }
            _ => {
                let from = [Type::String, Type::Bool, Type::Number, Type::Time];
                let of = *self.random.pick(&from);
                Expr::call(Function::ToNumber, [self.expr(of, depth)])
            }
        }
    }

    fn time(&mut self, depth: usize) -> Expr<L> {
        if self.random.percent(40) {
            return self.calendar_call(depth);
        }
        let time = self.expr(Type::Time, depth);
        match self.random.percent(50) {
            true => self.bucket(time),
            false => Expr::call(Function::AddSeconds, [time, self.expr(Type::Number, depth)]),
        }
    }

    fn string(&mut self, depth: usize) -> Expr<L> {
        match self.random.below(9) {
            6..8 => self.text_call(depth),
            8 => self.changed_text(depth),
            0..3 => {
                let function = *self.random.pick(&[Function::Lower, Function::Upper]);
                Expr::call(function, [self.expr(Type::String, depth)])
            }
            3 => {
                let count = 1 + self.random.below(3);
                let mut arguments = Vec::new();
                for _ in 0..count {
                    let of = self.any_type();
                    arguments.push(self.expr(of, depth));
                }
                Expr::call(Function::Concat, arguments)
            }
            _ => {
                let of = self.any_type();
                Expr::call(Function::ToText, [self.expr(of, depth)])
            }
        }
    }
}

/// A LIKE pattern for strings that contain the first letters of `text`.
fn part_of(text: &str) -> String {
    let part: String = text.chars().take(3).collect();
    format!("%{part}%")
}
