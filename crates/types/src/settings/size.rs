//! The text form of sizes in bytes.

/// The units of a size: powers of 1,000 as for disks, powers of 1,024 as for memory.
const UNITS: [(&str, u64); 10] = [
    ("PiB", 1 << 50),
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("PB", 1_000_000_000_000_000),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
];
/// Digits after the point that a size may have.
const FRACTION_DIGITS_MAX: usize = 9;

/// Reads `2GB`, `512MiB`, `1.5GB` or a plain number of bytes. Case and a space before the unit do
/// not matter.
///
/// # Errors
/// A reason with the text and the expected form.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is no size; write 2GB, 512MiB or a number of bytes");
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.trim_start();
    let same = |(name, bytes): &(&str, u64)| unit.eq_ignore_ascii_case(name).then_some(*bytes);
    let factor = match unit {
        "" | "B" | "b" => 1,
        _ => UNITS.iter().find_map(same).ok_or_else(wrong)?,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.len() > FRACTION_DIGITS_MAX || number.ends_with('.') {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let mut bytes = u128::from(whole) * u128::from(factor);
    if !fraction.is_empty() {
        let digits: u64 = fraction.parse().map_err(|_| wrong())?;
        let scale = fraction.bytes().fold(1u128, |scale, _| scale * 10);
        bytes += u128::from(digits) * u128::from(factor) / scale;
    }
    u64::try_from(bytes).map_err(|_| wrong())
}

/// The bytes, exactly, in the unit that takes the fewest digits: `2GB`, `512MiB`, `1234567`.
#[must_use]
pub fn spell_bytes(bytes: u64) -> String {
    let whole = UNITS.iter().filter(|(_, unit)| bytes >= *unit && bytes.is_multiple_of(*unit));
    let shortest = whole.min_by_key(|(_, unit)| bytes / unit);
    match shortest {
        Some((name, unit)) => format!("{}{name}", bytes / unit),
        None => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("0", 0),
            ("1073741824", 1 << 30),
            ("17B", 17),
            ("2GB", 2_000_000_000),
            ("2 gb", 2_000_000_000),
            ("512MiB", 512 << 20),
            ("1.5GiB", 3 << 29),
            ("10KB", 10_000),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "GB", "-1", "1.GB", ".5GB", "1.2.3GB", "1XB", "2e9", "99999999PiB"] {
            let error = parse_bytes(text).expect_err(text);
            assert!(error.contains("write 2GB, 512MiB or a number of bytes"), "{error}");
        }
    }

    #[test]
    fn what_is_spelled_is_read_again() {
        for (bytes, spelled) in [
            (0, "0"),
            (1_234_567, "1234567"),
            (2_000_000_000, "2GB"),
            (512 << 20, "512MiB"),
            (1 << 30, "1GiB"),
            (u64::MAX, "18446744073709551615"),
        ] {
            assert_eq!(spell_bytes(bytes), spelled);
            assert_eq!(parse_bytes(spelled), Ok(bytes));
        }
    }
}
