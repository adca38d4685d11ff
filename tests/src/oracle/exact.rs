//! Decimal numbers of any length, stored as digits, with written arithmetic as taught at school.
//!
//! No line is shared with `hadal_types::Decimal`, and nothing can overflow: the results of the
//! engine's 128-bit arithmetic are checked against these.

use std::cmp::Ordering;
use std::fmt;

use hadal_types::{Decimal, Number};

/// A number of any length. Equal numbers have equal fields.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Exact {
    negative: bool,
    /// Lowest digit first. Without leading zeros, and without trailing zeros after the point.
    digits: Vec<u8>,
    /// The number of digits after the point.
    scale: usize,
}

impl Exact {
    fn new(negative: bool, mut digits: Vec<u8>, mut scale: usize) -> Self {
        while digits.len() < scale {
            digits.push(0);
        }
        let zeros = digits.iter().take(scale).take_while(|digit| **digit == 0).count();
        digits.drain(..zeros);
        scale -= zeros;
        trim(&mut digits);
        if digits.is_empty() {
            return Self::default();
        }
        Self { negative, digits, scale }
    }

    /// Parses `-12.50`, `1e300` or `2.5e-30`; `None` for any other text.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (text, exponent) = match text.split_once('e') {
            Some((text, exponent)) => (text, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        if whole.is_empty() {
            return None;
        }
        let mut digits: Vec<u8> = whole
            .bytes()
            .chain(fraction.bytes())
            .rev()
            .map(|byte| byte.checked_sub(b'0').filter(|digit| *digit <= 9))
            .collect::<Option<_>>()?;
        let mut scale = fraction.len();
        let shift = usize::try_from(exponent.unsigned_abs()).ok()?;
        if exponent < 0 {
            scale += shift;
        } else {
            let up = shift.saturating_sub(scale);
            digits.splice(0..0, std::iter::repeat_n(0, up));
            scale = scale.saturating_sub(shift);
        }
        Some(Self::new(negative, digits, scale))
    }

    /// The number as its text gives it: a double by its shortest digits.
    #[must_use]
    pub fn from_number(number: Number) -> Self {
        Self::from_text(&number.to_string()).unwrap_or_default()
    }

    /// The double's exact value, with every digit.
    #[must_use]
    pub fn from_bits(double: f64) -> Self {
        // No double needs more than 1,074 digits after the point.
        Self::from_text(&format!("{double:.1074}")).unwrap_or_default()
    }

    /// The integer `value`.
    #[must_use]
    pub fn from_integer(value: i128) -> Self {
        Self::from_text(&value.to_string()).unwrap_or_default()
    }

    /// The number × 10^−`places`.
    #[must_use]
    pub fn shifted_down(&self, places: usize) -> Self {
        Self::new(self.negative, self.digits.clone(), self.scale + places)
    }

