//! Measures the kernels on this machine, at each available level, relative to the speed of reading
//! memory:
//! `cargo run --release -p hadal-encoding --example kernels [-- --quick] [part of a name]`.
//!
//! Kernels `from memory` read packed vectors from a buffer larger than any cache. The others work
//! on one vector or on a block of 65,536 rows, which stays in the cache as it does in a scan.
//! Levels take turns. The output has the median of the rounds, and the largest deviation of a
//! line's worst quartile. Bytes are those that a kernel reads; reading memory is measured again
//! before each kernel.
//!
//! Every result of every level is compared with the scalar twin's in the same run. A wrong result
//! is named without its figures, and the run fails.

use std::hint::black_box;
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::process::ExitCode;
use std::time::Instant;

use hadal_encoding::kernels::{Addend, Comparison, Level, PackedFold, pack, scalar};

/// Rows of a block.
const ROWS: usize = 65_536;
/// Rows of a vector.
const VECTOR: usize = 1_024;

/// Bytes read to measure the speed of memory: more than any cache holds.
const READ_BYTES: usize = 128 << 20;

fn main() -> io::Result<ExitCode> {
    let (options, only): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let quick = options.iter().any(|option| option == "--quick");
    let mut bench = Bench {
        levels: Level::available(),
        rounds: if quick { 3 } else { 11 },
        memory: if quick { 128 << 20 } else { 1 << 30 },
        only,
        words: (1..=READ_BYTES as u64 / 8).collect(),
        reads: Vec::new(),
        wrong: 0,
        out: io::stdout().lock(),
    };
    bench.head()?;
    for width in [6, 12, 20, 34] {
        from_memory(&mut bench, width)?;
    }
    for width in [1, 6, 8, 12, 16, 20, 32, 34, 64] {
        one_vector(&mut bench, width)?;
    }
    comparisons(&mut bench)?;
    sets_of_codes(&mut bench)?;
    all_rows(&mut bench)?;
    for percent in [2, 50, 98] {
        selected_rows(&mut bench, percent)?;
        present_rows(&mut bench, percent)?;
    }
    for group_count in [1, 60, 250, 5_000, 60_000] {
        by_group(&mut bench, group_count)?;
    }
    buckets(&mut bench)?;
    bench.end()
}

struct Bench {
    levels: Vec<Level>,
    rounds: usize,
    /// Bytes of the largest buffer.
    memory: usize,
    /// Parts of the names to measure; all if empty.
    only: Vec<String>,
    /// The buffer that is read to measure the speed of memory.
    words: Vec<u64>,
    /// The measured speeds of memory, in GB/s.
    reads: Vec<f64>,
    /// Number of wrong results.
    wrong: usize,
    out: io::StdoutLock<'static>,
}

