//! Table `requests`: the log of a web shop's servers and its customers' applications.
//!
//! Every row is a pure function of the seed, of `now` and of the row's number, whichever thread
//! generates it. Rows have two shapes. Server rows have service, host, datacenter, status, bytes,
//! message, tags and sometimes a stack. Client rows have app, device, battery and frame rate.

use hadal_block::{BlockBuilder, ColumnId, PushError};
use hadal_random::{Random, mix};
use hadal_types::{BatchId, ColumnName, Decimal, Kind, Micros, NameError, Number, Weight};

use super::rhythm::{DENSE_SECONDS, DENSITY, HISTORY_SECONDS, Rhythm, load};
use super::vocabulary::Vocabulary;
use super::weighted::{Weighted, whole};
use super::words::PHRASES;
use crate::error::Error;

/// The number of users.
const USERS: f64 = 1e7;
/// User ids are below this.
const USER_IDS: u64 = 10_000_000_000;
/// The number of builds released in the two weeks, at equal intervals.
const BUILDS: i64 = 30;
/// The number of the newest build.
const BUILD_NEWEST: i64 = 4_830;
/// The age of the newest build in seconds.
const RELEASED_SECONDS: i64 = 40 * 60;
/// The seconds until a build has its full share of traffic.
const ROLLOUT_SECONDS: i64 = 30 * 60;
/// Status codes with their shares.
const STATUS: [(i64, f64); 16] = [
    (200, 880.0),
    (304, 40.0),
    (204, 22.0),
    (404, 18.0),
    (302, 10.0),
    (201, 8.0),
    (401, 6.0),
    (400, 5.0),
    (206, 3.0),
    (429, 2.0),
    (403, 2.0),
    (301, 1.0),
    (409, 1.0),
    (500, 1.2),
    (502, 0.5),
    (503, 0.3),
];
/// The stack trace of the fault in the newest build, outermost call first.
const FAULT_STACK: [&str; 6] = [
    "runtime::poll_stream",
    "http::route_request",
    "handler::reprice_cart",
    "pricing::fetch_rates",
    "pool::wait_connection",
    "pool::give_up_after_timeout",
];

/// Generates rows of `requests`.
pub(crate) struct Requests {
    seed: u64,
    now: Micros,
    rows: u64,
    rhythm: Rhythm,
    vocabulary: Vocabulary,
    status: Weighted,
    older_builds: Weighted,
    faulty: (usize, usize),
}

impl Requests {
    /// A generator of `rows` rows of history up to `now`, and of live rows after it.
    pub(crate) fn new(seed: u64, now: Micros, rows: u64) -> Self {
        let vocabulary = Vocabulary::new();
        let place = |items: &[&str], name| items.iter().position(|item| *item == name);
        let service = place(&vocabulary.services.items, "checkout").unwrap_or_default();
        let datacenter = place(&vocabulary.datacenters, "fra2").unwrap_or_default();
        Self {
            seed,
            now,
            rows,
            rhythm: Rhythm::new(now, rows),
            vocabulary,
            status: Weighted::new(&STATUS.map(|(_, share)| share)),
            older_builds: Weighted::zipf(8, 1.6),
            faulty: (service, datacenter),
        }
    }

    /// The number of rows of the history. Row numbers begin with the newest row.
    pub(crate) const fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns a block of the history's rows `from..to`.
    pub(crate) fn history_block(
        &self,
        from: u64,
        to: u64,
        created_at: Micros,
    ) -> Result<(BatchId, Vec<u8>), Error> {
        let mut draft = Draft::new()?;
        let mut random = Random::new(self.seed, from);
        for row in from..to {
            let share = (row as f64 + random.unit()) / self.rows as f64;
            let time = self.rhythm.time_with_newer(share);
            // Rows arrive slightly out of order.
            let late = whole(random.exponential(8.0) * 1e6);
            self.write(&mut draft, &mut random, Micros(time.0 - late))?;
        }
        self.finish(draft, "history", from.cast_signed(), created_at)
    }

    /// Returns a block of the rows of one second, which begins `second` seconds after now, or
    /// `None` if it has no rows.
    pub(crate) fn live_block(
        &self,
        second: i64,
        created_at: Micros,
    ) -> Result<Option<(BatchId, usize, Vec<u8>)>, Error> {
        let mut random = Random::new(mix(self.seed), second.cast_unsigned());
        let start = Micros(self.now.0 + second * Micros::SECOND);
        let expected = self.rhythm.rows_per_second(start);
        let rows = whole(expected.floor()) + i64::from(random.chance(expected.fract()));
        let mut draft = Draft::new()?;
        for _ in 0..rows {
            let into = random.below(Micros::SECOND.cast_unsigned()).cast_signed();
            self.write(&mut draft, &mut random, Micros(start.0 + into))?;
        }
        let rows = draft.builder.rows();
        if rows == 0 {
            return Ok(None);
        }
        let (id, block) = self.finish(draft, "live", second, created_at)?;
        Ok(Some((id, rows, block)))
    }

