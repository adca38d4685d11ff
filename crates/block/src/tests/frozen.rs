//! The blocks of `spec/blocks`, which earlier builds wrote. Each must load forever, with the values
//! of the text beside it. `examples/frozen.rs` writes the blocks of new forms.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use hadal_types::{Kind, Micros, Value};

use super::model::read;
use crate::{BlockView, ColumnView, MergeOrder, WeightedSums, merge};

/// Each block's name, and the form of its first column `x` that its encoding's name does not
/// include.
const BLOCKS: [(&str, &str); 30] = [
    ("cold", "other"),
    ("cold-and-warm", "other"),
    ("integers-constant", "constant"),
    ("integers-delta", "delta"),
    ("integers-delta-patched", "delta, patched"),
    ("integers-dictionary", "dictionary"),
    ("integers-packed", "packed"),
    ("integers-packed-64-bits", "packed"),
    ("integers-patched", "packed, patched"),
    ("integers-runs", "runs"),
    ("integers-steps", "steps"),
    ("kinds-in-one-column", "delta"),
    ("lists", "other"),
    ("lists-dictionary", "other"),
    ("nulls", "other"),
    ("numbers-bool", "packed"),
    ("numbers-doubles", "other"),
    ("numbers-mixed", "other"),
    ("numbers-scaled", "packed"),
    ("numbers-wide", "other"),
    ("sampled", "delta"),
    ("strings-dictionary", "plain"),
    ("strings-dictionary-shared-beginnings", "shared beginnings"),
    ("strings-pages", "other"),
    ("strings-templates", "other"),
    ("strings-templates-hexadecimal", "other"),
    ("version-1", "plain"),
    ("version-2", "other"),
    ("version-3", "other"),
    ("weighted", "packed"),
];

fn folder() -> PathBuf {
    // Read at run time: a built test may be reused for a checkout elsewhere.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs the tests");
    Path::new(&package).join("../../spec/blocks")
}

fn load(name: &str) -> Vec<u8> {
    fs::read(folder().join(name).with_extension("hdl")).expect(name)
}

/// A block's content as text: each column's encoding and its values by row, with the length of each
/// run of equal values.
fn texts(block: &BlockView<'_>) -> String {
    let mut all = format!("version {}, {} rows\n", block.bytes()[8], block.rows());
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
        let data = column.decode().expect("decodes");
        let values: Vec<Value> = (0..block.rows()).map(|row| data.value(row)).collect();
        for run in values.chunk_by(|one, next| one == next) {
            let value = match &run[0] {
                Value::Time(Micros(time)) => time.to_string(),
                Value::String(text) => format!("{text:?}"),
                Value::Set(list) | Value::Vector(list) => format!("{list:?}"),
                other => other.to_string(),
            };
            let _ = writeln!(all, "{} {value}", run.len());
        }
    }
    all
}