    /// Whether it is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Whether it is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Whether no digits follow the point.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.scale == 0
    }

    /// The number with the other sign.
    #[must_use]
    pub fn negated(&self) -> Self {
        Self::new(!self.negative, self.digits.clone(), self.scale)
    }

    /// The number without its sign.
    #[must_use]
    pub fn abs(&self) -> Self {
        Self::new(false, self.digits.clone(), self.scale)
    }

    /// The sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let (left, right, scale) = aligned(self, other);
        if self.negative == other.negative {
            return Self::new(self.negative, add(&left, &right), scale);
        }
        match compare(&left, &right) {
            Ordering::Less => Self::new(other.negative, subtract(&right, &left), scale),
            _ => Self::new(self.negative, subtract(&left, &right), scale),
        }
    }

    /// The difference.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.plus(&other.negated())
    }

    /// The product.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let digits = multiply(&self.digits, &other.digits);
        Self::new(self.negative != other.negative, digits, self.scale + other.scale)
    }

    /// The integer quotient, truncated toward zero, and the remainder, with the sign of `self`;
    /// `None` if `other` is zero.
    #[must_use]
    pub fn divide(&self, other: &Self) -> Option<(Self, Self)> {
        if other.is_zero() {
            return None;
        }
        let (left, right, scale) = aligned(self, other);
        let (quotient, rest) = divide(&left, &right);
        let quotient = Self::new(self.negative != other.negative, quotient, 0);
        Some((quotient, Self::new(self.negative, rest, scale)))
    }

    /// The double nearest to `self` / `other`; NaN if `other` is zero.
    #[must_use]
    pub fn nearest_quotient(&self, other: &Self) -> f64 {
        // Enough digits that the quotient has a hundred. A last digit that stands for all further
        // digits keeps the rounding right.
        const DIGITS: usize = 100;
        let places = DIGITS + other.digits.len().saturating_sub(self.digits.len());
        let places = places + self.scale;
        let raised = Self::new(self.negative, raise(&self.digits, places), self.scale);
        let Some((quotient, rest)) = raised.divide(other) else { return f64::NAN };
        let sticky = u8::from(!rest.is_zero());
        let mut digits = vec![sticky];
        digits.extend(&quotient.digits);
        Self::new(self.negative != other.negative, digits, places + 1).to_f64()
    }

    /// The nearest number with `digits` digits after the point, halves away from zero.
    #[must_use]
    pub fn rounded(&self, digits: usize) -> Self {
        let Some(dropped) = self.scale.checked_sub(digits).filter(|dropped| *dropped > 0) else {
            return self.clone();
        };
        let up = self.digits.get(dropped - 1).is_some_and(|digit| *digit >= 5);
        let kept = self.digits.get(dropped..).unwrap_or_default();
        Self::new(self.negative, add(kept, &[u8::from(up)]), digits)
    }

    /// The largest integer not above the number.
    #[must_use]
    pub fn floor(&self) -> Self {
        let kept = self.digits.get(self.scale..).unwrap_or_default();
        let down = self.negative && !self.is_whole();
        Self::new(self.negative, add(kept, &[u8::from(down)]), 0)
    }

    /// Whether the digits fit the 128 bits of the engine's decimals when `scale` of them follow the
    /// point, or all if there are more.
    #[must_use]
    pub fn fits_at(&self, scale: usize) -> bool {
        let zeros = scale.saturating_sub(self.scale);
        to_i128(self.negative, &raise(&self.digits, zeros)).is_some()
    }

    /// The number of digits after the point.
    #[must_use]
    pub fn scale(&self) -> usize {
        self.scale
    }

    /// The digits without the point, if they fit.
    #[must_use]
    pub fn mantissa(&self) -> Option<i128> {
        to_i128(self.negative, &self.digits)
    }

    /// The number as an integer, if it is one and fits.
    #[must_use]
    pub fn to_integer(&self) -> Option<i128> {
        self.mantissa().filter(|_| self.is_whole())
    }

    /// The decimal, if it fits 128 bits and 36 digits after the point.
    #[must_use]
    pub fn to_decimal(&self) -> Option<Number> {
        let decimal = Decimal::new(self.mantissa()?, u8::try_from(self.scale).ok()?)?;
        Some(Number::from(decimal))
    }

    /// The nearest double.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }
}

impl PartialOrd for Exact {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Exact {
    fn cmp(&self, other: &Self) -> Ordering {
        let difference = self.minus(other);
        match (difference.is_zero(), difference.negative) {
            (true, _) => Ordering::Equal,
            (_, true) => Ordering::Less,
            (_, false) => Ordering::Greater,
        }
    }
}

impl fmt::Display for Exact {
    /// Writes all digits, then the power of ten: `-125e-2`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        let digits: String =
            self.digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect();
        let digits = if digits.is_empty() { "0" } else { &digits };
        write!(formatter, "{sign}{digits}e-{}", self.scale)
    }
}

fn trim(digits: &mut Vec<u8>) {
    while digits.last() == Some(&0) {
        digits.pop();
    }
}

/// The digits with `zeros` more at the lower end.
fn raise(digits: &[u8], zeros: usize) -> Vec<u8> {
    let mut raised = vec![0; zeros];
    raised.extend(digits);
    trim(&mut raised);
    raised
}

fn aligned(left: &Exact, right: &Exact) -> (Vec<u8>, Vec<u8>, usize) {
    let scale = left.scale.max(right.scale);
    let at = |number: &Exact| raise(&number.digits, scale - number.scale);
    (at(left), at(right), scale)
}

fn to_i128(negative: bool, digits: &[u8]) -> Option<i128> {
    digits.iter().rev().try_fold(0i128, |value, digit| {
        let digit = i128::from(*digit);
        value.checked_mul(10)?.checked_add(if negative { -digit } else { digit })
    })
}

fn compare(left: &[u8], right: &[u8]) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.iter().rev().cmp(right.iter().rev()))
}

fn add(left: &[u8], right: &[u8]) -> Vec<u8> {
    let mut sum = Vec::with_capacity(left.len().max(right.len()) + 1);
    let mut carry = 0;
    for at in 0..left.len().max(right.len()) {
        let digit =
            left.get(at).copied().unwrap_or(0) + right.get(at).copied().unwrap_or(0) + carry;
        sum.push(digit % 10);
        carry = digit / 10;
    }
    sum.push(carry);
    trim(&mut sum);
    sum
}

