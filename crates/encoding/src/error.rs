//! What can be wrong with encoded bytes.

/// Why bytes do not decode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodingError {
    /// The bytes end too early.
    #[error("{what} needs {need} bytes, {have} are left")]
    Truncated {
        /// What was read.
        what: &'static str,
        /// Bytes that it needs.
        need: usize,
        /// Bytes that are left.
        have: usize,
    },
    /// The bytes go on after the end.
    #[error("{what} has {left} bytes too many")]
    Trailing {
        /// What was read.
        what: &'static str,
        /// Bytes after its end.
        left: usize,
    },
    /// A number is larger than allowed.
    #[error("{what} is {found}, at most {most} is allowed")]
    Limit {
        /// Which number.
        what: &'static str,
        /// Its value.
        found: u64,
        /// The largest value allowed.
        most: u64,
    },
    /// A number is not the one that the rest of the bytes asks for.
    #[error("{what} is {found}, expected {expected}")]
    Mismatch {
        /// Which number.
        what: &'static str,
        /// Its value.
        found: u64,
        /// The value expected.
        expected: u64,
    },
    /// A byte names no known form.
    #[error("{what} {found} is not known")]
    Unknown {
        /// What the byte names.
        what: &'static str,
        /// The byte.
        found: u8,
    },
    /// A variable-length integer does not fit its type.
    #[error("{what} is too long for an integer")]
    Varint {
        /// What was read.
        what: &'static str,
    },
    /// A string is not valid UTF-8.
    #[error("string {index} is not valid utf-8")]
    Text {
        /// The string's index.
        index: usize,
    },
    /// Something sorted is not in order.
    #[error("{what} {index} is out of order")]
    Order {
        /// What is sorted.
        what: &'static str,
        /// The index of the first that is out of order.
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
    /// A frame is none, or not of the bytes that it should hold.
    #[error("it is no frame of {expected} bytes")]
    Frame {
        /// Bytes expected.
        expected: usize,
    },
    /// An exact decimal is of no row, or not a decimal.
    #[error(
        "exact decimal {index} is {mantissa} of scale {scale} in row {row}, expected a row of the \
         column and a decimal in lowest terms"
    )]
    Exact {
        /// Its index.
        index: usize,
        /// The row.
        row: usize,
        /// The mantissa.
        mantissa: i128,
        /// Digits after the point.
        scale: u8,
    },
}
