//! Decimals of the rows whose number no double represents. A double represents the number that
//! `Number::from_f64` returns for it.
//!
//! ```text
//!  count | gap, scale, mantissa | gap, scale, mantissa | ...
//! ```
//!
//! Rows ascend; a gap is the number of rows since the previous entry. Usually there are few
//! entries. Only if 64-bit identifiers share a column with a huge number, all rows have an entry.
//! So entries are not packed.
//!
//! Layout to the byte: `spec/row-block.md` section 9.

use hadal_types::Decimal;

use crate::EncodingError;
use crate::cursor::{Cursor, write_length, write_varint, write_zigzag_wide};

/// Minimum bytes of an entry.
const ENTRY_BYTES_MIN: usize = 3;

/// Appends the decimals of these rows. Rows must ascend.
pub fn encode(exacts: &[(u32, Decimal)], out: &mut Vec<u8>) {
    write_length(exacts.len(), out);
    let mut next = 0;
    for &(row, decimal) in exacts {
        write_varint(u64::from(row - next), out);
        out.push(decimal.scale());
        write_zigzag_wide(decimal.mantissa(), out);
        next = row + 1;
    }
}

/// Reads the decimals of a column of `rows` rows; the rows ascend, and each is below `rows`.
///
/// # Errors
/// When `bytes` are not exactly one such section.
pub fn parse(bytes: &[u8], rows: usize) -> Result<Vec<(u32, Decimal)>, EncodingError> {
    let mut cursor = Cursor::new(bytes, "exact decimals");
    let count = cursor.length("exact decimals", rows)?;
    let mut exacts = Vec::with_capacity(count.min(bytes.len() / ENTRY_BYTES_MIN));
    let mut next = 0;
    for index in 0..count {
        let gap = cursor.length("the gap before an exact decimal", rows)?;
        let scale = cursor.u8()?;
        let mantissa = cursor.zigzag_wide()?;
        let row = next + gap;
        let decimal = Decimal::new(mantissa, scale).filter(|decimal| decimal.scale() == scale);
        let entry = u32::try_from(row).ok().filter(|_| row < rows).zip(decimal);
        exacts.push(entry.ok_or(EncodingError::Exact { index, row, mantissa, scale })?);
        next = row + 1;
    }
    cursor.end()?;
    Ok(exacts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal(mantissa: i128, scale: u8) -> Decimal {
        Decimal::new(mantissa, scale).expect("in range")
    }

    fn section(exacts: &[(u32, Decimal)]) -> Vec<u8> {
        let mut out = Vec::new();
        encode(exacts, &mut out);
        out
    }

    #[test]
    fn bad_sections_are_refused() {
        let good = section(&[(0, decimal(15, 1)), (3, decimal(-7, 0))]);
        assert_eq!(good, [2, 0, 1, 30, 2, 0, 13]);
        let with = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            parse(&bytes, 4)
        };
        assert!(with(0, 2).is_ok());
        assert!(matches!(with(0, 1), Err(EncodingError::Trailing { .. })));
        assert!(matches!(with(0, 3), Err(EncodingError::Truncated { .. })));
        assert!(matches!(with(0, 5), Err(EncodingError::Limit { .. })), "more than rows");
        assert!(matches!(with(1, 1), Err(EncodingError::Exact { row: 4, .. })), "beyond the end");
        assert!(matches!(with(2, 37), Err(EncodingError::Exact { scale: 37, .. })));
        assert!(matches!(with(3, 20), Err(EncodingError::Exact { mantissa: 10, .. })), "zeros");
        assert_eq!(parse(&[0], 0), Ok(vec![]));
        assert!(parse(&[], 4).is_err());
        // A hostile count allocates nothing.
        assert!(parse(&[0xFF, 0xFF, 3], 65_536).is_err());
        let error = with(1, 1).expect_err("a row beyond the end");
        assert_eq!(
            error.to_string(),
            "exact decimal 1 is -7 of scale 0 in row 4, expected a row of the column and a \
             decimal in lowest terms"
        );
    }

    proptest! {
        #[test]
        fn sections_survive(
            picked in prop::collection::btree_map(
                0u32..65_536, (any::<i128>(), 0u8..=36, 0u32..128), 0..200,
            ),
        ) {
            let exacts: Vec<(u32, Decimal)> = picked
                .into_iter()
                .filter_map(|(row, (mantissa, scale, shift))| {
                    Some((row, Decimal::new(mantissa >> shift, scale)?))
                })
                .collect();
            prop_assert_eq!(parse(&section(&exacts), 65_536), Ok(exacts));
        }

        #[test]
        fn random_sections_never_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            count in 0u8..30,
            rows in 0usize..400,
        ) {
            let bytes: Vec<u8> = std::iter::once(count).chain(bytes).collect();
            if let Ok(exacts) = parse(&bytes, rows) {
                prop_assert!(exacts.is_sorted_by(|left, right| left.0 < right.0));
                prop_assert!(exacts.iter().all(|&(row, _)| (row as usize) < rows));
            }
        }
    }
}
