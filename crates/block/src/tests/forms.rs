//! The features of encoding version 3: further forms of streams, numbers from a wide base, shared
//! validity, and streams that omit nulls.

use hadal_encoding::Bitmap;
use hadal_types::limits::BLOCK_ROWS_MAX;
use hadal_types::{Decimal, Kind, Micros, Number, Value};
use twox_hash::XxHash3_64;

use super::model::{Random, Row, assert_same, build, read};
use crate::header::{CHECKSUM_BYTES, HEADER_BYTES, Header};
use crate::{BlockError, BlockView, ColumnView, MergeOrder, Values, Zone, merge};

/// Rows with the cells that `cells` returns for each index.
fn rows(count: usize, mut cells: impl FnMut(usize) -> Vec<(&'static str, Value)>) -> Vec<Row> {
    let row = |(time, index): (i64, usize)| Row {
        time: Micros(time),
        cells: cells(index).into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    };
    (0i64..).zip(0..count).map(row).collect()
}

fn integer(value: usize) -> Value {
    Value::integer(i64::try_from(value).expect("fits"))
}

fn number(text: &str) -> Value {
    Value::Number(text.parse().expect(text))
}

/// Builds the rows, asserts that they survive, and calls `check` with the block.
fn assert_survives(rows: &[Row], check: impl FnOnce(&BlockView<'_>)) {
    let bytes = build(rows, None);
    assert_same(&read(&bytes), rows);
    check(&BlockView::parse(&bytes).expect("parses"));
}

fn assert_numbers_are_those_decoded(column: &ColumnView<'_>) {
    let Some(numbers) = column.numbers().expect("parses") else {
        let data = column.decode().expect("decodes");
        return assert!(!matches!(data.values, Values::Decimals { .. }));
    };
    let mut integers = Vec::new();
    numbers.integers.decode_into(&mut integers);
    let present: Vec<usize> = match &numbers.validity {
        Some(validity) => validity.iter_ones().collect(),
        None => (0..column.rows()).collect(),
    };
    let data = column.decode().expect("decodes");
    assert_eq!(data.validity, numbers.validity);
    let places = if numbers.is_compact { present.len() } else { column.rows() };
    assert_eq!(integers.len(), places);
    for (index, row) in present.into_iter().enumerate() {
        let region = if numbers.is_compact { index } else { row };
        let mantissa = numbers.base + i128::from(integers[region]);
        let number = Decimal::new(mantissa, numbers.scale).map(Number::from).expect("in range");
        let expected = match data.value(row) {
            Value::Number(number) => number,
            Value::Bool(truth) => Number::integer(truth.into()),
            Value::Time(Micros(time)) => Number::integer(time),
            other => panic!("{other} is no number"),
        };
        assert_eq!(number, expected, "row {row}");
    }
}

#[test]
fn numbers_are_those_decoded() {
    let mut compact = 0;
    for seed in 0..60 {
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let count = random.pick(&[1, 63, 64, 300, 1_500]);
        let bytes = build(&super::model::random_rows(&mut random, count), None);
        let block = BlockView::parse(&bytes).expect("parses");
        for column in block.columns().iter().filter(|column| column.kind() == Kind::Number) {
            assert_numbers_are_those_decoded(column);
            let numbers = column.numbers().expect("parses");
            compact += usize::from(numbers.is_some_and(|numbers| numbers.is_compact));
        }
    }
    assert!(compact > 10, "only {compact} compact columns");
}

#[test]
fn the_form_of_numbers_is_named() {
    let mut random = Random::new(1);
    let rows = rows(4_000, |index| {
        vec![
            ("constant", integer(7)),
            ("packed", integer(random.below(900))),
            ("runs", integer((index / 100).pow(2) % 37)),
            ("dictionary", integer([3, 1_000, 90_001, 800_000][random.below(4)])),
            ("steps", integer(random.below(900) * 60)),
        ]
    });
    assert_survives(&rows, |block| {
        let name = |column: &str| {
            block.column(column, Kind::Number).expect("exists").encoding_name().to_owned()
        };
        for form in ["constant", "runs", "dictionary", "steps"] {
            assert_eq!(name(form), format!("decimals: {form}"));
        }
        assert_eq!(name("packed"), "decimals");
    });
}

#[test]
fn unsigned_64_bit_integers_are_as_small_as_signed_ones() {
    let mut random = Random::new(2);
    let values: Vec<u64> = (0..3_000).map(|_| random.next()).chain([0, u64::MAX]).collect();
    let to_value = |value: u64| Value::Number(value.to_string().parse().expect("a number"));
    let rows = rows(values.len(), |index| {
        let mut cells = vec![("signed", Value::integer(values[index].cast_signed()))];
        // A double represents 10^19.
        if index % 5 > 0 {
            let value = if index % 7 == 0 { 10_000_000_000_000_000_000 } else { values[index] };
            cells.push(("unsigned", to_value(value)));
        }
        cells
    });
    assert_survives(&rows, |block| {
        let column = |name: &str| block.column(name, Kind::Number).expect("exists");
        let (signed, unsigned) = (column("signed"), column("unsigned"));
        assert_eq!(unsigned.encoding_name(), "wide");
        assert!(unsigned.encoded_bytes() <= signed.encoded_bytes() + rows.len() / 8 + 16);
        assert_numbers_are_those_decoded(unsigned);
        let zone = Zone::Doubles { min: 0.0, max: 18_446_744_073_709_551_616.0 };
        let Zone::Doubles { min, max } = unsigned.zone() else { panic!("{:?}", unsigned.zone()) };
        assert!(min >= 0.0, "{zone:?} holds {min}");
        assert!(max >= 18_446_744_073_709_551_615.0, "{zone:?} holds {max}");
    });
}

#[test]
fn wide_numbers_are_exact_at_every_edge() {
    let around = |base: i128, scale: u8| {
        move |index: usize| {
            let mantissa = base + i128::try_from(index).expect("fits");
            Value::Number(Decimal::new(mantissa, scale).expect("in range").into())
        }
    };
    let bases = [1 << 63, 1 << 100, -(1 << 100), i128::from(i64::MAX) - 3, (1 << 53) + 1];
    for base in bases {
        for scale in [0, 3, 18, 19, 36] {
            let value = around(base, scale);
            let rows = rows(100, |index| vec![("x", value(index))]);
            assert_survives(&rows, |block| {
                assert_numbers_are_those_decoded(block.column("x", Kind::Number).expect("exists"));
            });
        }
    }
    // Two numbers 2^64 − 1 apart fit 64 bits; two numbers 2^64 apart do not, nor do numbers at the
    // ends of 128 bits.
    let pair = |least: i128, most: i128| {
        let value = |mantissa| Value::Number(Decimal::new(mantissa, 0).expect("integer").into());
        let mut name = "";
        assert_survives(&rows(2, |index| vec![("x", value([least, most][index]))]), |block| {
            name = block.column("x", Kind::Number).expect("exists").encoding_name();
        });
        name
    };
    assert_eq!(pair(-3, (1 << 64) - 4), "wide");
    assert_eq!(pair(-3, (1 << 64) - 3), "mixed");
    assert_eq!(pair(i128::MAX - 5, i128::MAX), "mixed");
    assert_eq!(pair(i128::MIN, i128::MIN + 5), "mixed");
}

#[test]
fn digits_that_doubles_do_not_have_are_kept() {
    let mut texts = Vec::new();
    for digits in 15..=19u32 {
        for end in [0i64, 1, 7, 10, 70, 99, 100, 700, 1_000] {
            texts.push((10i64.pow(digits - 1) + end).to_string());
            texts.push((i64::MAX / 10i64.pow(19 - digits) / 1_000 * 1_000 + end % 800).to_string());
        }
    }
    // The huge number turns all into doubles, with exact decimals for those that no double
    // represents.
    texts.push("1e300".to_owned());
    let rows = rows(texts.len(), |index| vec![("x", number(&texts[index]))]);
    assert_survives(&rows, |block| {
        assert_eq!(block.column("x", Kind::Number).expect("exists").encoding_name(), "mixed");
    });
}

/// Rows whose first columns are null together in one row of five, at irregular positions.
fn rows_of_servers(count: usize) -> Vec<Row> {
    let mut random = Random::new(3);
    rows(count, |index| {
        let mut cells = vec![("always", integer(index))];
        if random.below(5) > 0 {
            cells.push(("bytes", integer(random.below(5_000))));
            cells.push(("host", Value::string(&format!("host-{}", random.below(90)))));
            cells.push(("tags", Value::set([format!("tag {}", random.below(9))])));
            cells.push(("trace", Value::string(&format!("{:x}", random.next()))));
        }
        if random.below(5) > 0 {
            cells.push(("other", integer(random.below(5_000))));
        }
        cells
    })
}

#[test]
fn columns_that_are_absent_together_share_their_validity() {
    let rows = rows_of_servers(5_000);
    assert_survives(&rows, |block| {
        let names: Vec<_> = block.columns().iter().map(|column| column.name().as_str()).collect();
        assert_eq!(names, ["always", "bytes", "host", "other", "tags", "time", "trace"]);
        let owners: Vec<_> = block.columns().iter().map(ColumnView::validity_of).collect();
        assert_eq!(owners, [None, None, Some(1), None, Some(1), None, Some(1)]);
        let validity = |index: usize| block.columns()[index].validity().expect("decodes");
        assert_eq!(validity(2), validity(1));
        assert_ne!(validity(3), validity(1));
        let merged = merge(&[block.clone(), block.clone()], MergeOrder::Arrival, Micros(0));
        assert_same(&read(&merged.expect("merges")[0]), &[rows.clone(), rows.clone()].concat());
    });
}

#[test]
fn a_column_is_not_used_with_a_validity_that_was_altered() {
    let bytes = build(&rows_of_servers(2_000), None);
    let block = BlockView::parse(&bytes).expect("parses");
    let front = Header::read(&bytes).expect("a header").front_bytes();
    let before: usize = block.columns()[..1].iter().map(|column| column.encoded_bytes()).sum();
    let mut altered = bytes.clone();
    altered[front + before] ^= 1;
    let block = BlockView::parse(&altered).expect("the front is whole");
    let verified: Vec<bool> =
        block.columns().iter().map(|column| column.verify().is_ok()).collect();
    assert_eq!(verified, [true, false, false, true, false, true, false]);
    assert!(matches!(block.verify(), Err(BlockError::Checksum(_))));
}

#[test]
fn a_validity_must_be_an_earlier_one_with_as_many_nulls() {
    let bytes = build(&rows_of_servers(2_000), None);
    let with_owner = |owner: usize| {
        let mut altered = bytes.clone();
        let mut directory = Vec::new();
        for column in BlockView::parse(&bytes).expect("parses").columns() {
            let mut entry = column.entry.clone();
            if entry.name.as_str() == "tags" {
                entry.validity_of = Some(owner);
            }
            entry.write(&mut directory);
        }
        altered[HEADER_BYTES..HEADER_BYTES + directory.len()].copy_from_slice(&directory);
        let header = Header::read(&altered).expect("a header");
        let (covered, rest) = altered.split_at_mut(header.front_bytes() - CHECKSUM_BYTES);
        rest[..CHECKSUM_BYTES].copy_from_slice(&XxHash3_64::oneshot(covered).to_le_bytes());
        BlockView::parse(&altered).map(|_| ())
    };
    assert_eq!(with_owner(1), Ok(()));
    // Owners that are invalid: without nulls, with other nulls, itself, a later one, one that
    // refers to another, none.
    for owner in [0, 3, 4, 6, 2, 100] {
        let error = with_owner(owner).expect_err("refused").to_string();
        let expected = format!("RBC {owner} does not tell its nulls");
        assert!(error.contains("\"tags\"") && error.ends_with(&expected), "{error}");
    }
}

#[test]
fn streams_leave_out_nulls_where_most_rows_have_none() {
    for (count, present) in [(64, 1), (65, 20), (3_000, 700), (BLOCK_ROWS_MAX, 9_000)] {
        let mut random = Random::new(4);
        let rows = rows(count, |index| {
            let is_present = index == count / 2 || random.below(count) < present / 2;
            let integer = integer(random.below(1 << 20));
            let double = Number::from_f64(f64::from_bits(random.next())).unwrap_or(Number::ZERO);
            let text = format!("user {index} asked for {:x}", random.next());
            let word = format!("word {}", random.below(30));
            let sets = Value::set([word.clone(), format!("{}", random.below(9))]);
            let mut cells = vec![
                ("double", Value::Number(double)),
                ("few", Value::string(&word)),
                ("integer", integer),
                ("list", Value::vector([word])),
                ("many", Value::string(&text)),
                ("set", sets),
                ("truth", Value::Bool(index % 3 == 0)),
                ("wide", number(&(u64::MAX - random.next() % 99).to_string())),
            ];
            // Numbers of several forms.
            let mixed = ["1e300", "9007199254740993", "0.25"][random.below(3)];
            cells.push(("mixed", number(mixed)));
            if is_present { cells } else { Vec::new() }
        });
        assert_survives(&rows, |block| {
            for column in block.columns().iter().filter(|column| column.null_count() > 0) {
                assert!(column.entry.is_compact, "{}", column.name());
                if column.kind() == Kind::Number {
                    assert_numbers_are_those_decoded(column);
                }
            }
            let merged = merge(std::slice::from_ref(block), MergeOrder::Arrival, Micros(77));
            assert_same(&read(&merged.expect("merges")[0]), &rows);
        });
    }
}

#[test]
fn only_wanted_texts_of_a_compact_column_are_decoded() {
    let rows = rows(20_000, |index| {
        let text = format!("{index:x} {}", "long text that is the same ".repeat(3));
        if index % 3 == 0 { vec![("text", Value::string(&text))] } else { Vec::new() }
    });
    assert_survives(&rows, |block| {
        let column = block.column("text", Kind::String).expect("exists");
        assert!(column.entry.is_compact);
        let asked = std::cell::RefCell::new(Bitmap::zeros(20_000));
        let needed_rows = 9_000..9_600;
        let data = column.decode_where(&|range| {
            asked.borrow_mut().set_range(range.start, range.end);
            range.start < needed_rows.end && needed_rows.start < range.end
        });
        let data = data.expect("decodes");
        for row in needed_rows {
            let expected = rows[row].cells.get("text").cloned().unwrap_or(Value::Null);
            assert_eq!(data.value(row), expected);
        }
        // `is_wanted` is called with rows of the block.
        let asked = asked.into_inner();
        assert!(asked.count_ones() == 0 || asked.get(19_998));
    });
}

/// A block of version 3, which must be readable for as long as that version exists. The writer may
/// improve.
#[test]
fn version_3_is_read() {
    let expected = rows(200, |index| {
        let mut cells = vec![
            ("counter", integer(index % 70)),
            ("minutes", integer(index / 50 * 60)),
            ("outlier", integer(if index == 9 { 1 << 40 } else { index * index % 61 })),
            ("rate", integer([1, 10, 100, 1_001][index * index / 7 % 4])),
        ];
        if index * index % 13 < 4 {
            cells.push(("rare", integer(index * 7)));
            cells.push(("uint64", number(&(u64::MAX - index as u64).to_string())));
        }
        cells
    });
    let frozen: Vec<u8> = (0..FROZEN_3.len() / 2)
        .map(|at| u8::from_str_radix(&FROZEN_3[at * 2..at * 2 + 2], 16).expect("hex"))
        .collect();
    let hex: String = build(&expected, None).iter().map(|byte| format!("{byte:02x}")).collect();
    println!("it would be written as\n{hex}");
    assert_eq!(frozen[8], 3);
    assert_same(&read(&frozen), &expected);
    let block = BlockView::parse(&frozen).expect("parses");
    let names = block.columns().iter().map(ColumnView::encoding_name);
    let forms: Vec<&str> = names.map(|name| name.trim_start_matches("decimals: ")).collect();
    let expected = ["decimals", "steps", "decimals", "steps", "dictionary", "decimals", "wide"];
    assert_eq!(forms, expected);
    assert_eq!(block.columns()[6].validity_of(), Some(3));
}

const FROZEN_3: &str = "\
    8948444c424c4b0103000000b8020000c8000000070000000500000000000000d600000000000000\
    0000000000000000c7000000000000004d00000000000000202400000000000007636f756e746572\
    000000000e8237ac82d1eeede30000459067076d696e75746573000000000e9f4302af20564bbf00\
    00b401a09902076f75746c69657200000000ab012fd655cb98efa9f20000808080808020d8db8080\
    804004726172650000807a281a3db4c065a93289050000f10ad6d50604726174650000000043f526\
    a06b6fdb9c160002e807dac6050474696d650002000007130ae7d6095d110a0000c701f8b6020675\
    696e7436340000c77a032620d1a3957acc02ed00f0fcffffffffffffff03ffffffffffffef430000\
    00000000f0430000e85354d3827ea5c8018300450002020146008c00baba000002003c0304060101\
    000300020064000001480080808080802001084040245046c60370f2d6dba84c3be1a293a7db53e8\
    34ecba30ad17cf96e68e884f2da336afc59fd41093199410011010099491f1409dbcf5362ad34eb8\
    e8e4e9f6143a0dbb2e4cebc5b3a5b923e253cba8cd6bf12735c4640625440004440265643c50276f\
    bd8dcab4132e3a79ba3d854ec3ae0bd37af16c69ee88f8d4326af35afc490d319941091100019140\
    19190fd4c95b6fa332090000000000040000000000000000020007010400c701000280284014200a\
    100588024401a2005180284014200a100588024401a20001001372424ec809392127e4849c901372\
    424ec809392127e4849c00000000000004040a010002e80700243006fa0100000340de6d00e4dd06\
    40de6d00e4dd0640de6d00e4dd0640de6d00e4dd0640de6d00e4dd0640de6d00e4dd0640de6d00e4\
    dd06400000000000010100c701000200010400c701c70109a0205210298814440a220591824841a4\
    205210298814440a2205918248010000";
