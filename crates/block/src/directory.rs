//! The directory: one entry per row block column. `spec/row-block.md` section 2.

use hadal_encoding::cursor::{Cursor, write_length, write_varint, write_zigzag, write_zigzag_wide};
use hadal_types::limits::{
    BLOCK_BYTES_MAX, BLOCK_COLUMNS_MAX, BLOCK_LIST_ELEMENTS_MAX, BLOCK_ROWS_MAX, DECIMAL_SCALE_MAX,
};
use hadal_types::{ColumnName, Kind, Logical};

use crate::error::{BlockError, BlockRegion};
use crate::header::WEIGHTED_VERSION;
use crate::weighted_sums::WeightedSums;

/// The bounds of a row block column's numbers (its zone map), without nulls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Zone {
    /// Decimals: mantissas at one scale.
    Decimals {
        /// Digits after the point, 0 to 18.
        scale: u8,
        /// The smallest mantissa.
        min: i64,
        /// The largest mantissa.
        max: i64,
        /// The sum of all mantissas.
        sum: i128,
    },
    /// Doubles: no value is beyond the numbers that these two represent.
    Doubles {
        /// The smallest value, or a little less.
        min: f64,
        /// The largest value, or a little more.
        max: f64,
    },
    /// Not numbers, so nothing is known before decoding.
    None,
}

/// A body's encoding, with the parameters of its decoder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Encoding {
    Decimals { scale: u8, min: i64, max: i64, sum: i128, weighted: Option<WeightedSums> },
    Doubles { min: f64, max: f64 },
    Dictionary { entries: usize },
    Pages,
    Lists { elements: usize },
    ListDictionary { elements: usize, lists: usize },
    Mixed { min: f64, max: f64 },
    Templates { templates: usize },
    Wide { scale: u8, base: i128, min: f64, max: f64 },
}

/// Flag in an entry's encoding byte: the streams hold only the rows that have a value.
const COMPACT: u8 = 0x80;
/// Flag in an entry's encoding byte: an earlier RBC has the same validity; its index follows.
const SHARED: u8 = 0x40;
/// Flag in an entry's encoding byte: the sections of values are stored as one frame.
const COLD: u8 = 0x20;
/// Flag in the encoding byte of decimals: weighted sums follow the other parameters.
const WEIGHTED: u8 = 0x10;

impl Encoding {
    const fn code(self) -> u8 {
        match self {
            Self::Decimals { .. } => 0,
            Self::Doubles { .. } => 1,
            Self::Dictionary { .. } => 2,
            Self::Pages => 3,
            Self::Lists { .. } => 4,
            Self::ListDictionary { .. } => 5,
            Self::Mixed { .. } => 6,
            Self::Templates { .. } => 10,
            Self::Wide { .. } => 7,
        }
    }

    /// The version of the encodings that introduced this encoding.
    pub(crate) const fn version(self) -> u16 {
        match self {
            Self::Decimals { weighted: Some(_), .. } => WEIGHTED_VERSION,
            Self::Mixed { .. } => 2,
            Self::Templates { .. } => 3,
            Self::Wide { .. } => 3,
            _ => 1,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Decimals { .. } => "decimals",
            Self::Doubles { .. } => "doubles",
            Self::Dictionary { .. } => "dictionary",
            Self::Pages => "pages",
            Self::Lists { .. } => "lists",
            Self::ListDictionary { .. } => "list-dictionary",
            Self::Mixed { .. } => "mixed",
            Self::Templates { .. } => "templates",
            Self::Wide { .. } => "wide",
        }
    }
}

/// The number of sections of an encoding without nulls, or `None` for an unknown code.
const fn section_count(code: u8, kind: Kind) -> Option<usize> {
    match (code, kind) {
        (0 | 1 | 7, Kind::Number) | (3, Kind::String) => Some(1),
        (2, Kind::String) | (4, Kind::Set | Kind::Vector) | (6, Kind::Number) => Some(2),
        (5, Kind::Set | Kind::Vector) | (10, Kind::String) => Some(3),
        _ => None,
    }
}

/// Maximum digits after the point of a wide number: the maximum of decimals.
const WIDE_SCALE_MAX: u8 = 36;
/// Maximum absolute base: adding any 64-bit integer to it cannot overflow.
pub(crate) const WIDE_BASE_MAX: u128 = i128::MAX.unsigned_abs() - (1 << 63);

