//! `requests`: 29 hours of an invented web shop's events, in order of arrival.
//!
//! Rows arrive along a daily wave. They are about 8 s old on arrival, and some of them much older,
//! so times are almost in order. Four in five come from a server, the others from a client, and
//! each kind has columns that the other lacks.

use hadal_random::Random;

use crate::rounding::whole;
use crate::vocabulary as words;
use crate::zipf::Zipf;

/// The arrival of the first row, in seconds since 1970: 2026-01-05, a Monday.
pub(crate) const START_SECONDS: i64 = 1_767_571_200;
/// The duration of all arrivals, in minutes.
pub(crate) const MINUTES: u16 = 29 * 60;
/// Rows that are generated together.
pub(crate) const CHUNK_ROWS: u64 = 1 << 16;

const AGE_MEAN_SECONDS: f64 = 8.0;
const SERVER_SHARE: f64 = 0.8;
/// User ids are numbers below this.
const USER_IDS: u64 = 10_000_000_000;
const USERS: u32 = 10_000_000;
/// Odd and no multiple of 5, so that it scatters ranks over all ids without a collision.
const USER_STEP: u64 = 6_180_339_887;
/// Weights: the cumulative share of rows in thousandths, and the weight.
const WEIGHTS: [(u32, u16); 4] = [(250, 1), (650, 10), (930, 100), (1_000, 1_000)];

/// One row; words are codes of the [`crate::vocabulary`].
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Seconds since 1970.
    pub(crate) time: i64,
    pub(crate) endpoint: u32,
    pub(crate) country: u32,
    pub(crate) latency_us: u32,
    pub(crate) user_id: u64,
    pub(crate) build: u32,
    pub(crate) weight: u16,
    pub(crate) side: Side,
    /// Empty unless the table is a full one.
    pub(crate) tags: Vec<u32>,
    pub(crate) stack: Vec<u32>,
}

/// The origin of a row, and the columns of that origin.
#[derive(Clone, Debug)]
pub(crate) enum Side {
    Server { service: u32, host: u32, status: u16, bytes: u32, phrase: u32, number: u32 },
    Client { app: u32, device: u32, battery_pct: u32, fps_tenths: u32 },
}

/// The table of one seed.
#[derive(Debug)]
pub(crate) struct Requests {
    seed: u64,
    pub(crate) rows: u64,
    pub(crate) is_full: bool,
    /// The share of rows that have arrived by each minute.
    wave: Vec<f64>,
    laws: Laws,
}

#[derive(Debug)]
struct Laws {
    endpoint: Zipf,
    country: Zipf,
    user: Zipf,
    build: Zipf,
    service: Zipf,
    host: Zipf,
    device: Zipf,
    tag: Zipf,
    frame: Zipf,
}

impl Requests {
    pub(crate) fn new(seed: u64, rows: u64, is_full: bool) -> Self {
        let laws = Laws {
            endpoint: Zipf::new(words::ENDPOINTS, 1.0),
            country: Zipf::new(words::COUNTRIES, 1.1),
            user: Zipf::new(USERS, 1.0),
            build: Zipf::new(words::BUILDS, 0.8),
            service: Zipf::new(words::SERVICES, 1.0),
            host: Zipf::new(words::HOSTS, 0.3),
            device: Zipf::new(words::DEVICES, 1.0),
            tag: Zipf::new(words::TAGS, 1.0),
            frame: Zipf::new(words::FRAMES, 0.9),
        };
        Self { seed, rows, is_full, wave: daily_wave(), laws }
    }

    pub(crate) fn chunks(&self) -> u64 {
        self.rows.div_ceil(CHUNK_ROWS)
    }

    /// Generates the rows of one chunk. The last chunk may have fewer rows.
    pub(crate) fn chunk(&self, chunk: u64) -> Vec<Request> {
        let mut random = Random::new(self.seed, chunk);
        let from = chunk * CHUNK_ROWS;
        let to = (from + CHUNK_ROWS).min(self.rows);
        (from..to).map(|row| self.row(row, &mut random)).collect()
    }

    fn row(&self, row: u64, random: &mut Random) -> Request {
        let laws = &self.laws;
        let age = random.exponential(AGE_MEAN_SECONDS);
        Request {
            time: START_SECONDS + floor(self.arrival_seconds(row) - age),
            endpoint: laws.endpoint.pick(random),
            country: laws.country.pick(random),
            latency_us: whole(random.lognormal(10_000.0, 1.1)),
            user_id: u64::from(laws.user.pick(random) + 1) * USER_STEP % USER_IDS,
            build: laws.build.pick(random),
            weight: first_above(&WEIGHTS, random.below_u32(1_000)),
            side: if random.chance(SERVER_SHARE) {
                self.server(random)
            } else {
                self.client(random)
            },
            tags: if self.is_full { set(laws.tag, random) } else { Vec::new() },
            stack: if self.is_full { vector(laws.frame, random) } else { Vec::new() },
        }
    }

    fn server(&self, random: &mut Random) -> Side {
        Side::Server {
            service: self.laws.service.pick(random),
            host: self.laws.host.pick(random),
            status: status(random.below_u32(1_000)),
            bytes: whole(random.lognormal(3_000.0, 1.6)),
            phrase: random.below_u32(8),
            number: random.below_u32(1 << 30),
        }
    }

    fn client(&self, random: &mut Random) -> Side {
        Side::Client {
            app: random.below_u32(5),
            device: self.laws.device.pick(random),
            battery_pct: 1 + random.below_u32(100),
            fps_tenths: whole((500.0 + 120.0 * random.normal()).min(600.0)),
        }
    }

