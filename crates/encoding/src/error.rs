//! Errors of decoding.

/// Why bytes do not decode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodingError {
    /// The bytes end too early.
    #[error("{what} needs {need} bytes, {have} are left")]
    Truncated {
        /// The item that was read.
        what: &'static str,
        /// Bytes that the item needs.
        need: usize,
        /// Bytes that are left.
        have: usize,
    },
    /// Bytes follow after the end.
    #[error("{what} has {left} bytes too many")]
    Trailing {
        /// The item that was read.
        what: &'static str,
        /// Bytes after its end.
        left: usize,
    },
    /// A number is larger than allowed.
    #[error("{what} is {value}, at most {most} is allowed")]
    Limit {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The largest value allowed.
        most: u64,
    },
    /// A number contradicts the rest of the bytes.
    #[error("{what} is {value}, expected {expected}")]
    Mismatch {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The value expected.
        expected: u64,
    },
    /// A byte names no known form.
    #[error("{what} {byte} is not known")]
    Unknown {
        /// The item that the byte selects.
        what: &'static str,
        /// The byte.
        byte: u8,
    },
    /// A variable-length integer does not fit its type.
    #[error("{what} is too long for an integer")]
    Varint {
        /// The item that was read.
        what: &'static str,
    },
    /// A string is not valid UTF-8.
    #[error("string {index} is not valid utf-8")]
    Text {
        /// The string's index.
        index: usize,
    },
    /// Sorted items are out of order.
    #[error("{what} {index} is out of order")]
    Order {
        /// The sorted items.
        what: &'static str,
        /// The index of the first item that is out of order.
        index: usize,
    },
    /// A page does not decompress to its length.
    #[error("page {page} does not decompress to {expected} bytes")]
    Page {
        /// The page's index.
        page: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// The bytes are not a frame, or not a frame of the expected length.
    #[error("it is no frame of {expected} bytes")]
    Frame {
        /// Bytes expected.
        expected: usize,
    },
    /// An exact decimal names a row that does not exist, or is not a decimal.
    #[error(
        "exact decimal {index} is {mantissa} of scale {scale} in row {row}, expected a row of the \
         column and a decimal in lowest terms"
    )]
    Exact {
        /// The decimal's index.
        index: usize,
        /// The row.
        row: usize,
        /// The mantissa.
        mantissa: i128,
        /// Digits after the point.
        scale: u8,
    },
}