    fn finish(
        &self,
        draft: Draft,
        part: &str,
        index: i64,
        created_at: Micros,
    ) -> Result<(BatchId, Vec<u8>), Error> {
        let id = format!("demo-{part}-{}-{}-{}-{index}", self.seed, self.now.0, self.rows);
        let id = BatchId::new(&id).ok_or(Error::BatchId(id))?;
        // The id contains all that the content depends on.
        let block = draft.builder.finish(created_at, Some((&id, 0)))?;
        Ok((id, block))
    }

    fn write(&self, draft: &mut Draft, random: &mut Random, time: Micros) -> Result<(), PushError> {
        let service = self.vocabulary.services.pick(random);
        let endpoint = self.vocabulary.endpoints[service].item(random);
        let is_old = self.now.0 - time.0 > DENSE_SECONDS * Micros::SECOND;
        let (builder, columns) = (&mut draft.builder, &draft.columns);
        builder.push_string(columns.endpoint, &endpoint.path)?;
        builder.push_string(columns.country, self.vocabulary.countries.item(random))?;
        builder.push_number(columns.user_id, Number::integer(user_id(random)))?;
        let rate = endpoint.sample_rate * if is_old { DENSITY } else { 1 };
        builder.push_number(columns.sample_rate, Number::integer(rate))?;
        let (build, is_newest) = self.build(random, time);
        draft.text.clear();
        draft.text.push('r');
        draft.text.push_str(&build.to_string());
        builder.push_string(columns.build, &draft.text)?;
        if random.chance(0.8) {
            self.write_server(draft, random, time, (service, &endpoint.path, is_newest))?;
        } else {
            self.write_client(draft, random)?;
        }
        draft.builder.end_row(time);
        Ok(())
    }

    /// Returns the build that serves a request at a time, and whether it is the newest of all.
    fn build(&self, random: &mut Random, time: Micros) -> (i64, bool) {
        let distance = HISTORY_SECONDS / BUILDS;
        let age = self.now.seconds_since(time) - RELEASED_SECONDS;
        // The number of releases after this time.
        let later = if age <= 0 { 0 } else { (age + distance - 1) / distance };
        let since_release = (later * distance - age) as f64;
        let share = 0.8 * (since_release / ROLLOUT_SECONDS as f64).clamp(0.25, 1.0);
        let behind = if random.chance(share) {
            0
        } else {
            1 + i64::try_from(self.older_builds.pick(random)).unwrap_or_default()
        };
        (BUILD_NEWEST - later - behind, later + behind == 0)
    }

    fn write_server(
        &self,
        draft: &mut Draft,
        random: &mut Random,
        time: Micros,
        (service, path, is_newest): (usize, &str, bool),
    ) -> Result<(), PushError> {
        let vocabulary = &self.vocabulary;
        let host = vocabulary.hosts.pick(random);
        let datacenter = host % vocabulary.datacenters.len();
        let is_faulty = is_newest && (service, datacenter) == self.faulty;
        let fails = is_faulty && random.chance(0.3);
        let status = if fails { 503 } else { STATUS[self.status.pick(random)].0 };
        let pace = if is_faulty { 7.0 } else { 1.0 } * (0.7 + 0.5 * load(time));
        let (builder, columns) = (&mut draft.builder, &draft.columns);
        builder.push_string(columns.kind, "server")?;
        let latency = random.lognormal(median_us(service) * pace, 0.9);
        builder.push_number(columns.latency_us, Number::integer(whole(latency)))?;
        builder.push_string(columns.service, vocabulary.services.items[service])?;
        builder.push_string(columns.host, &vocabulary.hosts.items[host])?;
        builder.push_string(columns.datacenter, vocabulary.datacenters[datacenter])?;
        builder.push_number(columns.status, Number::integer(status))?;
        let bytes = whole(random.lognormal(3_000.0, 1.6));
        builder.push_number(columns.bytes, Number::integer(bytes))?;
        draft.text.clear();
        let phrase = if fails { "upstream timed out for" } else { PHRASES[random.index(8)] };
        for part in [phrase, " ", path, " ", &random.below(1 << 30).to_string()] {
            draft.text.push_str(part);
        }
        builder.push_string(columns.message, &draft.text)?;
        if fails {
            builder.push_list(columns.stack, &FAULT_STACK)?;
        } else if status >= 500 || random.chance(0.05) {
            let stack: Vec<&str> =
                vocabulary.stacks.item(random).iter().map(String::as_str).collect();
            builder.push_list(columns.stack, &stack)?;
        }
        let tags: [&str; 6] = std::array::from_fn(|_| vocabulary.tags.item(random).as_str());
        builder.push_list(columns.tags, &tags[..random.index(7)])
    }

