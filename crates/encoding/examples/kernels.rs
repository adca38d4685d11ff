//! How fast the kernels are on this machine, at each level that it has, beside what reading memory
//! costs: `cargo run --release -p hadal-encoding --example kernels [-- --quick]`.
//!
//! Packed vectors are read from memory, from more of it than any cache holds; the other kernels
//! work on a block of 65,536 rows, which stays in the cache as in a scan. Levels take turns, and
//! the best of the rounds counts. Every answer is compared with the scalar twin's in the same run.

use std::fmt::Debug;
use std::hint::black_box;
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::time::Instant;

use hadal_encoding::kernels::{Comparison, Level, pack, scalar};

/// Rows of a block.
const ROWS: usize = 65_536;
/// Rows of a vector.
const VECTOR: usize = 1_024;

fn main() -> io::Result<()> {
    let (options, only): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let quick = options.iter().any(|option| option == "--quick");
    let mut bench = Bench {
        levels: Level::available(),
        rounds: if quick { 3 } else { 15 },
        memory: if quick { 64 << 20 } else { 1 << 30 },
        only,
        read: f64::INFINITY,
        out: io::stdout().lock(),
    };
    bench.read = bench.read_bandwidth();
    writeln!(bench.out, "reading memory: {:.1} GB/s\n", bench.read)?;
    bench.head()?;
    packed_in_memory(&mut bench)?;
    packed_in_cache(&mut bench)?;
    comparisons(&mut bench)?;
    folds(&mut bench)?;
    by_group(&mut bench)?;
    spreading(&mut bench)
}

struct Bench {
    levels: Vec<Level>,
    rounds: usize,
    /// Parts of names to be measured; all, where there are none.
    only: Vec<String>,
    /// Bytes of the largest buffer.
    memory: usize,
    /// Bytes of memory a nanosecond.
    read: f64,
    out: io::StdoutLock<'static>,
}

impl Bench {
    /// GB/s of the sum of a buffer that was written before.
    fn read_bandwidth(&self) -> f64 {
        let words: Vec<u64> = (1..=self.memory as u64 / 8).collect();
        let mut best = f64::INFINITY;
        for _ in 0..self.rounds.min(5) {
            let start = Instant::now();
            // Four sums, so that adding does not wait for adding.
            let mut sums = [0u64; 32];
            for chunk in black_box(&words).as_chunks::<32>().0 {
                for (sum, word) in sums.iter_mut().zip(chunk) {
                    *sum = sum.wrapping_add(*word);
                }
            }
            black_box(sums);
            best = best.min(start.elapsed().as_secs_f64());
        }
        self.memory as f64 / best / 1e9
    }

    fn head(&mut self) -> io::Result<()> {
        write!(self.out, "{:<44}", "million values/s, GB/s, % of reading")?;
        for level in &self.levels {
            write!(self.out, "{:>22}", level.name())?;
        }
        writeln!(self.out)
    }

    /// Measures `kernel`, which reads `bytes` for `rows` values, and asserts that it answers what
    /// `twin` does.
    fn measure<R: PartialEq + Debug>(
        &mut self,
        name: &str,
        rows: usize,
        bytes: usize,
        mut kernel: impl FnMut(Level) -> R,
        twin: R,
    ) -> io::Result<()> {
        let wanted = |part: &String| name.contains(part.as_str());
        if !self.only.is_empty() && !self.only.iter().any(wanted) {
            assert_eq!(kernel(Level::current()), twin, "{name}");
            return Ok(());
        }
        let mut best = vec![f64::INFINITY; self.levels.len()];
        // A few milliseconds each, so that the clock is no part of it.
        let repeats = (10_000_000 / rows).clamp(1, 200);
        for _ in 0..self.rounds {
            for (level, best) in self.levels.iter().zip(&mut best) {
                let start = Instant::now();
                for _ in 1..repeats {
                    black_box(kernel(black_box(*level)));
                }
                let answer = kernel(*level);
                *best = best.min(start.elapsed().as_secs_f64() / repeats as f64);
                assert_eq!(answer, twin, "{name} at {}", level.name());
            }
        }
        write!(self.out, "{name:<44}")?;
        for seconds in best {
            let speed = bytes as f64 / seconds / 1e9;
            let share = speed / self.read * 100.0;
            let rate = rows as f64 / seconds / 1e6;
            write!(self.out, "{rate:>9.0} {speed:>6.1} {share:>4.0}%")?;
        }
        writeln!(self.out)
    }
}

/// Numbers below `end`, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        let mixed = self.0 ^ self.0 >> 32;
        u64::try_from((u128::from(mixed) * u128::from(end)) >> 64).unwrap_or_default()
    }

    fn codes(&mut self, count: usize, end: u32) -> Vec<u32> {
        (0..count).map(|_| u32::try_from(self.below(end.into())).unwrap_or_default()).collect()
    }
}