impl Bench {
    /// GB/s of summing a buffer, measured now.
    fn read(&mut self) -> f64 {
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let start = Instant::now();
            // Several sums, so that an addition need not wait for the previous one.
            let mut sums = [0u64; 32];
            for chunk in black_box(&self.words).as_chunks::<32>().0 {
                for (sum, word) in sums.iter_mut().zip(chunk) {
                    *sum = sum.wrapping_add(*word);
                }
            }
            black_box(sums);
            best = best.min(start.elapsed().as_secs_f64());
        }
        let read = READ_BYTES as f64 / best / 1e9;
        self.reads.push(read);
        read
    }

    fn head(&mut self) -> io::Result<()> {
        write!(self.out, "{:<44}", "million values/s, GB/s, % of reading memory")?;
        for level in &self.levels {
            write!(self.out, "{:>22}", level.name())?;
        }
        writeln!(self.out, "{:>11}", "quartiles")
    }

    fn end(&mut self) -> io::Result<ExitCode> {
        let [low, middle, high] = quartiles(&mut self.reads);
        writeln!(self.out, "\nreading memory: {middle:.1} GB/s ({low:.1}-{high:.1})")?;
        writeln!(self.out, "wrong answers: {}", self.wrong)?;
        Ok(if self.wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Measures `kernel`, which reads `bytes` for `rows` values and leaves its result in `answer`,
    /// and compares the result with `twin`.
    fn measure<A: PartialEq>(
        &mut self,
        name: &str,
        (rows, bytes): (usize, usize),
        mut answer: A,
        twin: &A,
        mut kernel: impl FnMut(Level, &mut A),
    ) -> io::Result<()> {
        let is_named = |part: &String| name.contains(part.as_str());
        if !self.only.is_empty() && !self.only.iter().any(is_named) {
            return Ok(());
        }
        let read = self.read();
        let mut taken = vec![Vec::new(); self.levels.len()];
        // A few milliseconds each, so that reading the clock takes no noticeable part.
        let repeats = (10_000_000 / rows).clamp(1, 5_000);
        for _ in 0..self.rounds {
            for (level, taken) in self.levels.iter().zip(&mut taken) {
                let start = Instant::now();
                for _ in 0..repeats {
                    kernel(black_box(*level), black_box(&mut answer));
                }
                taken.push(start.elapsed().as_secs_f64() / repeats as f64);
                if answer != *twin {
                    self.wrong += 1;
                    return writeln!(self.out, "{name:<44} WRONG at {}", level.name());
                }
            }
        }
        write!(self.out, "{name:<44}")?;
        let mut off: f64 = 0.0;
        for mut taken in taken {
            let [low, seconds, high] = quartiles(&mut taken);
            off = off.max(high / seconds - 1.0).max(1.0 - low / seconds);
            let speed = bytes as f64 / seconds / 1e9;
            let share = speed / read * 100.0;
            let rate = rows as f64 / seconds / 1e6;
            write!(self.out, "{rate:>9.0} {speed:>6.1} {share:>4.0}%")?;
        }
        writeln!(self.out, "{:>9.0} %", 100.0 * off)
    }
}

/// The lower quartile, the median and the upper quartile, each a measured value.
fn quartiles(values: &mut [f64]) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let place = |quarter| (values.len().saturating_sub(1) * quarter + 2) / 4;
    [1, 2, 3].map(|quarter| values.get(place(quarter)).copied().unwrap_or(f64::NAN))
}

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        let mixed = (self.0 ^ self.0 >> 32).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        u64::try_from((u128::from(mixed) * u128::from(end)) >> 64).unwrap_or_default()
    }

    fn codes(&mut self, count: usize, end: u32) -> Vec<u32> {
        (0..count).map(|_| u32::try_from(self.below(end.into())).unwrap_or_default()).collect()
    }

    fn selection(&mut self, percent: u64) -> Vec<u64> {
        let mut bit = |bit| u64::from(self.below(100) < percent) << bit;
        (0..ROWS / 64).map(|_| (0..64).fold(0, |word, index| word | bit(index))).collect()
    }
}

/// `count` packed vectors of random values, concatenated.
fn vectors(width: u8, count: usize) -> Vec<u8> {
    let mut random = Random(width.into());
    let end = if width == 64 { u64::MAX } else { 1 << width };
    let mut bytes = Vec::new();
    for _ in 0..count {
        pack(&std::array::from_fn(|_| random.below(end)), width, &mut bytes);
    }
    bytes
}

fn fold_all(bytes: &[u8], width: u8, fold: impl Fn(&[u8], u8) -> PackedFold) -> (u128, u64, u64) {
    let vectors = bytes.chunks_exact(128 * usize::from(width));
    vectors.fold((0, u64::MAX, 0), |(sum, min, max), vector| {
        let fold = fold(vector, width);
        (sum + fold.sum, min.min(fold.min), max.max(fold.max))
    })
}

fn from_memory(bench: &mut Bench, width: u8) -> io::Result<()> {
    const COUNT: usize = 64;
    let some = vectors(width, COUNT);
    let copies = bench.memory / 2 / some.len();
    let bytes = some.repeat(copies);
    let size = (copies * COUNT * VECTOR, bytes.len());

    let (sum, min, max) = fold_all(&some, width, scalar::fold_packed);
    let twin = (sum * copies as u128, min, max);
    let name = format!("from memory, {width} bits: fold_packed");
    bench.measure(&name, size, (0, 0, 0), &twin, |level, answer| {
        *answer = fold_all(&bytes, width, |vector, width| level.fold_packed(vector, width));
    })?;
    let name = format!("from memory, {width} bits: sum_packed");
    bench.measure(&name, size, 0, &twin.0, |level, answer| {
        let vectors = bytes.chunks_exact(128 * usize::from(width));
        *answer = vectors.map(|vector| level.sum_packed(vector, width)).sum();
    })?;
    if width <= 32 { filtered(bench, width, &bytes, size) } else { Ok(()) }
}

