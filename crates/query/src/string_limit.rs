//! The length limit of strings that expressions compute.

use std::fmt::{self, Write};

use hadal_types::Value;
use hadal_types::limits::COMPUTED_STRING_BYTES_MAX;

/// An expression computes a string of more than [`COMPUTED_STRING_BYTES_MAX`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an expression computes a string of more than {COMPUTED_STRING_BYTES_MAX} bytes, which is the \
     most: concatenate fewer or shorter strings"
)]
pub struct StringTooLong;

/// A text that rejects writes beyond [`COMPUTED_STRING_BYTES_MAX`] bytes.
#[derive(Default)]
pub(crate) struct LimitedString(String);

impl LimitedString {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_value(self) -> Value {
        Value::String(self.0.into())
    }
}

impl Write for LimitedString {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        if self.0.len() + piece.len() > COMPUTED_STRING_BYTES_MAX {
            return Err(fmt::Error);
        }
        self.0.push_str(piece);
        Ok(())
    }
}

/// The concatenated texts of `values`.
pub(crate) fn text_of<'v>(
    values: impl IntoIterator<Item = &'v Value>,
) -> Result<Value, StringTooLong> {
    let mut text = LimitedString::default();
    for value in values {
        write!(text, "{value}").map_err(|_| StringTooLong)?;
    }
    Ok(text.into_value())
}

/// The text as a value, unless it is too long.
pub(crate) fn checked(text: String) -> Result<Value, StringTooLong> {
    match text.len() <= COMPUTED_STRING_BYTES_MAX {
        true => Ok(Value::String(text.into())),
        false => Err(StringTooLong),
    }
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;
    use crate::{Expr, Function, PrepareError, Prepared, eval_scalar};

    #[test]
    fn a_computed_string_is_as_long_as_is_allowed_and_no_longer() {
        let most = Value::string(&"x".repeat(COMPUTED_STRING_BYTES_MAX));
        let one = Value::string("x");
        let concat = |values: &[Value]| eval_scalar(Function::Concat, values);
        assert_eq!(concat(&[most.clone(), Value::Null]), Ok(most.clone()));
        assert_eq!(concat(&[most.clone(), one]), Err(StringTooLong));
        // This letter takes three bytes in upper case instead of two.
        let wide = Value::string(&"ΐ".repeat(COMPUTED_STRING_BYTES_MAX / 2));
        assert_eq!(eval_scalar(Function::Lower, slice::from_ref(&wide)), Ok(wide.clone()));
        assert_eq!(eval_scalar(Function::Upper, slice::from_ref(&wide)), Err(StringTooLong));
        let list = Value::vector([&*most.to_string(), "y"]);
        assert_eq!(eval_scalar(Function::ToText, &[list]), Err(StringTooLong));
        let expr = Expr::<()>::call(Function::Upper, [Expr::Literal(wide)]);
        assert_eq!(Prepared::new(&expr).err(), Some(PrepareError::StringTooLong(StringTooLong)));
    }
}
