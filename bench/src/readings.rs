//! `readings`: the temperatures of 10,000 sensors once a minute, uniform integers from 55 to 105
//! degrees, and a single 200 to be found.
//!
//! A temperature is a function of seed, sensor and minute, so both layouts have the same rows.

use clap::ValueEnum;
use hadal_random::{below, mix};

/// The time of the first row, in seconds since 1970: 2026-01-05, a Monday.
pub(crate) const START_SECONDS: i64 = 1_767_571_200;
pub(crate) const SENSORS: u64 = 10_000;
/// Rows that are generated together.
pub(crate) const CHUNK_ROWS: u64 = 1 << 20;
/// The planted temperature.
pub(crate) const NEEDLE: u8 = 200;

const LOWEST: u8 = 55;
/// The number of different temperatures.
const DEGREES: u64 = 51;

/// The order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Layout {
    /// Those of one minute.
    TimeMajor,
    /// Those of one sensor.
    SensorMajor,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reading {
    /// Seconds since 1970.
    pub(crate) time: i64,
    pub(crate) sensor_id: u16,
    pub(crate) temperature: u8,
}

/// The table of one seed.
#[derive(Debug)]
pub(crate) struct Readings {
    seed: u64,
    pub(crate) rows: u64,
    layout: Layout,
}

impl Readings {
    pub(crate) fn new(seed: u64, rows: u64, layout: Layout) -> Self {
        Self { seed, rows, layout }
    }

    pub(crate) fn chunks(&self) -> u64 {
        self.rows.div_ceil(CHUNK_ROWS)
    }

    /// Generates the rows of one chunk. The last chunk may have fewer rows.
    pub(crate) fn chunk(&self, chunk: u64) -> Vec<Reading> {
        let from = chunk * CHUNK_ROWS;
        let to = (from + CHUNK_ROWS).min(self.rows);
        (from..to).map(|row| self.reading(self.place(row))).collect()
    }

    /// The row's position in the time-major layout.
    fn place(&self, row: u64) -> u64 {
        let (minutes, more) = (self.rows / SENSORS, self.rows % SENSORS);
        match self.layout {
            Layout::TimeMajor => row,
            // The first `more` sensors have a minute more than the others.
            Layout::SensorMajor if row < more * (minutes + 1) => {
                row % (minutes + 1) * SENSORS + row / (minutes + 1)
            }
            Layout::SensorMajor => {
                let row = row - more * (minutes + 1);
                row % minutes * SENSORS + more + row / minutes
            }
        }
    }

    fn reading(&self, place: u64) -> Reading {
        let random = mix(mix(self.seed).wrapping_add(place));
        let degrees = u8::try_from(below(random, DEGREES)).unwrap_or_default();
        let is_needle = place == below(mix(self.seed), self.rows);
        Reading {
            time: START_SECONDS.saturating_add_unsigned(60 * (place / SENSORS)),
            sensor_id: u16::try_from(place % SENSORS).unwrap_or_default(),
            temperature: if is_needle { NEEDLE } else { LOWEST + degrees },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: u64, layout: Layout) -> Vec<Reading> {
        let readings = Readings::new(1, rows, layout);
        (0..readings.chunks()).flat_map(|chunk| readings.chunk(chunk)).collect()
    }

    #[test]
    fn both_layouts_have_the_same_rows() {
        for count in [1, 9_999, 10_000, 10_001, 123_456] {
            let mut time_major = rows(count, Layout::TimeMajor);
            let mut sensor_major = rows(count, Layout::SensorMajor);
            assert!(time_major.is_sorted_by_key(|row| (row.time, row.sensor_id)));
            assert!(sensor_major.is_sorted_by_key(|row| (row.sensor_id, row.time)));
            time_major.sort_unstable();
            sensor_major.sort_unstable();
            assert_eq!(time_major, sensor_major, "{count}");
        }
    }

    #[test]
    fn temperatures_are_uniform_but_for_one() {
        let rows = rows(2_000_000, Layout::TimeMajor);
        let mut counts = [0_u32; 256];
        for row in &rows {
            counts[usize::from(row.temperature)] += 1;
        }
        assert_eq!(counts[usize::from(NEEDLE)], 1);
        assert_eq!(counts.iter().filter(|count| **count > 1).count(), 51);
        assert!(counts[55..=105].iter().all(|count| count.abs_diff(39_215) < 1_200), "{counts:?}");
        assert_eq!(rows[1_999_999].time, START_SECONDS + 199 * 60);
        assert_eq!(rows[1_999_999].sensor_id, 9_999);
    }
}