/// Count and sum of a quarter of the values.
fn filtered(bench: &mut Bench, width: u8, bytes: &[u8], size: (usize, usize)) -> io::Result<()> {
    let bound = 1 << (width - 2);
    let vectors = || bytes.chunks_exact(128 * usize::from(width));
    let mut slots = [0; VECTOR];
    let mut twin = (0, 0);
    for (index, vector) in vectors().take(64).enumerate() {
        scalar::unpack(vector, width, 0, &mut slots);
        let copies = vectors().skip(index).step_by(64).count() as u64;
        let selected = slots.iter().filter(|value| **value < bound);
        let (count, sum) =
            selected.fold((0, 0), |(count, sum), value| (count + 1, sum + u64::from(*value)));
        twin = (twin.0 + copies * count, twin.1 + copies * sum);
    }
    let mut words = [0; VECTOR / 64];
    let name = format!("from memory, {width} bits: filter, count, sum");
    bench.measure(&name, size, (0, 0), &twin, |level, answer| {
        *answer = (0, 0);
        for vector in vectors() {
            level.unpack_u32(vector, width, 0, &mut slots);
            level.compare_u32(&slots, Comparison::Less, bound, &mut words);
            answer.0 += level.count_ones(&words);
            answer.1 += level.sum_u32_where(&slots, &words);
        }
    })
}

fn one_vector(bench: &mut Bench, width: u8) -> io::Result<()> {
    let bytes = vectors(width, 1);
    let size = (VECTOR, bytes.len());
    let twin = scalar::fold_packed(&bytes, width);
    let nothing = PackedFold { sum: 0, min: 0, max: 0 };
    let name = format!("fold_packed, {width} bits");
    bench.measure(&name, size, nothing, &twin, |level, answer| {
        *answer = level.fold_packed(&bytes, width);
    })?;
    let words: [u64; 16] = Random(2).selection(90)[..16].try_into().unwrap_or_default();
    let twin = scalar::fold_packed_where(&bytes, width, &words);
    let name = format!("fold_packed_where, {width} bits");
    bench.measure(&name, size, nothing, &twin, |level, answer| {
        *answer = level.fold_packed_where(&bytes, width, &words);
    })?;
    let (low, high) = (twin.max / 4, twin.max / 2);
    let mut twin = [0; VECTOR / 64];
    scalar::filter_packed(&bytes, width, low, high, &mut twin);
    let name = format!("between_packed, {width} bits");
    bench.measure(&name, size, [0; VECTOR / 64], &twin, |level, answer| {
        level.filter_packed(&bytes, width, low, high, answer);
    })?;
    let mut wide = [0; VECTOR];
    scalar::unpack(&bytes, width, -3, &mut wide);
    let name = format!("unpack_i64, {width} bits");
    bench.measure(&name, size, [0; VECTOR], &wide, |level, answer| {
        level.unpack_i64(&bytes, width, -3, answer);
    })?;
    let mut narrow = [0; VECTOR];
    scalar::unpack(&bytes, width, 3, &mut narrow);
    let name = format!("unpack_u32, {width} bits");
    bench.measure(&name, size, [0; VECTOR], &narrow, |level, answer| {
        level.unpack_u32(&bytes, width, 3, answer);
    })?;
    let values = wide.map(|value| value.wrapping_add(3).cast_unsigned());
    let name = format!("pack, {width} bits");
    bench.measure(&name, (VECTOR, 8 * VECTOR), Vec::new(), &bytes, |level, answer| {
        answer.clear();
        level.pack(&values, width, answer);
    })
}

