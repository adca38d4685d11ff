//! `hadal inspect`: the row blocks of a table, from a data folder that no server uses.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::Args;
use hadal_leaf::BlockInfo;
use hadal_types::{Kind, SystemClock, TableName};

use crate::cli::DataArgs;
use crate::engine::{Engine, EngineConfig};
use crate::error::Error;
use crate::output;
use crate::service::say_damage;

/// Look at a table's row blocks
#[derive(Args)]
#[command(after_help = "Examples:
  hadal inspect requests --data ./data
  hadal inspect requests --data ./data --blocks    each block, too

It reads a data folder that no server uses; hadal status asks a running server.")]
pub(crate) struct InspectArgs {
    /// The table
    table: String,
    /// List each block
    #[arg(long)]
    blocks: bool,
    #[command(flatten)]
    data: DataArgs,
}

/// What all blocks say of one column part.
#[derive(Default)]
struct Column {
    rows: u64,
    bytes: u64,
    /// Blocks by encoding.
    encodings: BTreeMap<&'static str, u64>,
}

/// Runs the command.
pub(crate) fn run(args: &InspectArgs) -> Result<(), Error> {
    let table = TableName::new(&args.table)?;
    let folder = args.data.folder()?;
    if !folder.is_dir() {
        return Err(Error::Usage(format!("there is no data folder {}", folder.display())));
    }
    let config =
        EngineConfig { folder: Some(folder.clone()), leaves: 0, clock: Arc::new(SystemClock) };
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(Error::io("start", "the runtime"))?;
    let (engine, recovered) = runtime.block_on(Engine::open(&config))?;
    say_damage(&recovered);
    let blocks: Vec<BlockInfo> =
        engine.leaves().iter().flat_map(|leaf| leaf.inspect(&table)).collect();
    if blocks.is_empty() {
        let message = format!("there is no table {table} in {}", folder.display());
        return Err(Error::Usage(message));
    }
    let mut text = overview(&table, &blocks);
    if args.blocks {
        text.extend(blocks.iter().map(block_line));
    }
    output::print(&text)
}

fn overview(table: &TableName, blocks: &[BlockInfo]) -> String {
    let rows: u64 = blocks.iter().map(|block| block.rows as u64).sum();
    let bytes: u64 = blocks.iter().map(|block| block.bytes as u64).sum();
    let mut text = format!(
        "table {table}: {} in {}, {}, {:.1} bytes a row\n",
        output::count(rows, "row"),
        output::count(blocks.len() as u64, "block"),
        output::bytes(bytes),
        bytes as f64 / rows.max(1) as f64
    );
    for ((name, kind), column) in columns(blocks) {
        let encodings: Vec<String> = column
            .encodings
            .iter()
            .map(|(encoding, blocks)| format!("{encoding} × {blocks}"))
            .collect();
        text.push_str(&format!(
            "  {name} ({}): {} with a value, {}, {:.2} bytes a row; {}\n",
            kind.name(),
            output::count(column.rows, "row"),
            output::bytes(column.bytes),
            column.bytes as f64 / rows.max(1) as f64,
            encodings.join(", ")
        ));
    }
    text
}

fn columns(blocks: &[BlockInfo]) -> BTreeMap<(String, Kind), Column> {
    let mut columns: BTreeMap<(String, Kind), Column> = BTreeMap::new();
    for (name, kind, encoding, rows, bytes) in blocks.iter().flat_map(|block| &block.columns) {
        let column = columns.entry((name.clone(), *kind)).or_default();
        column.rows += rows;
        column.bytes += bytes;
        *column.encodings.entry(encoding).or_default() += 1;
    }
    columns
}

fn block_line(block: &BlockInfo) -> String {
    format!(
        "  block of {}, {}, {} to {}{}\n",
        output::count(block.rows as u64, "row"),
        output::bytes(block.bytes as u64),
        block.time_range.0,
        block.time_range.1,
        if block.is_fresh { ", only in the log so far" } else { "" }
    )
}