/// `left` − `right`; `left` must not be the smaller one.
fn subtract(left: &[u8], right: &[u8]) -> Vec<u8> {
    let mut difference = Vec::with_capacity(left.len());
    let mut borrow = 0;
    for (at, digit) in left.iter().enumerate() {
        let take = right.get(at).copied().unwrap_or(0) + borrow;
        borrow = u8::from(take > *digit);
        difference.push(digit + 10 * borrow - take);
    }
    trim(&mut difference);
    difference
}

fn multiply(left: &[u8], right: &[u8]) -> Vec<u8> {
    let mut columns = vec![0u32; left.len() + right.len() + 1];
    for (at, digit) in left.iter().enumerate() {
        for (by, other) in right.iter().enumerate() {
            columns[at + by] += u32::from(*digit) * u32::from(*other);
        }
    }
    let mut carry = 0;
    let mut product = Vec::with_capacity(columns.len());
    for column in columns {
        carry += column;
        product.push(u8::try_from(carry % 10).unwrap_or(0));
        carry /= 10;
    }
    trim(&mut product);
    product
}

/// Long division: digit by digit from the top, each by repeated subtraction.
fn divide(left: &[u8], right: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut rest: Vec<u8> = Vec::new();
    let mut quotient = Vec::with_capacity(left.len());
    for digit in left.iter().rev() {
        rest.insert(0, *digit);
        trim(&mut rest);
        let mut times = 0;
        while compare(&rest, right) != Ordering::Less {
            rest = subtract(&rest, right);
            times += 1;
        }
        quotient.push(times);
    }
    quotient.reverse();
    trim(&mut quotient);
    (quotient, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> Exact {
        Exact::from_text(text).expect(text)
    }

    #[test]
    fn sums_and_products_are_those_of_the_schoolbook() {
        assert_eq!(exact("0.1").plus(&exact("0.2")), exact("0.3"));
        assert_eq!(exact("1").minus(&exact("1.000")), Exact::default());
        assert_eq!(exact("-5").plus(&exact("3")), exact("-2"));
        assert_eq!(exact("99.9").plus(&exact("0.1")), exact("100"));
        assert_eq!(exact("-1.5").times(&exact("1e3")), exact("-1500"));
        assert_eq!(exact("1e300").minus(&exact("1e300")).to_f64(), 0.0);
        assert!(exact("-0.01") < exact("-0.001"));
    }

    #[test]
    fn integers_agree_with_the_machine() {
        let some = [0i128, 1, -1, 9, 10, -10, 99, 1_000_001, -987_654_321, i128::from(i64::MIN)];
        for left in some {
            for right in some {
                let (a, b) = (Exact::from_integer(left), Exact::from_integer(right));
                assert_eq!(a.plus(&b).to_integer(), Some(left + right), "{left} + {right}");
                assert_eq!(a.times(&b).to_integer(), Some(left * right), "{left} × {right}");
                assert_eq!(a.cmp(&b), left.cmp(&right), "{left} : {right}");
                let divided = a.divide(&b).map(|(quotient, rest)| {
                    (quotient.to_integer().expect("whole"), rest.to_integer().expect("whole"))
                });
                let expected = left.checked_div(right).zip(left.checked_rem(right));
                assert_eq!(divided, expected, "{left} / {right}");
            }
        }
    }

    #[test]
    fn quotients_round_to_the_nearest_double() {
        for (left, right) in [(1.0, 3.0), (2.0, 3.0), (-7.0, 11.0), (1e300, 7.0), (1e-300, 3.0)] {
            let (a, b) = (Exact::from_bits(left), Exact::from_bits(right));
            assert_eq!(a.nearest_quotient(&b), left / right, "{left} / {right}");
        }
        assert_eq!(Exact::default().nearest_quotient(&exact("3")), 0.0);
        assert_eq!(exact("0.1").nearest_quotient(&exact("0.3")), 1.0 / 3.0);
    }

    #[test]
    fn halves_go_away_from_zero() {
        assert_eq!(exact("2.5").rounded(0), exact("3"));
        assert_eq!(exact("-2.5").rounded(0), exact("-3"));
        assert_eq!(exact("0.05").rounded(1), exact("0.1"));
        assert_eq!(exact("0.04").rounded(0), exact("0"));
        assert_eq!(exact("9.99").rounded(1), exact("10"));
        assert_eq!(exact("-2.1").floor(), exact("-3"));
        assert_eq!(exact("0.9").floor(), exact("0"));
        assert_eq!(exact("-0.9").floor(), exact("-1"));
    }
}