fn comparisons(bench: &mut Bench) -> io::Result<()> {
    let narrow = Random(3).codes(ROWS, 1_000);
    let wide: Vec<i64> = narrow.iter().map(|value| i64::from(*value) - 500).collect();
    let doubles: Vec<f64> = wide.iter().map(|value| *value as f64 / 8.0).collect();
    let words = vec![0; ROWS / 64];
    let mut twin = words.clone();

    scalar::compare(&narrow, Comparison::Less, &300, &mut twin);
    bench.measure("compare_u32", (ROWS, 4 * ROWS), words.clone(), &twin, |level, words| {
        level.compare_u32(&narrow, Comparison::Less, 300, words);
    })?;
    scalar::between(&narrow, &200, &300, &mut twin);
    bench.measure("between_u32", (ROWS, 4 * ROWS), words.clone(), &twin, |level, words| {
        level.between_u32(&narrow, 200, 300, words);
    })?;
    scalar::between(&wide, &-20, &30, &mut twin);
    bench.measure("between_i64", (ROWS, 8 * ROWS), words.clone(), &twin, |level, words| {
        level.between_i64(&wide, -20, 30, words);
    })?;
    scalar::compare(&doubles, Comparison::GreaterOrEqual, &0.5, &mut twin);
    bench.measure("compare_f64", (ROWS, 8 * ROWS), words, &twin, |level, words| {
        level.compare_f64(&doubles, Comparison::GreaterOrEqual, 0.5, words);
    })
}

fn sets_of_codes(bench: &mut Bench) -> io::Result<()> {
    let mut random = Random(4);
    for dictionary in [60, 250, 2_000, 60_000] {
        let codes = random.codes(ROWS, dictionary);
        let set: Vec<u64> = (0..dictionary.div_ceil(64)).map(|_| random.below(u64::MAX)).collect();
        let mut twin = vec![0; ROWS / 64];
        scalar::in_codes(&codes, &set, &mut twin);
        let name = format!("in_codes, {dictionary} codes");
        bench.measure(&name, (ROWS, 4 * ROWS), vec![0; ROWS / 64], &twin, |level, words| {
            level.in_codes(&codes, &set, words);
        })?;
    }
    Ok(())
}

/// Random values of 32 and of 64 bits.
fn numbers() -> (Vec<u32>, Vec<i64>) {
    let mut random = Random(5);
    let wide = (0..ROWS).map(|_| random.below(u64::MAX).cast_signed()).collect();
    (random.codes(ROWS, u32::MAX), wide)
}

fn all_rows(bench: &mut Bench) -> io::Result<()> {
    let (narrow, wide) = numbers();
    let (n, w) = ((ROWS, 4 * ROWS), (ROWS, 8 * ROWS));
    bench.measure("sum_u32", n, 0, &scalar::sum(&narrow), |level, answer| {
        *answer = level.sum_u32(&narrow).into();
    })?;
    bench.measure("sum_i64", w, 0, &scalar::sum(&wide), |level, answer| {
        *answer = level.sum_i64(&wide);
    })?;
    bench.measure("min_max_u32", n, None, &scalar::min_max(&narrow), |level, answer| {
        *answer = level.min_max_u32(&narrow);
    })?;
    bench.measure("min_max_i64", w, None, &scalar::min_max(&wide), |level, answer| {
        *answer = level.min_max_i64(&wide);
    })
}

fn selected_rows(bench: &mut Bench, percent: u64) -> io::Result<()> {
    let (narrow, wide) = numbers();
    let words = Random(6).selection(percent);
    let (n, w, bits) = ((ROWS, 4 * ROWS), (ROWS, 8 * ROWS), (ROWS, ROWS / 8));
    let (some_narrow, some_wide) =
        (scalar::selected(&narrow, &words), scalar::selected(&wide, &words));
    let name = |kernel: &str| format!("{kernel}, {percent} %");
    let twin = scalar::sum(&some_narrow);
    bench.measure(&name("sum_u32_where"), n, 0, &twin, |level, answer| {
        *answer = level.sum_u32_where(&narrow, &words).into();
    })?;
    let twin = scalar::sum(&some_wide);
    bench.measure(&name("sum_i64_where"), w, 0, &twin, |level, answer| {
        *answer = level.sum_i64_where(&wide, &words);
    })?;
    let twin = scalar::min_max(&some_narrow);
    bench.measure(&name("min_max_u32_where"), n, None, &twin, |level, answer| {
        *answer = level.min_max_u32_where(&narrow, &words);
    })?;
    let twin = scalar::min_max(&some_wide);
    bench.measure(&name("min_max_i64_where"), w, None, &twin, |level, answer| {
        *answer = level.min_max_i64_where(&wide, &words);
    })?;
    let twin = some_wide.len() as u64;
    bench.measure(&name("count_ones"), bits, 0, &twin, |level, answer| {
        *answer = level.count_ones(&words);
    })?;
    let mut twin = Vec::new();
    scalar::indexes_of(&words, &mut twin);
    bench.measure(&name("indexes_of"), bits, Vec::new(), &twin, |level, rows| {
        rows.clear();
        level.indexes_of(&words, rows);
    })
}

