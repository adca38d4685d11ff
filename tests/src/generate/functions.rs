//! Random calls of functions of strings, numbers and times.

use hadal_query::{CalendarFunction, Expr, Function, MathFunction, TextFunction, Type};
use hadal_types::{Micros, Value};

use super::expressions::Expressions;

const ZONES: [&str; 6] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Europe/Atlantis",
];
const HOUR: i64 = 3_600 * Micros::SECOND;
/// Widths that begin at a time of the wall clock.
const WALL_CLOCK_WIDTHS: [i64; 7] =
    [HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR, 48 * HOUR, 7 * 24 * HOUR];
const SEPARATORS: [&str; 8] = ["a", "b", "", " ", "ab", "é", "%", "-"];
const REGEXES: [&str; 6] = ["a", "(a)(b)?", "[0-9]+", "", "b*", "(?i)É|ß"];
const REPLACEMENTS: [&str; 5] = ["", "x", r"[\&]", r"\1-\2", r"\\\3"];
const FORMATS: [&str; 3] = ["%Y-%m-%d", "%H:%M:%S", "%d. %m. %Y %%%q"];

impl<L: Clone> Expressions<'_, L> {
    fn text_literal(&mut self, choices: &[&str]) -> Expr<L> {
        Expr::Literal(Value::string(self.random.pick::<&str>(choices)))
    }

    fn zone(&mut self) -> Expr<L> {
        self.text_literal(&ZONES)
    }

    fn small(&mut self) -> Expr<L> {
        Expr::Literal(Value::integer(self.random.between(-3, 6)))
    }

    /// A string from a function of strings.
    pub(super) fn text_call(&mut self, depth: usize) -> Expr<L> {
        let text = self.expr(Type::String, depth);
        let function = *self.random.pick(&[
            TextFunction::Substring,
            TextFunction::Left,
            TextFunction::Right,
            TextFunction::Trim,
            TextFunction::TrimStart,
            TextFunction::TrimEnd,
            TextFunction::Replace,
            TextFunction::SplitPart,
            TextFunction::Reverse,
            TextFunction::Repeat,
            TextFunction::PadStart,
            TextFunction::PadEnd,
        ]);
        let mut arguments = vec![text];
        match function {
            TextFunction::Substring => {
                arguments.push(self.expr(Type::Number, depth.min(1)));
                if self.random.percent(60) {
                    arguments.push(self.small());
                }
            }
            TextFunction::Left | TextFunction::Right => {
                arguments.push(self.expr(Type::Number, depth.min(1)));
            }
            TextFunction::Trim | TextFunction::TrimStart | TextFunction::TrimEnd
                if self.random.percent(60) =>
            {
                arguments.push(self.expr(Type::String, 0));
            }
            TextFunction::Replace => {
                arguments.push(self.text_literal(&SEPARATORS));
                arguments.push(self.text_literal(&SEPARATORS));
            }
            TextFunction::SplitPart => {
                arguments.push(self.text_literal(&SEPARATORS));
                arguments.push(self.small());
            }
            TextFunction::Repeat => arguments.push(self.small()),
            TextFunction::PadStart | TextFunction::PadEnd => {
                arguments.push(self.small());
                if self.random.percent(60) {
                    arguments.push(self.text_literal(&SEPARATORS));
                }
            }
            _ => {}
        }
        Expr::call(Function::Text(function), arguments)
    }

    /// A part of a string, or a string with replacements, by a regular expression; or a time as
    /// text.
    pub(super) fn changed_text(&mut self, depth: usize) -> Expr<L> {
        if self.random.percent(30) {
            let arguments = [self.expr(Type::Time, depth), self.text_literal(&FORMATS)];
            return Expr::call(Function::Calendar(CalendarFunction::Format), arguments);
        }
        let text = self.expr(Type::String, depth);
        let pattern = self.text_literal(&REGEXES);
        if self.random.percent(40) {
            let group = Expr::Literal(Value::integer(self.random.between(0, 2)));
            return Expr::call(Function::RegexpExtract, [text, pattern, group]);
        }
        let function = *self.random.pick(&[Function::RegexpReplace, Function::RegexpReplaceAll]);
        Expr::call(function, [text, pattern, self.text_literal(&REPLACEMENTS)])
    }

    /// A condition on two strings.
    pub(super) fn text_relation(&mut self, depth: usize) -> Expr<L> {
        let function = *self.random.pick(&[
            TextFunction::StartsWith,
            TextFunction::EndsWith,
            TextFunction::Contains,
        ]);
        let other = match self.random.percent(70) {
            true => self.text_literal(&SEPARATORS),
            false => self.expr(Type::String, 0),
        };
        Expr::call(Function::Text(function), [self.expr(Type::String, depth), other])
    }

    /// A number from a function of numbers or strings.
    pub(super) fn math_call(&mut self, depth: usize) -> Expr<L> {
        let function = *self.random.pick(&[
            MathFunction::Power,
            MathFunction::Sqrt,
            MathFunction::Ln,
            MathFunction::Log,
            MathFunction::Exp,
            MathFunction::Sign,
            MathFunction::Truncate,
        ]);
        if self.random.percent(20) {
            let text = self.expr(Type::String, depth);
            let rest = self.text_literal(&SEPARATORS);
            return Expr::call(Function::Text(TextFunction::Position), [text, rest]);
        }
        if self.random.percent(15) {
            let point = self.text_literal(&[",", ".", "x"]);
            return Expr::call(Function::ToNumber, [self.expr(Type::String, depth), point]);
        }
        let mut arguments = vec![self.expr(Type::Number, depth)];
        let is_log_of_base = function == MathFunction::Log && self.random.percent(50);
        if function == MathFunction::Power || is_log_of_base {
            arguments.push(self.expr(Type::Number, 0));
        } else if function == MathFunction::Truncate && self.random.percent(50) {
            arguments.push(self.small());
        }
        Expr::call(Function::Math(function), arguments)
    }

    /// A time from a function of the calendar.
    pub(super) fn calendar_call(&mut self, depth: usize) -> Expr<L> {
        let time = self.expr(Type::Time, depth);
        match self.random.below(5) {
            0 => {
                let function = Function::Calendar(CalendarFunction::WallClock);
                Expr::call(function, [time, self.zone()])
            }
            1 => {
                let function = Function::Calendar(CalendarFunction::FromWallClock);
                Expr::call(function, [time, self.zone()])
            }
            2 => {
                let months = Expr::Literal(Value::integer(self.random.between(-30, 30)));
                Expr::call(Function::Calendar(CalendarFunction::AddMonths), [time, months])
            }
            3 => Expr::call(Function::ToTime, [self.expr(Type::String, depth)]),
            _ => self.calendar_bucket(time),
        }
    }

    /// The start of the calendar's bucket that contains `time`.
    pub(super) fn calendar_bucket(&mut self, time: Expr<L>) -> Expr<L> {
        let least = self.bucket_micros_min;
        let widths: Vec<i64> =
            WALL_CLOCK_WIDTHS.into_iter().filter(|width| *width >= least).collect();
        let (months, micros) = match widths.is_empty() || self.random.percent(40) {
            true => (*self.random.pick(&[1, 3, 12, 5]), 0),
            false => (0, *self.random.pick(&widths)),
        };
        let [months, micros] = [months, micros].map(|n| Expr::Literal(Value::integer(n)));
        let function = Function::Calendar(CalendarFunction::Bucket);
        Expr::call(function, [time, months, micros, self.zone()])
    }
}
