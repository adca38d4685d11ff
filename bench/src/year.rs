//! `year`: the temperatures of some sensors in each minute of 2025, in hundredths of a degree. The
//! table is that of ScyllaDB's "How Scylla Scaled to One Billion Rows a Second" (2019).
//!
//! Each day has its own base. Temperatures of a day are within 7.5 degrees and those of the year
//! within 12, from 68.00 on. One sensor fails on the 27th of August: it reports 19.71 once, and
//! 135.21 once. Sensors are numbered from 1; rows of one minute are adjacent.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch};
use hadal_random::{below, mix};

use crate::chunks::Output;
use crate::error::Error;
use crate::parquet_file;

/// 2025-01-01, in seconds since 1970.
const START_SECONDS: i64 = 1_735_689_600;
const DAY_MINUTES: u64 = 24 * 60;
const MINUTES: u64 = 365 * DAY_MINUTES;
/// Rows that are generated together.
const CHUNK_ROWS: u64 = 1 << 20;

/// All in hundredths of a degree.
const LOWEST: u16 = 6_800;
const BASES: u64 = 450;
const SPREAD: u64 = 751;

/// The needle: minutes of the year, and the sensor's values then.
const WRONG_DAY: u64 = 238;
const WRONG: [(u64, u16); 2] =
    [(WRONG_DAY * DAY_MINUTES + 617, 1_971), (WRONG_DAY * DAY_MINUTES + 886, 13_521)];

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reading {
    time: i64,
    sensor: u32,
    hundredths: u16,
}

/// The table of one seed.
#[derive(Debug)]
pub(crate) struct Year {
    seed: u64,
    sensors: u64,
}

impl Year {
    pub(crate) fn new(seed: u64, sensors: u32) -> Self {
        Self { seed, sensors: u64::from(sensors) }
    }

    pub(crate) fn write_parquet(&self, output: &Output<'_>) -> Result<(), Error> {
        let chunks = (self.sensors * MINUTES).div_ceil(CHUNK_ROWS);
        parquet_file::write(output, chunks, |chunk| batch(&self.chunk(chunk)))
    }

    /// Generates the rows of one chunk. The last chunk may have fewer rows.
    fn chunk(&self, chunk: u64) -> Vec<Reading> {
        let from = chunk * CHUNK_ROWS;
        let to = (from + CHUNK_ROWS).min(self.sensors * MINUTES);
        (from..to).map(|row| self.reading(row)).collect()
    }

    fn reading(&self, row: u64) -> Reading {
        let (minute, sensor) = (row / self.sensors, row % self.sensors);
        let seed = mix(self.seed);
        let base = below(mix(!seed.wrapping_add(minute / DAY_MINUTES)), BASES);
        let more = base + below(mix(seed.wrapping_add(row)), SPREAD);
        let is_wrong = sensor == below(seed, self.sensors);
        let needle = WRONG.iter().find(|(when, _)| is_wrong && *when == minute);
        let usual = LOWEST.saturating_add(u16::try_from(more).unwrap_or_default());
        Reading {
            time: START_SECONDS.saturating_add_unsigned(60 * minute),
            sensor: u32::try_from(sensor + 1).unwrap_or_default(),
            hundredths: needle.map_or(usual, |(_, wrong)| *wrong),
        }
    }
}

fn batch(rows: &[Reading]) -> Result<RecordBatch, Error> {
    let times = rows.iter().map(|row| row.time);
    let sensors = rows.iter().map(|row| i32::try_from(row.sensor).ok());
    let temperatures = rows.iter().map(|row| f64::from(row.hundredths) / 100.0);
    let columns: [(&str, ArrayRef); 3] = [
        ("time", Arc::new(Int64Array::from_iter_values(times))),
        ("sensor_id", Arc::new(Int32Array::from_iter(sensors))),
        ("temperature", Arc::new(Float64Array::from_iter_values(temperatures))),
    ];
    let columns = columns.map(|(name, column)| (name, column, true));
    Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_has_every_minute_of_every_sensor_and_one_needle() {
        let year = Year::new(1, 3);
        let rows: Vec<Reading> = (0..2).flat_map(|chunk| year.chunk(chunk)).collect();
        assert_eq!(rows.len(), 3 * 525_600);
        assert_eq!((rows[0].time, rows[0].sensor), (START_SECONDS, 1));
        let last = rows[rows.len() - 1];
        assert_eq!((last.time, last.sensor), (1_767_225_540, 3));
        let (wrong, usual): (Vec<Reading>, Vec<Reading>) =
            rows.into_iter().partition(|row| !(6_800..8_000).contains(&row.hundredths));
        let hundredths: Vec<u16> = wrong.iter().map(|row| row.hundredths).collect();
        assert_eq!(hundredths, [1_971, 13_521]);
        assert_eq!(wrong[0].sensor, wrong[1].sensor);
        // The 27th of August, in days since 1970.
        assert!(wrong.iter().all(|row| row.time / 86_400 == 20_327));
        // Many different temperatures, uniform within a day.
        let day: Vec<u16> = usual[..4_320].iter().map(|row| row.hundredths).collect();
        let (low, high) = (day.iter().min().unwrap(), day.iter().max().unwrap());
        assert!((740..=750).contains(&(high - low)), "{low} {high}");
    }

    #[test]
    fn the_same_seed_has_the_same_needle() {
        let of = |seed| Year::new(seed, 1_000).reading(WRONG[0].0 * 1_000 + 17);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}