/// The form of the first stream of the first column `x`; for a dictionary, the form of its strings.
fn form(block: &BlockView<'_>) -> &'static str {
    let mut at = block.header().front_bytes();
    for column in block.columns() {
        if column.name().as_str() == "x" {
            return form_of(column, &block.bytes()[at..]);
        }
        at += column.encoded_bytes();
    }
    "other"
}

fn form_of(column: &ColumnView<'_>, body: &[u8]) -> &'static str {
    match (column.encoding_name(), body) {
        ("decimals", [1, 0, ..]) => "packed",
        ("decimals", [1, 0x01..=0x41, ..]) => "delta",
        ("decimals", [1, 0x42..=0x82, ..]) => "packed, patched",
        ("decimals", [1, 0x83..=0xC3, ..]) => "delta, patched",
        ("dictionary", body) if body[column.entry.sections[0]] == 0 => "shared beginnings",
        ("dictionary", _) => "plain",
        (name, _) => name.strip_prefix("decimals: ").unwrap_or("other"),
    }
}

#[test]
fn every_frozen_block_has_its_values() {
    for (name, x) in BLOCKS {
        let bytes = load(name);
        let block = BlockView::parse(&bytes).expect(name);
        block.verify().expect(name);
        let expected = fs::read_to_string(folder().join(name).with_extension("txt")).expect(name);
        let actual = texts(&block);
        let pairs = actual.lines().zip(expected.lines());
        for (line, (actual, expected)) in (1..).zip(pairs) {
            assert_eq!(actual, expected, "{name}.txt, line {line}");
        }
        assert_eq!(actual, expected, "{name}");
        assert_eq!(form(&block), x, "{name}");
    }
}

#[test]
fn frozen_blocks_merge_to_the_same_rows() {
    for (name, _) in BLOCKS {
        let bytes = load(name);
        let block = BlockView::parse(&bytes).expect(name);
        let blocks = [block.clone(), block];
        let merged = merge(&blocks, MergeOrder::Arrival, Micros(0)).expect(name);
        let rows: Vec<_> = merged.iter().flat_map(|bytes| read(bytes)).collect();
        assert_eq!(rows, [read(&bytes), read(&bytes)].concat(), "{name}");
    }
}

#[test]
fn all_that_the_directory_can_say_is_frozen() {
    let mut counts: BTreeMap<(&str, Kind), usize> = BTreeMap::new();
    let (mut compact, mut shared, mut both, mut batches) = (0, 0, 0, 0);
    let mut cold: BTreeSet<(&str, Kind, bool, bool)> = BTreeSet::new();
    for (name, _) in BLOCKS {
        let bytes = load(name);
        let block = BlockView::parse(&bytes).expect(name);
        batches += block.batches().len();
        for column in block.columns() {
            *counts.entry((column.encoding_name(), column.kind())).or_default() += 1;
            let (is_compact, is_shared) = (column.is_compact(), column.validity_of().is_some());
            compact += usize::from(is_compact);
            shared += usize::from(is_shared);
            both += usize::from(is_compact && is_shared);
            if column.is_cold() {
                cold.insert((column.encoding_name(), column.kind(), is_compact, is_shared));
            }
        }
    }
    let (number, string, set, vector) = (Kind::Number, Kind::String, Kind::Set, Kind::Vector);
    let expected = [
        ("decimals", number),
        ("decimals: constant", number),
        ("decimals: dictionary", number),
        ("decimals: runs", number),
        ("decimals: steps", number),
        ("dictionary", string),
        ("doubles", number),
        ("list-dictionary", set),
        ("list-dictionary", vector),
        ("lists", set),
        ("lists", vector),
        ("mixed", number),
        ("pages", string),
        ("templates", string),
        ("wide", number),
    ];
    // Cold: each encoding once, and each way to store null rows.
    let of_forms: BTreeSet<(&str, Kind)> = expected
        .iter()
        .map(|(name, kind)| (name.split_once(": ").map_or(*name, |(name, _)| name), *kind))
        .collect();
    let of_cold = cold.iter().map(|(name, kind, ..)| (*name, *kind)).collect();
    assert_eq!(of_forms, of_cold);
    let ways: BTreeSet<(bool, bool)> =
        cold.iter().map(|&(_, _, one, other)| (one, other)).collect();
    assert_eq!(ways.len(), 4);
    assert_eq!(counts.into_keys().collect::<Vec<_>>(), expected);
    assert!(compact > both && shared > both && both > 0 && batches > 0);
}

#[test]
fn no_frozen_block_is_forgotten() {
    let files = fs::read_dir(folder()).expect("the folder of frozen blocks");
    let mut names: Vec<String> = files
        .map(|file| file.expect("a file").file_name().into_string().expect("a name"))
        .filter_map(|name| name.strip_suffix(".hdl").map(str::to_owned))
        .collect();
    names.sort_unstable();
    assert_eq!(names, BLOCKS.map(|(name, _)| name));
}