fn present_rows(bench: &mut Bench, percent: u64) -> io::Result<()> {
    let words = Random(7).selection(percent);
    let present = words.iter().map(|word| word.count_ones() as usize).sum();
    let narrow = Random(8).codes(present, u32::MAX);
    let wide: Vec<i64> = narrow.iter().map(|value| -i64::from(*value)).collect();
    let mut twin = vec![0; ROWS];
    scalar::expand(&narrow, &words, 9, &mut twin);
    let name = format!("expand_u32, {percent} %");
    bench.measure(&name, (ROWS, 4 * present), vec![0; ROWS], &twin, |level, out| {
        level.expand_u32(&narrow, &words, 9, out);
    })?;
    let mut twin = vec![0; ROWS];
    scalar::expand(&wide, &words, 9, &mut twin);
    let name = format!("expand_i64, {percent} %");
    bench.measure(&name, (ROWS, 8 * present), vec![0; ROWS], &twin, |level, out| {
        level.expand_i64(&wide, &words, 9, out);
    })
}

fn by_group(bench: &mut Bench, group_count: u32) -> io::Result<()> {
    let mut random = Random(9);
    let values: [Vec<u32>; 4] = std::array::from_fn(|_| random.codes(ROWS, 1 << 20));
    let groups = random.codes(ROWS, group_count);
    let addend = |lane: usize| {
        let values = values.get(lane).map(Vec::as_slice);
        Addend { values, words: None, lane, shift: 0 }
    };
    add_lanes::<1>(bench, &groups, group_count, &[addend(0)])?;
    add_lanes::<2>(bench, &groups, group_count, &[addend(0), addend(1)])?;
    add_lanes::<3>(bench, &groups, group_count, &[addend(0), addend(1), addend(2)])?;

    let table = random.codes(group_count as usize, u32::MAX);
    let mut twin = vec![0; ROWS];
    scalar::gather_u32(&table, &groups, &mut twin);
    let name = format!("gather_u32, {group_count} codes");
    bench.measure(&name, (ROWS, 4 * ROWS), vec![0; ROWS], &twin, |level, out| {
        level.gather_u32(&table, &groups, out);
    })
}

fn add_lanes<const N: usize>(
    bench: &mut Bench,
    groups: &[u32],
    group_count: u32,
    addends: &[Addend<'_>],
) -> io::Result<()> {
    let sums = vec![[0; N]; group_count as usize];
    let mut twin = sums.clone();
    scalar::add_lanes_by(groups, addends, &mut twin);
    let name = format!("add_lanes_by, {group_count} groups, {N} lanes");
    bench.measure(&name, (ROWS, 4 * ROWS * (N + 1)), sums, &twin, |level, sums| {
        sums.fill([0; N]);
        level.add_lanes_by(groups, addends, sums);
    })
}

fn buckets(bench: &mut Bench) -> io::Result<()> {
    let (values, _) = numbers();
    let width = NonZeroU32::new(60_000).unwrap_or(NonZeroU32::MIN);
    let mut twin = vec![0; ROWS];
    scalar::bucket_u32(&values, 7, width, &mut twin);
    bench.measure("bucket_u32", (ROWS, 4 * ROWS), vec![0; ROWS], &twin, |level, out| {
        level.bucket_u32(&values, 7, width, out);
    })
}