/// Vectors of random values of `width` bits, and one of each.
fn vectors(width: u8, bytes: usize) -> (Vec<u8>, usize) {
    let mut random = Random(u64::from(width));
    let end = if width == 64 { u64::MAX } else { 1 << width };
    let mut vector = Vec::new();
    for _ in 0..64 {
        pack(&std::array::from_fn(|_| random.below(end)), width, &mut vector);
    }
    let copies = (bytes / vector.len()).max(1);
    (vector.repeat(copies), copies)
}

fn packed_in_memory(bench: &mut Bench) -> io::Result<()> {
    for width in [6, 12, 20, 34] {
        let (bytes, copies) = vectors(width, bench.memory / 4);
        let size = 128 * usize::from(width);
        let rows = bytes.len() / size * VECTOR;
        let one = bytes[..64 * size].chunks_exact(size).map(|v| scalar::fold_packed(v, width));
        let twin = one.fold((0, u64::MAX, 0), |total, fold| {
            (total.0 + fold.sum, total.1.min(fold.min), total.2.max(fold.max))
        });
        let twin = (twin.0 * copies as u128, twin.1, twin.2);
        let vectors = || bytes.chunks_exact(size);
        bench.measure(
            &format!("memory: fold_packed, {width} bits"),
            rows,
            bytes.len(),
            |level| {
                vectors().fold((0, u64::MAX, 0), |total, vector| {
                    let fold = level.fold_packed(vector, width);
                    (total.0 + fold.sum, total.1.min(fold.min), total.2.max(fold.max))
                })
            },
            twin,
        )?;
        bench.measure(
            &format!("memory: sum_packed, {width} bits"),
            rows,
            bytes.len(),
            |level| vectors().map(|vector| level.sum_packed(vector, width)).sum::<u128>(),
            twin.0,
        )?;
        if width > 32 {
            continue;
        }
        let bound = 1 << (width - 2);
        let mut slots = [0; VECTOR];
        let mut words = [0; VECTOR / 64];
        let mut count = 0;
        let mut sum = 0;
        for vector in vectors().take(64) {
            scalar::unpack(vector, width, 5, &mut slots);
            scalar::compare(&slots, Comparison::Less, &bound, &mut words);
            let selected = scalar::selected(&slots, &words);
            count += selected.len() as u64;
            sum += selected.iter().map(|value| u64::from(*value)).sum::<u64>();
        }
        bench.measure(
            &format!("memory: unpack, filter, count, sum, {width} bits"),
            rows,
            bytes.len(),
            |level| {
                let (mut count, mut sum) = (0, 0);
                for vector in vectors() {
                    level.unpack_u32(vector, width, 5, &mut slots);
                    level.compare_u32(&slots, Comparison::Less, bound, &mut words);
                    count += level.count_ones(&words);
                    sum += level.sum_u32_where(&slots, &words);
                }
                (count, sum)
            },
            (count * copies as u64, sum * copies as u64),
        )?;
    }
    Ok(())
}

fn packed_in_cache(bench: &mut Bench) -> io::Result<()> {
    for width in [1, 6, 8, 12, 16, 20, 32, 34, 64] {
        let (bytes, _) = vectors(width, 1);
        let vector = &bytes[..128 * usize::from(width)];
        let fold = scalar::fold_packed(vector, width);
        bench.measure(
            &format!("fold_packed, {width} bits"),
            VECTOR,
            vector.len(),
            |level| level.fold_packed(vector, width),
            fold,
        )?;
        let mut wide = [0i64; VECTOR];
        scalar::unpack(vector, width, -3, &mut wide);
        let (twin, mut slots) = (wide, [0; VECTOR]);
        bench.measure(
            &format!("unpack_i64, {width} bits"),
            VECTOR,
            vector.len(),
            |level| level.unpack_i64(vector, width, -3, black_box(&mut slots)),
            (),
        )?;
        assert_eq!(slots, twin);
        let mut narrow = [0u32; VECTOR];
        scalar::unpack(vector, width, 3, &mut narrow);
        let (twin, mut slots) = (narrow, [0; VECTOR]);
        bench.measure(
            &format!("unpack_u32, {width} bits"),
            VECTOR,
            vector.len(),
            |level| level.unpack_u32(vector, width, 3, black_box(&mut slots)),
            (),
        )?;
        assert_eq!(slots, twin);
        let values = wide.map(|value| value.wrapping_add(3).cast_unsigned());
        let mut packed = Vec::new();
        bench.measure(
            &format!("pack, {width} bits"),
            VECTOR,
            8 * VECTOR,
            |level| {
                packed.clear();
                level.pack(black_box(&values), width, &mut packed);
            },
            (),
        )?;
        assert_eq!(packed, vector);
    }
    Ok(())
}

