//! `druid`: a week of advertising, shaped like the table of the first published benchmark of Druid
//! ("Scaling the Druid Data Store", Metamarkets, 2012). It has a dozen dimensions, with tens to
//! tens of millions of values by Zipf laws, and four metrics.
//!
//! All dimensions are strings, as in Druid. Rows are ordered by time, as within Druid's segments.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use hadal_random::{Random, mix};

use crate::chunks::Output;
use crate::error::Error;
use crate::parquet_file;
use crate::rounding::whole;
use crate::zipf::Zipf;

/// The time of the first row, in seconds since 1970: 2026-01-05, a Monday.
const START_SECONDS: i64 = 1_767_571_200;
const SECONDS: u64 = 7 * 24 * 3600;
/// Rows that are generated together.
const CHUNK_ROWS: u64 = 1 << 16;
/// Dimensions with more values than this have ids as values, not numbered names.
const NAMES_MAX: u32 = 1_000_000;

/// Name, number of different values, exponent of the Zipf law.
const DIMENSIONS: [(&str, u32, f64); 12] = [
    ("exchange", 12, 0.8),
    ("size", 25, 1.0),
    ("device", 60, 1.0),
    ("country", 200, 1.1),
    ("category", 400, 0.9),
    ("advertiser", 1_500, 1.0),
    ("campaign", 8_000, 1.0),
    ("city", 20_000, 1.0),
    ("creative", 60_000, 1.0),
    ("site", 300_000, 1.0),
    ("page", 3_000_000, 1.0),
    ("viewer", 30_000_000, 1.0),
];

/// The table of one seed.
#[derive(Debug)]
pub(crate) struct Druid {
    seed: u64,
    rows: u64,
    laws: [Zipf; 12],
}

impl Druid {
    pub(crate) fn new(seed: u64, rows: u64) -> Self {
        let laws = DIMENSIONS.map(|(_, values, exponent)| Zipf::new(values, exponent));
        Self { seed, rows, laws }
    }

    pub(crate) fn write_parquet(&self, output: &Output<'_>) -> Result<(), Error> {
        parquet_file::write(output, self.rows.div_ceil(CHUNK_ROWS), |chunk| self.batch(chunk))
    }

    /// Generates the rows of one chunk. The last chunk may have fewer rows.
    fn batch(&self, chunk: u64) -> Result<RecordBatch, Error> {
        let mut random = Random::new(self.seed, chunk);
        let mut columns = Columns::default();
        let from = chunk * CHUNK_ROWS;
        for row in from..(from + CHUNK_ROWS).min(self.rows) {
            let seconds = u128::from(row) * u128::from(SECONDS) / u128::from(self.rows);
            let seconds = u64::try_from(seconds).unwrap_or(SECONDS);
            columns.push(START_SECONDS.saturating_add_unsigned(seconds), &self.laws, &mut random);
        }
        columns.finish()
    }
}

#[derive(Default)]
struct Columns {
    time: Int64Builder,
    dimensions: [StringBuilder; 12],
    impressions: Int64Builder,
    clicks: Int64Builder,
    revenue: Float64Builder,
    price: Float64Builder,
    text: String,
}

impl Columns {
    fn push(&mut self, time: i64, laws: &[Zipf; 12], random: &mut Random) {
        self.time.append_value(time);
        for ((name, values, _), (law, builder)) in
            DIMENSIONS.iter().zip(laws.iter().zip(&mut self.dimensions))
        {
            self.text.clear();
            put_value(&mut self.text, name, *values, law.pick(random));
            builder.append_value(&self.text);
        }
        let impressions = 1 + i64::from(whole(random.exponential(3.0)));
        self.impressions.append_value(impressions);
        self.clicks.append_value(i64::from(random.chance(0.02)));
        // Cents of a dollar, and mills: averages have a digit more.
        self.revenue.append_value(f64::from(whole(random.lognormal(40.0, 1.2))) / 100.0);
        self.price.append_value(f64::from(whole(random.lognormal(250.0, 0.8))) / 1_000.0);
    }

    fn finish(mut self) -> Result<RecordBatch, Error> {
        let mut columns: Vec<(&str, ArrayRef)> = vec![("time", Arc::new(self.time.finish()))];
        for ((name, ..), mut builder) in DIMENSIONS.iter().zip(self.dimensions) {
            columns.push((name, Arc::new(builder.finish())));
        }
        columns.push(("impressions", Arc::new(self.impressions.finish())));
        columns.push(("clicks", Arc::new(self.clicks.finish())));
        columns.push(("revenue", Arc::new(self.revenue.finish())));
        columns.push(("price", Arc::new(self.price.finish())));
        Ok(RecordBatch::try_from_iter(columns)?)
    }
}

/// Writes the value of one rank: a name with a number. If there are millions of values, it is 16
/// digits that hide the rank and are unique to it.
fn put_value(text: &mut String, name: &str, values: u32, rank: u32) {
    // Formatting to a string cannot fail.
    let _ = if values > NAMES_MAX {
        write!(text, "{:016x}", mix(u64::from(rank) + 1))
    } else {
        write!(text, "{name}-{rank}")
    };
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};

    use super::*;

    #[test]
    fn a_chunk_is_always_the_same() {
        let first = Druid::new(1, 70_000).batch(1).unwrap();
        assert_eq!(first, Druid::new(1, 70_000).batch(1).unwrap());
        assert_ne!(first, Druid::new(2, 70_000).batch(1).unwrap());
        assert_eq!(first.num_rows(), 70_000 - 65_536);
        assert_eq!(first.num_columns(), 17);
    }

    #[test]
    fn values_are_as_many_as_the_laws_say() {
        let batch = Druid::new(1, 65_536).batch(0).unwrap();
        let different = |name: &str| {
            let column = batch.column_by_name(name).unwrap().as_string::<i32>();
            column.iter().collect::<HashSet<_>>().len()
        };
        assert_eq!(different("exchange"), 12);
        assert_eq!(different("country"), 200);
        assert!((1_400..=1_500).contains(&different("advertiser")));
        // For n values by a Zipf law of exponent 1, N rows are expected to have x (ln(n / x) + 1 -
        // 0.577) different ones. Here x is N divided by the n-th harmonic number, 17.8: 34,700 of
        // 30 million.
        assert!((34_000..35_400).contains(&different("viewer")), "{}", different("viewer"));
    }

    #[test]
    fn times_rise_and_metrics_have_their_means() {
        let batch = Druid::new(1, 65_536).batch(0).unwrap();
        let time = batch.column_by_name("time").unwrap().as_primitive::<Int64Type>().values();
        assert!(time.is_sorted());
        assert_eq!(time[0], START_SECONDS);
        assert!(time[65_535] > START_SECONDS + 604_780);
        let clicks: i64 = batch
            .column_by_name("clicks")
            .unwrap()
            .as_primitive::<Int64Type>()
            .values()
            .iter()
            .sum();
        assert!((1_100..1_520).contains(&clicks), "{clicks}");
        let revenue = batch.column_by_name("revenue").unwrap().as_primitive::<Float64Type>();
        let mean = revenue.values().iter().sum::<f64>() / 65_536.0;
        assert!((0.75..0.90).contains(&mean), "{mean}");
    }
}
