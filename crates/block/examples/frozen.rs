//! Writes a small row block for each form of the newest encodings, and beside it a text with its
//! values: `cargo run -p hadal-block --example frozen FOLDER`. The blocks in `spec/blocks` were
//! written by this program. An existing block is never rewritten, because it must stay readable
//! forever.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "a program for people")]

use std::fmt::Write;
use std::path::Path;

use hadal_block::{BlockBuilder, BlockView, Chill, Sampling, WeightedSums, chill, sample};
use hadal_types::{BatchId, ColumnName, Kind, Micros, Value};

/// 2026-09-21, in microseconds.
const START: i64 = 1_790_000_000_000_000;
/// One vector of 1,024 values, and a shorter one.
const VECTOR_AND_TAIL: i64 = 1_100;

/// The columns of a row, and their values.
type RowValues = Vec<(&'static str, Value)>;

struct Frozen {
    name: &'static str,
    rows: i64,
    cells: fn(i64) -> RowValues,
}

const WARM: [Frozen; 23] = [
    Frozen { name: "integers-constant", rows: 100, cells: |_| vec![("x", integer(-7))] },
    Frozen {
        name: "integers-packed",
        rows: VECTOR_AND_TAIL,
        cells: |row| vec![("x", integer(chance(row, 700) - 300))],
    },
    Frozen {
        name: "integers-packed-64-bits",
        rows: 80,
        cells: |row| vec![("x", integer(chance(row, i64::MAX) * (1 - row % 2 * 2)))],
    },
    Frozen {
        name: "integers-patched",
        rows: VECTOR_AND_TAIL,
        cells: |row| vec![("x", integer(chance(row, 30) + i64::from(row % 400 == 9) * (1 << 40)))],
    },
    Frozen {
        name: "integers-delta",
        rows: VECTOR_AND_TAIL,
        cells: |row| vec![("x", integer(row * 1_001 + chance(row, 40)))],
    },
    Frozen {
        name: "integers-delta-patched",
        rows: VECTOR_AND_TAIL,
        cells: |row| vec![("x", integer(row % 500 * 11 + row / 500))],
    },
    Frozen {
        name: "integers-steps",
        rows: VECTOR_AND_TAIL,
        cells: |row| vec![("x", integer(chance(row, 100) * 60_000 + 17))],
    },
    Frozen {
        name: "integers-runs",
        rows: VECTOR_AND_TAIL,
        cells: |row| vec![("x", integer(chance(row / 90, 1 << 30)))],
    },
    Frozen {
        name: "integers-dictionary",
        rows: VECTOR_AND_TAIL,
        cells: |row| vec![("x", integer([3, 1_000, 90_001, -800_000][index(chance(row, 4))]))],
    },
    Frozen {
        name: "numbers-scaled",
        rows: 70,
        cells: |row| vec![("x", number(&format!("{}.{:02}", chance(row, 90), row % 100)))],
    },
    Frozen {
        name: "numbers-doubles",
        rows: 70,
        cells: |row| vec![("x", number(["1e300", "0.1", "-5e-324", "2.5"][index(row % 4)]))],
    },
    Frozen {
        name: "numbers-mixed",
        rows: 70,
        cells: |row| vec![("x", number(["1e300", "9007199254740993", "0.1"][index(row % 3)]))],
    },
    Frozen {
        name: "numbers-wide",
        rows: 70,
        cells: |row| vec![("x", number(&(u128::from(u64::MAX) - index(row) as u128).to_string()))],
    },
    Frozen { name: "numbers-bool", rows: 70, cells: |row| vec![("x", Value::Bool(row % 3 == 0))] },
    Frozen {
        name: "strings-dictionary",
        rows: 70,
        cells: |row| vec![("x", text(["", "b", "\u{e9}\u{1f4a7}", "a\nb"][index(row % 4)]))],
    },
    Frozen {
        name: "strings-dictionary-shared-beginnings",
        rows: 200,
        cells: |row| {
            vec![("x", text(&format!("/shop/articles/of/the/week/{}/{row}", row % 3)))]
                .into_iter()
                .map(|(name, value)| (name, if row < 100 { value } else { text("/shop") }))
                .collect()
        },
    },
    Frozen { name: "strings-pages", rows: 120, cells: |row| vec![("x", text(&prose(row)))] },
    Frozen {
        name: "strings-templates",
        rows: 300,
        cells: |row| {
            let user = chance(row, 100_000);
            vec![("x", text(&format!("user {user} asked for page {row} of 300 in {user:08} ms")))]
        },
    },
    Frozen {
        name: "strings-templates-hexadecimal",
        rows: 300,
        cells: |row| {
            let id = chance(row, i64::MAX);
            let (high, low) = (id >> 32, id & 0xFFFF);
            vec![("x", text(&format!("trace {high:08x}-{low:04x} ended with {}", row % 9)))]
        },
    },
    Frozen {
        name: "lists",
        rows: 70,
        cells: |row| {
            let words = (0..row % 5).map(|word| format!("word {}", chance(row * 7 + word, 40)));
            vec![("set", Value::set(words.clone())), ("vector", Value::vector(words))]
        },
    },
    Frozen {
        name: "lists-dictionary",
        rows: 200,
        cells: |row| {
            let frames = (0..12).map(|frame| format!("frame {} {frame}", row % 3));
            vec![("set", Value::set(frames.clone())), ("vector", Value::vector(frames))]
        },
    },
    Frozen {
        name: "nulls",
        rows: 300,
        cells: |row| {
            let mut cells = Vec::new();
            if chance(row, 13) < 8 {
                cells.extend([("bits", integer(row)), ("shared", integer(row % 7))]);
            }
            if chance(row, 13) < 3 {
                cells.extend([("compact", integer(row * 7)), ("compact shared", text("rare"))]);
            }
            if row / 100 == 1 {
                cells.push(("runs", text(&format!("late {}", row % 4))));
            }
            cells
        },
    },
    Frozen {
        name: "kinds-in-one-column",
        rows: 90,
        cells: |row| {
            vec![(
                "x",
                match row % 5 {
                    0 => integer(row),
                    1 => text("a word"),
                    2 => Value::set(["q", "p"]),
                    3 => Value::vector(["q", "p"]),
                    _ => return Vec::new(),
                },
            )]
        },
    },
];

/// The columns of all other blocks: named after its block if the block has one column, else by its
/// own name.
fn every_cell(row: i64) -> RowValues {
    let cells = |frozen: &Frozen| {
        let named = |(column, value)| match (frozen.name, column) {
            (name, "x") => (name, value),
            ("lists-dictionary", "set") => ("set-dictionary", value),
            ("lists-dictionary", "vector") => ("vector-dictionary", value),
            _ => (column, value),
        };
        (frozen.cells)(row).into_iter().map(named).collect::<RowValues>()
    };
    WARM.iter().flat_map(cells).collect()
}

/// Blocks with cold columns, and which columns are cold.
const COLD: [(Frozen, Chill); 2] = [
    (Frozen { name: "cold", rows: 150, cells: every_cell }, Chill::All),
    (Frozen { name: "cold-and-warm", rows: 700, cells: few_cells }, Chill::WhereItSaves),
];

fn few_cells(row: i64) -> RowValues {
    let mut cells =
        vec![("bytes", integer(chance(row, 256))), ("powers", integer(chance(row, 9).pow(4)))];
    if chance(row, 5) > 0 {
        cells.push(("prose", text(&prose(row))));
    }
    cells
}

/// A block of enough rows for weighted sums.
const WEIGHTED: Frozen = Frozen {
    name: "weighted",
    rows: 2_100,
    cells: |row| {
        let mut cells = vec![("x", integer(chance(row, 700) - 300))];
        if row % 3 == 0 {
            cells.push(("y", number("0.25")));
        }
        if row % 2 == 0 {
            cells.push(("sample_rate", number(["2.5", "100"][index(row % 4 / 2)])));
        }
        cells
    },
};

/// A block that was subsampled by the column `few`.
const SAMPLED: Frozen = Frozen {
    name: "sampled",
    rows: 1_000,
    cells: |row| {
        let mut cells = vec![("few", integer(chance(row, 9) / 8)), ("x", integer(row))];
        if row % 7 == 0 {
            cells.push(("sample_rate", number("2.5")));
        }
        cells
    },
};

fn main() {
    let folder = std::env::args().nth(1).expect("the folder that blocks are written to");
    let warm = WARM.into_iter().chain([WEIGHTED]).map(|frozen| (frozen, None));
    let cold = COLD.into_iter().map(|(frozen, which)| (frozen, Some(which)));
    for (frozen, which) in warm.chain(cold) {
        let path = Path::new(&folder).join(frozen.name).with_extension("hdl");
        if path.exists() {
            println!("{} is there", frozen.name);
            continue;
        }
        let rows: Vec<_> = (0..frozen.rows).map(|row| (row, (frozen.cells)(row))).collect();
        let mut bytes = block(&rows);
        if let Some(which) = which {
            let warm = BlockView::parse(&bytes).expect("parses");
            bytes = chill(&warm, which).expect("chills").expect("some column becomes cold");
        }
        write(&path, &rows, &bytes);
    }
    let path = Path::new(&folder).join(SAMPLED.name).with_extension("hdl");
    if !path.exists() {
        let (rows, bytes) = sampled();
        write(&path, &rows, &bytes);
    }
}

fn write(path: &Path, rows: &[(i64, RowValues)], bytes: &[u8]) {
    let texts = texts(rows, bytes);
    println!("{}: {} bytes\n{}", path.display(), bytes.len(), heads(&texts));
    std::fs::write(path.with_extension("txt"), texts).expect("written");
    std::fs::write(path, bytes).expect("written");
}

/// The rows that [`SAMPLED`] keeps, identified by their times, with their new weights; and the
/// block.
fn sampled() -> (Vec<(i64, RowValues)>, Vec<u8>) {
    let whole: Vec<_> = (0..SAMPLED.rows).map(|row| (row, (SAMPLED.cells)(row))).collect();
    let (by, whole) = ([name("few")], block(&whole));
    let sampling = Sampling { one_in: 50, key: None, by: &by, least: 10 };
    let bytes = sample(&BlockView::parse(&whole).expect("parses"), &sampling).expect("samples");
    let block = BlockView::parse(&bytes[0]).expect("parses");
    let column = |name: &str| block.column(name, Kind::Number).expect("there").decode();
    let (times, rates) = (column("time").expect("times"), column("sample_rate").expect("rates"));
    let row = |index: usize| {
        let time = match times.value(index) {
            Value::Time(Micros(time)) => Some(time),
            _ => None,
        };
        let row = (time.expect("a time") - START) / 1_000;
        let mut cells = (SAMPLED.cells)(row);
        cells.retain(|(name, _)| *name != "sample_rate");
        cells.push(("sample_rate", rates.value(index)));
        (row, cells)
    };
    ((0..block.rows()).map(row).collect(), bytes[0].clone())
}

fn heads(texts: &str) -> String {
    texts
        .lines()
        .filter(|line| line.starts_with("column "))
        .fold(String::new(), |all, line| format!("{all}  {line}\n"))
}

fn block(rows: &[(i64, RowValues)]) -> Vec<u8> {
    let mut builder = BlockBuilder::new(name("time"));
    for (row, cells) in rows {
        for (column, value) in cells {
            push(&mut builder, column, value);
        }
        builder.end_row(time(*row));
    }
    let batch = BatchId::new("a-batch").expect("an id");
    builder.finish(Micros(START), Some((&batch, 0xc0_ffee))).expect("fits a block")
}

fn push(builder: &mut BlockBuilder, column: &str, value: &Value) {
    let id = builder.column(&name(column), kind_of(value));
    match value {
        Value::Bool(truth) => builder.push_bool(id, *truth),
        Value::Number(number) => builder.push_number(id, *number),
        Value::String(string) => builder.push_string(id, string),
        Value::Set(list) | Value::Vector(list) => {
            builder.push_list(id, &list.iter().map(AsRef::as_ref).collect::<Vec<_>>())
        }
        _ => Ok(()),
    }
    .expect("taken");
}

/// The block's content as text: each column's encoding and its values by row, with the length of
/// each run of equal values.
fn texts(rows: &[(i64, RowValues)], bytes: &[u8]) -> String {
    let block = BlockView::parse(bytes).expect("parses");
    let mut all = format!("version {}, {} rows\n", bytes[8], rows.len());
    if block.kept_one_in() > 1 {
        let _ = writeln!(all, "one row in {} was kept", block.kept_one_in());
    }
    for column in block.columns() {
        let (name, kind) = (column.name().as_str(), column.kind());
        let cold = if column.is_cold() { ", cold" } else { "" };
        let _ = writeln!(all, "column {name}: {kind}, {}{cold}", column.encoding_name());
        if let Some(WeightedSums { weight, squares, product }) = column.weighted_sums() {
            let _ = writeln!(all, "weights {weight}, squares {squares}, products {product}");
        }
        let value = |(row, cells): &(i64, RowValues)| match name {
            "time" => Value::Time(time(*row)),
            _ => {
                let is_column = |cell: &&(&str, Value)| cell.0 == name && kind_of(&cell.1) == kind;
                cells.iter().find(is_column).map_or(Value::Null, |cell| cell.1.clone())
            }
        };
        let values: Vec<Value> = rows.iter().map(value).collect();
        for run in values.chunk_by(|one, next| one == next) {
            let _ = writeln!(all, "{} {}", run.len(), plain(&run[0]));
        }
    }
    all
}

/// A value on one line.
fn plain(value: &Value) -> String {
    match value {
        Value::Time(Micros(time)) => time.to_string(),
        Value::String(text) => format!("{text:?}"),
        Value::Set(list) | Value::Vector(list) => format!("{list:?}"),
        other => other.to_string(),
    }
}

fn name(text: &str) -> ColumnName {
    ColumnName::new(text).expect("a name")
}

const fn kind_of(value: &Value) -> Kind {
    match value {
        Value::String(_) => Kind::String,
        Value::Set(_) => Kind::Set,
        Value::Vector(_) => Kind::Vector,
        _ => Kind::Number,
    }
}

fn time(row: i64) -> Micros {
    Micros(START + row * 1_000)
}

const fn integer(value: i64) -> Value {
    Value::integer(value)
}

fn number(text: &str) -> Value {
    Value::Number(text.parse().expect("a number"))
}

fn text(text: &str) -> Value {
    Value::string(text)
}

fn index(value: i64) -> usize {
    usize::try_from(value).expect("not below zero")
}

/// A number from 0 to below `limit` that depends only on the row; it must never change.
fn chance(row: i64, limit: i64) -> i64 {
    let mixed = row.wrapping_add(1).wrapping_mul(0x1E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0x3F58_476D_1CE4_E5B9);
    (mixed ^ (mixed >> 31)).rem_euclid(limit)
}

/// Words without numbers, which rarely repeat.
fn prose(row: i64) -> String {
    const WORDS: [&str; 12] = [
        "the", "whale", "went", "down", "into", "a", "darker", "sea", "and", "nobody", "saw", "it",
    ];
    let words = (0..9 + row % 7).map(|word| WORDS[index(chance(row * 31 + word, 12))]);
    words.collect::<Vec<_>>().join(" ")
}