    /// The arrival of a row, in seconds after the start.
    fn arrival_seconds(&self, row: u64) -> f64 {
        let share = (row as f64 + 0.5) / self.rows as f64;
        let minute = self.wave.partition_point(|arrived| *arrived <= share);
        let (before, after) = (self.wave[minute - 1], self.wave[minute]);
        60.0 * (minute as f64 - 1.0 + (share - before) / (after - before))
    }
}

/// The share of rows that have arrived by each minute, 0 first. The arrival rate is 0.4 times the
/// average at midnight, and 1.6 times at noon.
fn daily_wave() -> Vec<f64> {
    let mut sums = vec![0.0];
    for minute in 0..MINUTES {
        let day = std::f64::consts::TAU * f64::from(minute) / 1_440.0;
        sums.push(sums[usize::from(minute)] + 1.0 - 0.6 * day.cos());
    }
    let whole = sums[usize::from(MINUTES)];
    sums.iter().map(|sum| sum / whole).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "some hours in seconds")]
fn floor(seconds: f64) -> i64 {
    seconds.floor() as i64
}

fn first_above(list: &[(u32, u16)], thousandth: u32) -> u16 {
    let entry = list.iter().find(|(to, _)| thousandth < *to);
    entry.map_or(1, |(_, value)| *value)
}

fn status(thousandth: u32) -> u16 {
    let mut left = thousandth;
    for (status, weight) in words::STATUSES {
        let weight = u32::from(weight);
        if left < weight {
            return status;
        }
        left -= weight;
    }
    words::STATUSES[0].0
}

/// Up to six different ones, ascending.
fn set(law: Zipf, random: &mut Random) -> Vec<u32> {
    let mut set: Vec<u32> = (0..random.below_u32(7)).map(|_| law.pick(random)).collect();
    set.sort_unstable();
    set.dedup();
    set
}

/// Up to twenty.
fn vector(law: Zipf, random: &mut Random) -> Vec<u32> {
    (0..random.below_u32(21)).map(|_| law.pick(random)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn rows(count: u64) -> Vec<Request> {
        let requests = Requests::new(1, count, true);
        (0..requests.chunks()).flat_map(|chunk| requests.chunk(chunk)).collect()
    }

    #[test]
    fn rows_are_almost_in_order_over_29_hours() {
        let rows = rows(200_000);
        let (first, last) = (rows[0].time, rows[199_999].time);
        assert!((first - START_SECONDS).abs() < 200, "{first}");
        assert!((last - START_SECONDS - 29 * 3_600).abs() < 200, "{last}");
        let ages = |offset: usize| {
            rows.iter().zip(&rows[offset..]).filter(|(one, next)| next.time < one.time).count()
        };
        // Almost half of all neighbours are in the wrong order, but never by hours.
        assert!((80_000..100_000).contains(&ages(1)), "{}", ages(1));
        assert_eq!(ages(20_000), 0);
        let noon = rows.iter().filter(|row| row.time - START_SECONDS < 43_200 + 3_600);
        let noon = noon.filter(|row| row.time - START_SECONDS >= 43_200).count();
        let night = rows.iter().filter(|row| row.time - START_SECONDS < 3_600).count();
        assert!(noon > 3 * night, "{noon} {night}");
    }

    #[test]
    fn numbers_have_the_moments_that_are_told() {
        let rows = rows(100_000);
        let share = |is: fn(&Request) -> bool| {
            rows.iter().filter(|row| is(row)).count() as f64 / rows.len() as f64
        };
        let near = |value: f64, expected: f64| assert!((value - expected).abs() < 0.01, "{value}");
        near(share(|row| matches!(row.side, Side::Server { .. })), 0.8);
        near(share(|row| row.latency_us < 10_000), 0.5);
        // One standard deviation above the median.
        near(share(|row| f64::from(row.latency_us) < 10_000.0 * 1.1_f64.exp()), 0.841);
        for (weight, expected) in [(1, 0.25), (10, 0.4), (100, 0.28), (1_000, 0.07)] {
            near(rows.iter().filter(|row| row.weight == weight).count() as f64 / 1e5, expected);
        }
        near(share(|row| matches!(row.side, Side::Client { fps_tenths: 600, .. })), 0.2 * 0.2);
        // A Zipf law's first of 10 million values has 1 / (ln 10^7 + 0.577) of all rows.
        near(share(|row| row.user_id == USER_STEP), 0.0599);
        near(share(|row| matches!(row.side, Side::Server { status: 200, .. })), 0.72);
        let elements = |of: fn(&Request) -> &Vec<u32>| {
            rows.iter().map(|row| of(row).len()).sum::<usize>() as f64 / rows.len() as f64
        };
        assert!((elements(|row| &row.stack) - 10.0).abs() < 0.1);
        assert!((2.7..3.0).contains(&elements(|row| &row.tags)));
    }

    #[test]
    fn messages_hardly_repeat_and_user_ids_are_many() {
        let rows = rows(100_000);
        let message = |row: &Request| match row.side {
            Side::Server { phrase, number, .. } => Some((phrase, row.endpoint, number)),
            Side::Client { .. } => None,
        };
        let messages: Vec<_> = rows.iter().filter_map(message).collect();
        let different: BTreeSet<_> = messages.iter().collect();
        assert!(different.len() + 5 > messages.len());
        let users: BTreeSet<u64> = rows.iter().map(|row| row.user_id).collect();
        assert!(users.len() > 25_000, "{}", users.len());
        assert!(users.iter().all(|user| *user < USER_IDS));
    }
}