/// Maximum sections of a body: those of a list dictionary, and validity.
pub(crate) const SECTIONS_MAX: usize = 4;

/// One entry of the directory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) name: ColumnName,
    pub(crate) kind: Kind,
    pub(crate) logical: Logical,
    pub(crate) nulls: usize,
    /// The index of an earlier RBC with the same validity, which has the section.
    pub(crate) validity_of: Option<usize>,
    /// Whether the streams hold only the rows that have a value.
    pub(crate) is_compact: bool,
    pub(crate) encoding: Encoding,
    /// The sections' lengths, then zeros.
    pub(crate) sections: [usize; SECTIONS_MAX],
    /// If the RBC is cold, bytes of the frame that holds the sections of values.
    pub(crate) frame_bytes: Option<usize>,
    pub(crate) checksum: u64,
}

impl Entry {
    pub(crate) fn region(&self) -> BlockRegion {
        BlockRegion::Column(self.name.clone(), self.kind)
    }

    /// Bytes of the body, without its zero fill.
    pub(crate) fn body_bytes(&self) -> usize {
        let values = self.frame_bytes.unwrap_or_else(|| self.value_bytes());
        values + self.sections[self.value_sections()..].iter().sum::<usize>()
    }

    /// Bytes of the sections before the validity section, after decompression.
    pub(crate) fn value_bytes(&self) -> usize {
        self.sections[..self.value_sections()].iter().sum()
    }

    /// Number of sections before the validity section.
    pub(crate) fn value_sections(&self) -> usize {
        section_count(self.encoding.code(), self.kind).unwrap_or_default()
    }

    /// Whether the body has a validity section, after the others.
    pub(crate) const fn has_validity(&self) -> bool {
        self.nulls > 0 && self.validity_of.is_none()
    }

    /// The version of the encodings that introduced the newest feature of the entry.
    pub(crate) fn version(&self) -> u16 {
        let flags = match self.frame_bytes {
            Some(_) => 4,
            None if self.is_compact || self.validity_of.is_some() => 3,
            None => 1,
        };
        self.encoding.version().max(flags)
    }

    /// The weighted sums of the column, if they are stored.
    pub(crate) const fn weighted_sums(&self) -> Option<WeightedSums> {
        match self.encoding {
            Encoding::Decimals { weighted, .. } => weighted,
            _ => None,
        }
    }

    pub(crate) fn zone(&self) -> Zone {
        match self.encoding {
            Encoding::Decimals { scale, min, max, sum, .. } => {
                Zone::Decimals { scale, min, max, sum }
            }
            Encoding::Doubles { min, max }
            | Encoding::Mixed { min, max }
            | Encoding::Wide { min, max, .. } => Zone::Doubles { min, max },
            _ => Zone::None,
        }
    }