fn comparisons(bench: &mut Bench) -> io::Result<()> {
    let mut random = Random(3);
    let narrow = random.codes(ROWS, 1_000);
    let wide: Vec<i64> = narrow.iter().map(|value| i64::from(*value) - 500).collect();
    let doubles: Vec<f64> = wide.iter().map(|value| *value as f64 / 8.0).collect();
    let mut words = vec![0; ROWS / 64];
    let mut twin = words.clone();

    scalar::compare(&narrow, Comparison::Less, &300, &mut twin);
    let kernel = |level: Level| {
        level.compare_u32(&narrow, Comparison::Less, 300, &mut words);
        words[7]
    };
    bench.measure("compare_u32", ROWS, 4 * ROWS, kernel, twin[7])?;
    assert_eq!(words, twin);
    scalar::between(&narrow, &200, &300, &mut twin);
    let kernel = |level: Level| {
        level.between_u32(&narrow, 200, 300, &mut words);
        words[7]
    };
    bench.measure("between_u32", ROWS, 4 * ROWS, kernel, twin[7])?;
    assert_eq!(words, twin);
    scalar::between(&wide, &-20, &30, &mut twin);
    let kernel = |level: Level| {
        level.between_i64(&wide, -20, 30, &mut words);
        words[7]
    };
    bench.measure("between_i64", ROWS, 8 * ROWS, kernel, twin[7])?;
    assert_eq!(words, twin);
    scalar::compare(&doubles, Comparison::GreaterOrEqual, &0.5, &mut twin);
    let kernel = |level: Level| {
        level.compare_f64(&doubles, Comparison::GreaterOrEqual, 0.5, &mut words);
        words[7]
    };
    bench.measure("compare_f64", ROWS, 8 * ROWS, kernel, twin[7])?;
    assert_eq!(words, twin);

    for dictionary in [60, 250, 2_000, 60_000] {
        let codes = random.codes(ROWS, dictionary);
        let set: Vec<u64> = (0..dictionary.div_ceil(64))
            .map(|_| random.below(u64::MAX) & random.below(u64::MAX))
            .collect();
        scalar::in_codes(&codes, &set, &mut twin);
        let kernel = |level: Level| {
            level.in_codes(&codes, &set, &mut words);
            words[7]
        };
        bench.measure(&format!("in_codes, {dictionary} codes"), ROWS, 4 * ROWS, kernel, twin[7])?;
        assert_eq!(words, twin);
    }
    Ok(())
}

fn folds(bench: &mut Bench) -> io::Result<()> {
    let mut random = Random(4);
    let narrow = random.codes(ROWS, u32::MAX);
    let wide: Vec<i64> = (0..ROWS).map(|_| random.below(u64::MAX).cast_signed()).collect();
    let (n, w) = (4 * ROWS, 8 * ROWS);
    let twin = scalar::sum(&narrow);
    bench.measure("sum_u32", ROWS, n, |level| i128::from(level.sum_u32(&narrow)), twin)?;
    bench.measure("sum_i64", ROWS, w, |level| level.sum_i64(&wide), scalar::sum(&wide))?;
    let twin = scalar::min_max(&narrow);
    bench.measure("min_max_u32", ROWS, n, |level| level.min_max_u32(&narrow), twin)?;
    let twin = scalar::min_max(&wide);
    bench.measure("min_max_i64", ROWS, w, |level| level.min_max_i64(&wide), twin)?;

    for (name, parts) in [("2 %", 50), ("50 %", 2), ("98 %", 0)] {
        let selected = |row: &mut Random| match parts {
            0 => row.below(50) > 0,
            parts => row.below(parts) == 0,
        };
        let words: Vec<u64> = (0..ROWS / 64)
            .map(|_| (0..64).fold(0, |word, bit| word | u64::from(selected(&mut random)) << bit))
            .collect();
        let narrow_selected = scalar::selected(&narrow, &words);
        let wide_selected = scalar::selected(&wide, &words);
        let twin = scalar::sum(&narrow_selected);
        let kernel = |level: Level| i128::from(level.sum_u32_where(&narrow, &words));
        bench.measure(&format!("sum_u32_where, {name}"), ROWS, n, kernel, twin)?;
        let twin = scalar::sum(&wide_selected);
        let kernel = |level: Level| level.sum_i64_where(&wide, &words);
        bench.measure(&format!("sum_i64_where, {name}"), ROWS, w, kernel, twin)?;
        let twin = scalar::min_max(&narrow_selected);
        let kernel = |level: Level| level.min_max_u32_where(&narrow, &words);
        bench.measure(&format!("min_max_u32_where, {name}"), ROWS, n, kernel, twin)?;
        let twin = scalar::min_max(&wide_selected);
        let kernel = |level: Level| level.min_max_i64_where(&wide, &words);
        bench.measure(&format!("min_max_i64_where, {name}"), ROWS, w, kernel, twin)?;
        let kernel = |level: Level| level.count_ones(&words);
        bench.measure("count_ones", ROWS, ROWS / 8, kernel, wide_selected.len() as u64)?;
        let mut twin = Vec::new();
        scalar::indexes_of(&words, &mut twin);
        let mut rows = Vec::new();
        let kernel = |level: Level| {
            rows.clear();
            level.indexes_of(&words, &mut rows);
            rows.len()
        };
        bench.measure(&format!("indexes_of, {name}"), ROWS, ROWS / 8, kernel, twin.len())?;
        assert_eq!(rows, twin);
    }
    Ok(())
}

