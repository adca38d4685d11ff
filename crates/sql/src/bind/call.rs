//! A call of a function of a single row's values: its bound arguments, checked one by one.

use hadal_query::Type;
use sqlparser::tokenizer::Location;

use crate::bind::bound_expr::TypedExpr;
use crate::bind::scope::a;
use crate::error::{LocatedError, NOWHERE, Read};

/// A call by name.
pub(crate) struct Call<'c> {
    pub(crate) name: &'c str,
    pub(crate) at: Location,
    /// The positions of the arguments.
    pub(crate) places: Vec<Location>,
}

impl Call<'_> {
    pub(crate) fn place(&self, index: usize) -> Location {
        self.places.get(index).copied().unwrap_or(NOWHERE)
    }

    pub(crate) fn exactly<const N: usize>(&self, bound: Vec<TypedExpr>) -> Read<[TypedExpr; N]> {
        let given = bound.len();
        bound.try_into().map_err(|_| {
            let (name, plural) = (self.name, if N == 1 { "" } else { "s" });
            LocatedError::new(format!("{name} takes {N} argument{plural}, not {given}"), self.at)
        })
    }

    /// Exactly N arguments and perhaps one more.
    pub(crate) fn and_one_more<const N: usize>(
        &self,
        mut bound: Vec<TypedExpr>,
    ) -> Read<([TypedExpr; N], Option<TypedExpr>)> {
        let last = if bound.len() == N + 1 { bound.pop() } else { None };
        Ok((self.exactly(bound)?, last))
    }

    pub(crate) fn none(&self, bound: Vec<TypedExpr>) -> Read<()> {
        self.exactly::<0>(bound).map(|_| ())
    }

    /// The constant text of the argument with this index.
    pub(crate) fn constant<'b>(&self, bound: &'b TypedExpr, index: usize) -> Read<&'b str> {
        bound.as_string().ok_or_else(|| {
            LocatedError::new(format!("{} takes a constant text", self.name), self.place(index))
        })
    }

    /// The argument with this index as a string.
    pub(crate) fn string(&self, value: TypedExpr, index: usize) -> Read<TypedExpr> {
        match value.value_type {
            Type::Null => Ok(value),
            Type::Set | Type::Vector | Type::Histogram => {
                let message =
                    format!("{} takes a string; this is {}", self.name, a(value.value_type));
                Err(LocatedError::new(message, self.place(index)))
            }
            _ => Ok(value.into_text()),
        }
    }
}
