//! Random expressions in which every function gets what it asks for.

use hadal_query::{Expr, Function, Syntax, TimeField, Type};
use hadal_types::{Micros, Value};

use super::pool;
use super::random::Random;

/// Makes expressions over the given leaves.
#[derive(Debug)]
pub struct Expressions<'a, L> {
    /// Where chance comes from.
    pub random: &'a mut Random,
    /// The leaves, with their types.
    pub leaves: &'a [(Type, Expr<L>)],
    /// The smallest width of a time bucket in microseconds, so that there are not too many.
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
const FIELDS: [TimeField; 8] = [
    TimeField::Year,
    TimeField::Month,
    TimeField::Day,
    TimeField::Hour,
    TimeField::Minute,
    TimeField::Second,
    TimeField::DayOfWeek,
    TimeField::Epoch,
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

    /// A leaf of this type where there is one, at times a literal.
    pub fn leaf(&mut self, of: Type) -> Expr<L> {
        let fitting: Vec<&Expr<L>> =
            self.leaves.iter().filter(|leaf| leaf.0 == of).map(|leaf| &leaf.1).collect();
        match fitting.is_empty() || self.random.percent(10) {
            true => Expr::Literal(self.literal(of)),
            false => (*self.random.pick(&fitting)).clone(),
        }
    }

    /// A literal of this type, seldom null.
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

    /// The start of the time bucket that `time` lies in.
    pub fn bucket(&mut self, time: Expr<L>) -> Expr<L> {
        let widths: Vec<i64> = WIDTHS
            .iter()
            .map(|seconds| seconds * Micros::SECOND)
            .filter(|width| *width >= self.bucket_micros_min)
            .collect();
        let width = match widths.is_empty() {
            true => self.bucket_micros_min,
            false => *self.random.pick(&widths),
        };
        let mut arguments = vec![time, Expr::Literal(Value::integer(width))];
        if self.random.percent(30) {
            let origin = self.random.between(-86_400, 345_600) * Micros::SECOND;
            arguments.push(Expr::Literal(Value::integer(origin)));
        }
        Expr::call(Function::TimeBucket, arguments)
    }

    /// Functions that give whatever type they are given.
    fn choice(&mut self, of: Type, depth: usize) -> Expr<L> {
        if self.random.percent(50) {
            let count = 1 + self.random.below(3);
            let arguments: Vec<_> = (0..count).map(|_| self.expr(of, depth)).collect();
            return Expr::call(Function::Coalesce, arguments);
        }
        let mut arguments = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            arguments.push(self.expr(Type::Bool, depth));
            arguments.push(self.expr(of, depth));
        }
        if self.random.percent(70) {
            arguments.push(self.expr(of, depth));
        }
        Expr::call(Function::Case, arguments)
    }

    fn truth(&mut self, depth: usize) -> Expr<L> {
        match self.random.below(12) {
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
        let left = self.expr(of, depth);
        let right = match self.random.percent(70) {
            true => Expr::Literal(self.literal(of)),
            false => self.expr(of, depth),
        };
        match self.random.percent(15) {
            true => Expr::call(function, [right, left]),
            false => Expr::call(function, [left, right]),
        }
    }

    fn membership(&mut self, depth: usize) -> Expr<L> {
        let of = self.any_type();
        let mut arguments = vec![self.expr(of, depth)];
        for _ in 0..1 + self.random.below(5) {
            arguments.push(Expr::Literal(self.literal(of)));
        }
        Expr::call(Function::In, arguments)
    }

    fn pattern(&mut self, depth: usize) -> Expr<L> {
        let text = self.expr(Type::String, depth);
        let syntax =
            *self.random.pick(&[Syntax::Like, Syntax::ILike, Syntax::Regex, Syntax::IRegex]);
        let pattern = match syntax {
            Syntax::Like | Syntax::ILike => pool::like(self.random),
            Syntax::Regex | Syntax::IRegex => pool::regex(self.random),
        };
        Expr::call(Function::Matches(syntax), [text, Expr::Literal(Value::string(pattern))])
    }

    fn list_relation(&mut self) -> Expr<L> {
        let of = *self.random.pick(&[Type::Set, Type::Vector]);
        let function = *self.random.pick(&LIST_FUNCTIONS);
        let mut arguments = vec![self.leaf(of)];
        for _ in 0..self.random.below(4) {
            arguments.push(Expr::Literal(Value::string(pool::word(self.random))));
        }
        Expr::call(function, arguments)
    }

    fn number(&mut self, depth: usize) -> Expr<L> {
        match self.random.below(10) {
            0..4 => {
                let function = *self.random.pick(&ARITHMETIC);
                let left = self.expr(Type::Number, depth);
                Expr::call(function, [left, self.expr(Type::Number, depth)])
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
        let time = self.expr(Type::Time, depth);
        match self.random.percent(50) {
            true => self.bucket(time),
            false => Expr::call(Function::AddSeconds, [time, self.expr(Type::Number, depth)]),
        }
    }

    fn string(&mut self, depth: usize) -> Expr<L> {
        match self.random.below(6) {
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