    /// Appends the entry.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let name = self.name.as_str().as_bytes();
        out.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
        out.extend_from_slice(name);
        out.extend_from_slice(&[kind_code(self.kind), logical_code(self.logical)]);
        let compact = if self.is_compact { COMPACT } else { 0 };
        let shared = if self.validity_of.is_some() { SHARED } else { 0 };
        let cold = if self.frame_bytes.is_some() { COLD } else { 0 };
        let weighted = if self.weighted_sums().is_some() { WEIGHTED } else { 0 };
        out.push(self.encoding.code() | compact | shared | cold | weighted);
        write_length(self.nulls, out);
        if let Some(index) = self.validity_of {
            write_length(index, out);
        }
        for &length in &self.sections[..self.value_sections() + usize::from(self.has_validity())] {
            write_length(length, out);
        }
        if let Some(bytes) = self.frame_bytes {
            write_length(bytes, out);
        }
        out.extend_from_slice(&self.checksum.to_le_bytes());
        match self.encoding {
            Encoding::Decimals { scale, min, max, sum, weighted } => {
                out.push(scale);
                write_zigzag(min, out);
                write_varint(max.wrapping_sub(min).cast_unsigned(), out);
                write_zigzag_wide(sum, out);
                weighted.inspect(|sums| sums.write(out));
            }
            Encoding::Doubles { min, max } | Encoding::Mixed { min, max } => {
                out.extend_from_slice(&min.to_le_bytes());
                out.extend_from_slice(&max.to_le_bytes());
            }
            Encoding::Wide { scale, base, min, max } => {
                out.push(scale);
                write_zigzag_wide(base, out);
                out.extend_from_slice(&min.to_le_bytes());
                out.extend_from_slice(&max.to_le_bytes());
            }
            Encoding::Dictionary { entries } => write_length(entries, out),
            Encoding::Templates { templates } => write_length(templates, out),
            Encoding::Pages => (),
            Encoding::Lists { elements } => write_length(elements, out),
            Encoding::ListDictionary { elements, lists } => {
                write_length(elements, out);
                write_length(lists, out);
            }
        }
    }

    /// Reads and checks the next entry of a block with `rows` rows.
    pub(crate) fn read(cursor: &mut Cursor<'_>, rows: usize) -> Result<Self, BlockError> {
        let front = BlockRegion::Front;
        let length = cursor.u8().map_err(front.of())?;
        let name = read_name(cursor.take(length.into()).map_err(front.of())?)?;
        let [kind, logical, flagged] = cursor.array().map_err(front.of())?;
        let code = flagged & !(COMPACT | SHARED | COLD | WEIGHTED);
        let kinds = kind_of(kind).zip(logical_of(logical));
        let Some((kind, logical, sections)) = kinds
            .filter(|&(kind, logical)| kind == Kind::Number || logical == Logical::Plain)
            .and_then(|(kind, logical)| Some((kind, logical, section_count(code, kind)?)))
        else {
            let reason =
                format!("column {name:?} has kind {kind}, logical {logical}, encoding {code}");
            return Err(BlockError::Corrupt { region: front, reason });
        };
        let region = BlockRegion::Column(name.clone(), kind);
        let nulls = cursor.length("nulls", rows - 1).map_err(region.of())?;
        let is_compact = flagged & COMPACT != 0;
        let mut validity_of = None;
        if flagged & SHARED != 0 {
            let index = cursor.length("an RBC's index", BLOCK_COLUMNS_MAX).map_err(region.of())?;
            validity_of = Some(index);
        }
        let flags = is_compact || validity_of.is_some();
        region.check(nulls > 0 || !flags, || "it has no nulls to tell of".to_owned())?;
        let mut lengths = [0; SECTIONS_MAX];
        for length in &mut lengths[..sections + usize::from(nulls > 0 && validity_of.is_none())] {
            *length = cursor.length("a section", BLOCK_BYTES_MAX).map_err(region.of())?;
        }
        let mut frame_bytes = None;
        if flagged & COLD != 0 {
            frame_bytes = Some(cursor.length("a frame", BLOCK_BYTES_MAX).map_err(region.of())?);
        }
        let checksum = u64::from_le_bytes(cursor.array().map_err(region.of())?);
        let mut encoding = read_encoding(cursor, code, rows - nulls, &region)?;
        if flagged & WEIGHTED != 0 {
            let sums = WeightedSums::read(cursor, &region)?;
            let Encoding::Decimals { weighted, .. } = &mut encoding else {
                let reason = format!("encoding {} has weighted sums", encoding.name());
                return Err(BlockError::Corrupt { region, reason });
            };
            *weighted = Some(sums);
        }
        let sections = lengths;
        let entry = Self {
            name,
            kind,
            logical,
            nulls,
            validity_of,
            is_compact,
            encoding,
            sections,
            frame_bytes,
            checksum,
        };
        entry.check(rows, &region)?;
        Ok(entry)
    }

    fn check(&self, rows: usize, region: &BlockRegion) -> Result<(), BlockError> {
        let values = rows - self.nulls;
        match self.encoding {
            Encoding::Decimals { scale, min, max, sum, weighted } => {
                region.check(scale <= DECIMAL_SCALE_MAX, || format!("scale is {scale}"))?;
                region.check(min <= max, || format!("min {min} is above max {max}"))?;
                let count = i128::try_from(values).unwrap_or(i128::MAX);
                let sums = count * i128::from(min)..=count * i128::from(max);
                region.check(sums.contains(&sum), || format!("sum {sum} is not in {sums:?}"))?;
                weighted.map_or(Ok(()), |sums| sums.check(values, (min, max), region))?;
                let meant = match self.logical {
                    Logical::Plain => true,
                    Logical::Bool => scale == 0 && min >= 0 && max <= 1,
                    Logical::Time => scale == 0,
                };
                region
                    .check(meant, || format!("{:?} of scale {scale}, {min} to {max}", self.logical))
            }
            Encoding::Doubles { min, max } | Encoding::Mixed { min, max } => {
                let finite = min.is_finite() && max.is_finite() && min <= max;
                region.check(finite && self.logical == Logical::Plain, || {
                    format!("doubles from {min} to {max}, {:?}", self.logical)
                })?;
                let count = if self.is_compact { values } else { rows };
                region.check(self.sections[0] == count * 8, || {
                    format!("{} bytes of {count} doubles", self.sections[0])
                })
            }
            Encoding::Wide { scale, base, min, max } => {
                let finite = min.is_finite() && max.is_finite() && min <= max;
                let narrow = scale <= WIDE_SCALE_MAX && base.unsigned_abs() <= WIDE_BASE_MAX;
                region.check(finite && narrow && self.logical == Logical::Plain, || {
                    format!("{base} of scale {scale}, {min} to {max}, {:?}", self.logical)
                })
            }
            _ => Ok(()),
        }
    }
}