    fn write_client(&self, draft: &mut Draft, random: &mut Random) -> Result<(), PushError> {
        let (builder, columns) = (&mut draft.builder, &draft.columns);
        builder.push_string(columns.kind, "client")?;
        let latency = whole(random.lognormal(90_000.0, 1.1));
        builder.push_number(columns.latency_us, Number::integer(latency))?;
        builder.push_string(columns.app, self.vocabulary.apps.item(random))?;
        builder.push_string(columns.device, self.vocabulary.devices.item(random))?;
        let battery = 1 + random.below(100).cast_signed();
        builder.push_number(columns.battery_pct, Number::integer(battery))?;
        let tenths = whole((500.0 + 120.0 * random.normal()).clamp(10.0, 600.0));
        let fps = Decimal::new(tenths.into(), 1).map_or(Number::ZERO, Number::from);
        builder.push_number(columns.fps, fps)
    }
}

/// A user's id. A few users are frequent, most are rare; ids are scattered.
fn user_id(random: &mut Random) -> i64 {
    let rank = whole((random.unit() * USERS.ln()).exp());
    (mix(rank.cast_unsigned()) % USER_IDS).cast_signed()
}

/// The median latency of a service in microseconds: 3 to 24 ms.
fn median_us(service: usize) -> f64 {
    3_000.0 * f64::from(1u32 << (mix(service as u64) % 4))
}

/// A block that is being built.
struct Draft {
    builder: BlockBuilder,
    columns: Columns,
    text: String,
}

impl Draft {
    fn new() -> Result<Self, NameError> {
        let mut builder = BlockBuilder::new(ColumnName::new("time")?);
        let columns = Columns::new(&mut builder)?;
        Ok(Self { builder, columns, text: String::new() })
    }
}

struct Columns {
    kind: ColumnId,
    endpoint: ColumnId,
    country: ColumnId,
    latency_us: ColumnId,
    user_id: ColumnId,
    build: ColumnId,
    sample_rate: ColumnId,
    service: ColumnId,
    host: ColumnId,
    datacenter: ColumnId,
    status: ColumnId,
    bytes: ColumnId,
    message: ColumnId,
    tags: ColumnId,
    stack: ColumnId,
    app: ColumnId,
    device: ColumnId,
    battery_pct: ColumnId,
    fps: ColumnId,
}

impl Columns {
    fn new(builder: &mut BlockBuilder) -> Result<Self, NameError> {
        let mut column = |name, kind| Ok(builder.column(&ColumnName::new(name)?, kind));
        Ok(Self {
            kind: column("kind", Kind::String)?,
            endpoint: column("endpoint", Kind::String)?,
            country: column("country", Kind::String)?,
            latency_us: column("latency_us", Kind::Number)?,
            user_id: column("user_id", Kind::Number)?,
            build: column("build", Kind::String)?,
            sample_rate: column(Weight::COLUMN, Kind::Number)?,
            service: column("service", Kind::String)?,
            host: column("host", Kind::String)?,
            datacenter: column("datacenter", Kind::String)?,
            status: column("status", Kind::Number)?,
            bytes: column("bytes", Kind::Number)?,
            message: column("message", Kind::String)?,
            tags: column("tags", Kind::Set)?,
            stack: column("stack", Kind::Vector)?,
            app: column("app", Kind::String)?,
            device: column("device", Kind::String)?,
            battery_pct: column("battery_pct", Kind::Number)?,
            fps: column("fps", Kind::Number)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use hadal_block::BlockView;

    use super::*;

    const NOW: Micros = Micros(1_795_000_000 * Micros::SECOND);

    #[test]
    fn the_same_seed_and_now_give_the_same_rows() {
        let block = |seed, now| {
            let requests = Requests::new(seed, now, 10_000_000);
            let live = requests.live_block(3, NOW).expect("a block").expect("rows");
            (requests.history_block(2_000, 3_000, NOW).expect("a block"), live)
        };
        assert_eq!(block(1, NOW), block(1, NOW));
        let (rows, live) = block(1, NOW);
        assert_ne!(rows.1, block(2, NOW).0.1);
        assert_ne!(live.2, block(2, NOW).1.2);
        assert_ne!(rows.1, block(1, Micros(NOW.0 + 1)).0.1);
    }

    #[test]
    fn blocks_hold_two_shapes_of_rows_in_their_stretch_of_time() {
        let requests = Requests::new(1, NOW, 100_000);
        let (id, bytes) = requests.history_block(0, 5_000, NOW).expect("a block");
        let view = BlockView::parse(&bytes).expect("a valid block");
        view.verify().expect("its checksums");
        assert_eq!(view.rows(), 5_000);
        assert!(view.batches().iter().all(|batch| batch.id == id));
        let columns: Vec<&str> =
            view.columns().iter().map(|column| column.name().as_str()).collect();
        assert_eq!(columns.len(), 20, "{columns:?}");
        let (first, last) = view.time_range();
        assert!(last <= NOW && first.0 > NOW.0 - 3 * DENSE_SECONDS * Micros::SECOND);
    }
}