fn by_group(bench: &mut Bench) -> io::Result<()> {
    let mut random = Random(5);
    let values: [Vec<u32>; 4] = std::array::from_fn(|_| random.codes(ROWS, 1 << 20));
    let [a, b, c, d] = values.each_ref().map(Vec::as_slice);
    for groups in [1, 60, 250, 5_000, 60_000] {
        let codes = random.codes(ROWS, groups);
        grouped(bench, "count_by", &codes, groups, [])?;
        grouped(bench, "add_rows_by, 1 sum", &codes, groups, [a])?;
        grouped(bench, "add_rows_by, 2 sums", &codes, groups, [a, b])?;
        grouped(bench, "add_rows_by, 4 sums", &codes, groups, [a, b, c, d])?;

        let table = random.codes(groups as usize, u32::MAX);
        let (mut out, mut twin) = (vec![0; ROWS], vec![0; ROWS]);
        scalar::gather_u32(&table, &codes, &mut twin);
        let kernel = |level: Level| {
            level.gather_u32(&table, &codes, &mut out);
            out[77]
        };
        bench.measure(&format!("gather_u32, {groups} codes"), ROWS, 4 * ROWS, kernel, twin[77])?;
        assert_eq!(out, twin);
    }
    let width = NonZeroU32::new(60_000).unwrap_or(NonZeroU32::MIN);
    let (mut out, mut twin) = (vec![0; ROWS], vec![0; ROWS]);
    scalar::bucket_u32(a, 0, width, &mut twin);
    let kernel = |level: Level| {
        level.bucket_u32(a, 0, width, &mut out);
        out[77]
    };
    bench.measure("bucket_u32", ROWS, 4 * ROWS, kernel, twin[77])?;
    assert_eq!(out, twin);
    Ok(())
}

fn grouped<const N: usize>(
    bench: &mut Bench,
    name: &str,
    codes: &[u32],
    groups: u32,
    values: [&[u32]; N],
) -> io::Result<()> {
    let mut twin = vec![0; groups as usize * (N + 1)];
    scalar::add_rows_by(codes, values, &mut twin);
    let mut acc = twin.clone();
    let kernel = |level: Level| {
        acc.fill(0);
        level.add_rows_by(codes, values, &mut acc);
        acc[0]
    };
    let bytes = 4 * ROWS * (N + 1);
    bench.measure(&format!("{name}, {groups} groups"), ROWS, bytes, kernel, twin[0])?;
    assert_eq!(acc, twin);
    Ok(())
}

fn spreading(bench: &mut Bench) -> io::Result<()> {
    let mut random = Random(6);
    for (name, parts) in [("10 %", 10), ("50 %", 2)] {
        let words: Vec<u64> = (0..ROWS / 64)
            .map(|_| (0..64).fold(0, |word, bit| word | u64::from(random.below(parts) == 0) << bit))
            .collect();
        let ones = words.iter().map(|word| word.count_ones() as usize).sum();
        let narrow = random.codes(ones, u32::MAX);
        let wide: Vec<i64> = narrow.iter().map(|value| -i64::from(*value)).collect();
        let (mut out, mut twin) = (vec![0; ROWS], vec![0; ROWS]);
        scalar::expand(&narrow, &words, 9, &mut twin);
        let kernel = |level: Level| {
            level.expand_u32(&narrow, &words, 9, &mut out);
            out[77]
        };
        bench.measure(&format!("expand_u32, {name}"), ROWS, 4 * ones, kernel, twin[77])?;
        assert_eq!(out, twin);
        let (mut out, mut twin) = (vec![0; ROWS], vec![0; ROWS]);
        scalar::expand(&wide, &words, 9, &mut twin);
        let kernel = |level: Level| {
            level.expand_i64(&wide, &words, 9, &mut out);
            out[77]
        };
        bench.measure(&format!("expand_i64, {name}"), ROWS, 8 * ones, kernel, twin[77])?;
        assert_eq!(out, twin);
    }
    Ok(())
}