fn read_name(bytes: &[u8]) -> Result<ColumnName, BlockError> {
    let name = std::str::from_utf8(bytes).ok().map(ColumnName::new);
    let reason = match name {
        Some(Ok(name)) => return Ok(name),
        Some(Err(error)) => error.to_string(),
        None => format!("column name {:?} is not utf-8", String::from_utf8_lossy(bytes)),
    };
    Err(BlockError::Corrupt { region: BlockRegion::Front, reason })
}

fn read_encoding(
    cursor: &mut Cursor<'_>,
    code: u8,
    values: usize,
    region: &BlockRegion,
) -> Result<Encoding, BlockError> {
    let error = region.of();
    match code {
        0 => {
            let scale = cursor.u8().map_err(&error)?;
            let min = cursor.zigzag().map_err(&error)?;
            let max = min.wrapping_add(cursor.varint().map_err(&error)?.cast_signed());
            let sum = cursor.zigzag_wide().map_err(&error)?;
            Ok(Encoding::Decimals { scale, min, max, sum, weighted: None })
        }
        1 | 6 => {
            let min = f64::from_le_bytes(cursor.array().map_err(&error)?);
            let max = f64::from_le_bytes(cursor.array().map_err(&error)?);
            Ok(if code == 1 {
                Encoding::Doubles { min, max }
            } else {
                Encoding::Mixed { min, max }
            })
        }
        7 => {
            let scale = cursor.u8().map_err(&error)?;
            let base = cursor.zigzag_wide().map_err(&error)?;
            let min = f64::from_le_bytes(cursor.array().map_err(&error)?);
            let max = f64::from_le_bytes(cursor.array().map_err(&error)?);
            Ok(Encoding::Wide { scale, base, min, max })
        }
        2 => {
            let entries = cursor.length("dictionary entries", values).map_err(&error)?;
            region.check(entries > 0, || "its dictionary is empty".to_owned())?;
            Ok(Encoding::Dictionary { entries })
        }
        3 => Ok(Encoding::Pages),
        10 => {
            // One more template for the rows without a value.
            let templates = cursor.length("templates", values + 1).map_err(&error)?;
            region.check(templates > 0, || "it has no templates".to_owned())?;
            Ok(Encoding::Templates { templates })
        }
        4 | 5 => {
            let elements = cursor.length("elements", BLOCK_LIST_ELEMENTS_MAX).map_err(&error)?;
            if code == 4 {
                return Ok(Encoding::Lists { elements });
            }
            let lists = cursor.length("lists", values).map_err(&error)?;
            region.check(lists > 0, || "its dictionary of lists is empty".to_owned())?;
            Ok(Encoding::ListDictionary { elements, lists })
        }
        code => region
            .check(false, || format!("encoding {code} is not known"))
            .map(|()| Encoding::Pages),
    }
}

const fn kind_code(kind: Kind) -> u8 {
    match kind {
        Kind::Number => 0,
        Kind::String => 1,
        Kind::Set => 2,
        Kind::Vector => 3,
    }
}

fn kind_of(code: u8) -> Option<Kind> {
    Kind::ALL.into_iter().find(|&kind| kind_code(kind) == code)
}

const fn logical_code(logical: Logical) -> u8 {
    match logical {
        Logical::Plain => 0,
        Logical::Bool => 1,
        Logical::Time => 2,
    }
}

fn logical_of(code: u8) -> Option<Logical> {
    let all = [Logical::Plain, Logical::Bool, Logical::Time];
    all.into_iter().find(|&logical| logical_code(logical) == code)
}

const _: () = assert!(BLOCK_ROWS_MAX <= u32::MAX as usize, "rows are counted in four bytes");
