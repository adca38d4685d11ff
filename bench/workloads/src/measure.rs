//! Runs the questions of one table in turns, and prints the speed of each.

use std::io::Write;
use std::time::Instant;

use hadal_bench::{numbers, read_speed};

use crate::asked::{Asked, finished};
use crate::error::Error;
use crate::held::HeldTable;

/// Far more than a cache holds; reading it takes some milliseconds.
const READ_BYTES: usize = 128 << 20;

/// The measurements of one question.
#[derive(Default)]
struct Measured {
    /// Million rows per second: all rows of the table, whatever the question selects.
    rates: Vec<f64>,
    /// Encoded bytes per second, in GB.
    speeds: Vec<f64>,
    /// The same in percent of the memory read speed of the same round.
    shares: Vec<f64>,
    /// Seconds for warm blocks and for cold ones, if both were measured.
    warm_and_cold: Vec<(f64, f64)>,
    is_wrong: bool,
}

impl Measured {
    /// The ratio of cold to warm times, over two rounds together: each kind was first in one of
    /// them.
    fn slower(&self) -> Vec<f64> {
        let ratio = |rounds: &[(f64, f64)]| {
            let (warm, cold) =
                rounds.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            cold / warm
        };
        self.warm_and_cold.chunks(2).map(ratio).collect()
    }
}

/// Prints one line per question. Returns whether all answers were right.
pub(crate) fn measure(
    title: &str,
    asked: &Asked,
    cold: Option<&HeldTable>,
    rounds: usize,
    out: &mut impl Write,
) -> Result<bool, Error> {
    let memory = numbers(READ_BYTES);
    let mut all: Vec<Measured> = asked.questions.iter().map(|_| Measured::default()).collect();
    let mut reading = Vec::new();
    for round in 0..rounds {
        let read = read_speed(&memory).max(read_speed(&memory));
        reading.push(read);
        for ((question, expected), measured) in asked.questions.iter().zip(&mut all) {
            let mut ask = |table: &HeldTable| {
                let start = Instant::now();
                let partial = table.answer(&question.query)?;
                let seconds = start.elapsed().as_secs_f64();
                let bytes = partial.stats.bytes_read;
                measured.is_wrong |= finished(partial, &question.query)? != *expected;
                Ok::<_, Error>((seconds, bytes))
            };
            // The second run finds the question's data in caches, so warm and cold take turns.
            let before = cold.filter(|_| round % 2 == 1).map(&mut ask).transpose()?;
            let (seconds, bytes) = ask(&asked.table)?;
            let after = cold.filter(|_| round % 2 == 0).map(&mut ask).transpose()?;
            let speed = bytes as f64 / seconds / 1e9;
            measured.rates.push(asked.rows as f64 / seconds / 1e6);
            measured.speeds.push(speed);
            measured.shares.push(100.0 * speed / read);
            let cold = before.or(after).map(|(cold_seconds, _)| (seconds, cold_seconds));
            measured.warm_and_cold.extend(cold);
        }
    }
    head(title, asked, &reading, out)?;
    if let Some(cold) = cold {
        let share = cold.bytes() as f64 / asked.table.bytes() as f64;
        writeln!(out, "cold: {:.1} MB, {share:.3} of it", cold.bytes() as f64 / 1e6)?;
    }
    for ((question, _), measured) in asked.questions.iter().zip(&all) {
        line(question.name, measured, out)?;
    }
    writeln!(out)?;
    Ok(!all.iter().any(|measured| measured.is_wrong))
}

fn head(title: &str, asked: &Asked, reading: &[f64], out: &mut impl Write) -> Result<(), Error> {
    let bytes = asked.table.bytes();
    let [low, middle, high] = quartiles(reading);
    writeln!(
        out,
        "{title}: {} rows in {} blocks, {:.1} MB, {:.2} bytes a row; one thread reads \
         {middle:.1} GB/s ({low:.1}-{high:.1})",
        asked.rows,
        asked.table.blocks(),
        bytes as f64 / 1e6,
        bytes as f64 / asked.rows as f64,
    )?;
    let what = format!("median and quartiles of {}", reading.len());
    writeln!(out, "{what:<42}{:>26}{:>8}{:>12}", "million rows/s", "GB/s", "of reading")?;
    Ok(())
}

fn line(name: &str, measured: &Measured, out: &mut impl Write) -> Result<(), Error> {
    if measured.is_wrong {
        writeln!(out, "{name:<42}   WRONG: not the answer of the plain way")?;
        return Ok(());
    }
    let [low, middle, high] = quartiles(&measured.rates);
    let [_, speed, _] = quartiles(&measured.speeds);
    let [_, share, _] = quartiles(&measured.shares);
    let spread = format!("({low:.0}-{high:.0})");
    write!(out, "{name:<42}{middle:>10.0} {spread:>15}{speed:>8.2}{share:>10.0} %")?;
    if !measured.warm_and_cold.is_empty() {
        let [low, middle, high] = quartiles(&measured.slower());
        write!(out, "   cold takes {middle:.2} times as long ({low:.2}-{high:.2})")?;
    }
    writeln!(out)?;
    Ok(())
}

/// The lower quartile, the median and the upper quartile, each a measured value; 0 without any.
fn quartiles(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| {
        let place = (sorted.len().saturating_sub(1) * quarter + 2) / 4;
        sorted.get(place).copied().unwrap_or(0.0)
    })
}

#[cfg(test)]
mod tests {
    use hadal_bench::Table;
    use hadal_types::Value;

    use super::*;

    const TABLES: [(Table, u64); 3] = [
        (Table::Requests { weight_column: "rate" }, 70_000),
        (Table::Requests { weight_column: "sample_rate" }, 3_000),
        (Table::Readings, 400_000),
    ];

    fn measured(asked: &Asked) -> (bool, String) {
        let mut text = Vec::new();
        let cold = asked.table.cold().expect("chilled");
        let right = measure("a table", asked, Some(&cold), 1, &mut text).expect("measured");
        (right, String::from_utf8(text).expect("text"))
    }

    #[test]
    fn every_question_is_answered_the_plain_way() {
        for (table, rows) in TABLES {
            let asked = Asked::new(table, rows).expect("made");
            let (right, text) = measured(&asked);
            assert!(right, "{text}");
            assert_eq!(text.lines().count(), asked.questions.len() + 4, "{text}");
            assert!(text.contains("\ncold: ") && text.contains("times as long"), "{text}");
            // An answer of zeros only would compare nothing.
            for (question, answer) in &asked.questions {
                let is_zero = |value: &Value| *value == Value::integer(0) || value.is_null();
                assert!(!answer.iter().all(|row| row.iter().all(is_zero)), "{}", question.name);
            }
        }
    }

    #[test]
    fn a_wrong_answer_is_named_and_has_no_figure() {
        let mut asked = Asked::new(Table::Readings, 100_000).expect("made");
        asked.questions[1].1[0][0] = Value::integer(1);
        let (right, text) = measured(&asked);
        assert!(!right);
        let wrong: Vec<&str> = text.lines().filter(|line| line.contains("WRONG")).collect();
        let name = asked.questions[1].0.name;
        assert!(matches!(wrong[..], [line] if line.starts_with(name)), "{text}");
        assert!(!wrong[0].contains("GB/s"), "{text}");
    }

    #[test]
    fn quartiles_are_measured_values() {
        assert_eq!(quartiles(&[]), [0.0; 3]);
        assert_eq!(quartiles(&[2.0]), [2.0; 3]);
        assert_eq!(quartiles(&[5.0, 1.0, 4.0, 2.0, 3.0]), [2.0, 3.0, 4.0]);
    }
}
