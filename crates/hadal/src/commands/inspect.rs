//! `hadal inspect`: the row blocks of a table, on a server or in a data folder without a server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use hadal_leaf::Durability;
use hadal_types::{SystemClock, TableName};
use serde::Deserialize;

use crate::args::ServerArgs;
use crate::error::Error;
use crate::output;
use crate::process::damage::say_damage;
use crate::process::memory::Memory;
use crate::process::role::leaves::{Leaves, LeavesConfig, OpenLeaves};
use crate::process::role::tree::Tree;

/// The number of blocks per request; a server lists no more.
const BLOCKS_AT_ONCE: usize = hadal_types::limits::BLOCKS_LISTED_MAX;

/// Look at a table's row blocks
#[derive(Args)]
#[command(after_help = "Examples:
  hadal inspect requests
  hadal inspect requests --blocks                  each block, too
  hadal inspect requests --server http://db:4280
  hadal inspect requests --data ./data             a folder that no server uses")]
pub(crate) struct InspectArgs {
    /// The table
    table: String,
    /// List each block
    #[arg(long)]
    blocks: bool,
    /// Look into a data folder that no server uses, instead of asking a server
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(flatten)]
    server: ServerArgs,
}

/// The blocks and columns of a table.
#[derive(Debug, Deserialize, PartialEq, Eq)]
struct TableContents {
    rows: u64,
    lost_rows: u64,
    bytes: u64,
    block_count: u64,
    columns: Vec<Column>,
    blocks: Vec<Block>,
    more: bool,
}

/// Sums over the row block columns of one name, kind and encoding.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
struct Column {
    name: String,
    kind: String,
    encoding: String,
    blocks: u64,
    rows: u64,
    bytes: u64,
    warm_bytes: u64,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
struct Block {
    leaf: String,
    rows: u64,
    bytes: u64,
    first_time: String,
    last_time: String,
    fresh: bool,
    kept_one_in: u16,
}

/// Runs the command.
pub(crate) fn run(args: &InspectArgs) -> Result<(), Error> {
    let table = TableName::new(&args.table)?;
    let contents = match &args.data {
        Some(folder) => in_folder(folder, &table)?,
        None => on_server(&args.server, &table, args.blocks)?,
    };
    let mut text = overview(&table, &contents);
    if args.blocks {
        text.extend(contents.blocks.iter().map(block_line));
    }
    output::print(&text)
}

/// Asks a server. `all` lists every block; otherwise one block is listed.
fn on_server(server: &ServerArgs, table: &TableName, all: bool) -> Result<TableContents, Error> {
    let client = server.client()?;
    let limit = if all { BLOCKS_AT_ONCE } else { 1 };
    let page = |offset: usize| -> Result<TableContents, Error> {
        client.get(&format!("/v1/tables/{table}/blocks?limit={limit}&offset={offset}"))
    };
    let mut contents = page(0)?;
    while all && contents.more {
        let next = page(contents.blocks.len())?;
        contents.more = next.more && !next.blocks.is_empty();
        contents.blocks.extend(next.blocks);
    }
    Ok(contents)
}

fn in_folder(folder: &Path, table: &TableName) -> Result<TableContents, Error> {
    if !folder.is_dir() {
        return Err(Error::Usage(format!("there is no data folder {}", folder.display())));
    }
    let config = LeavesConfig {
        folder: Some(folder.to_path_buf()),
        durability: Durability::Sync,
        memory: Memory::for_a_look(),
        preopened: Vec::new(),
        leaves: OpenLeaves::All(0),
        clock: Arc::new(SystemClock),
        // A process that only inspects drops no rows.
        clock_proving: std::time::Duration::MAX,
        archive: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(Error::io("start", "the runtime"))?;
    let (leaves, recovered) = runtime.block_on(Leaves::open(&config))?;
    let tree = Tree::over(&leaves);
    say_damage(&recovered);
    let table_blocks = runtime.block_on(tree.root.blocks(table));
    let status = runtime.block_on(tree.root.table(table.as_str()));
    if table_blocks.blocks.is_empty() && status.is_none() {
        let message = format!("there is no table {table} in {}", folder.display());
        return Err(Error::Usage(message));
    }
    Ok(TableContents::new(table_blocks, status.map_or(0, |status| status.lost_rows)))
}

impl TableContents {
    fn new(table_blocks: hadal_peer::TableBlocks, lost_rows: u64) -> Self {
        let blocks = table_blocks.blocks.into_iter().map(|block| Block {
            leaf: block.leaf.to_string(),
            rows: block.rows,
            bytes: block.bytes,
            first_time: block.time_range.0.to_string(),
            last_time: block.time_range.1.to_string(),
            fresh: block.is_fresh,
            kept_one_in: block.kept_one_in,
        });
        let columns =
            table_blocks.columns.into_iter().map(|((name, kind, encoding), column)| Column {
                name: name.to_string(),
                kind: kind.name().to_owned(),
                encoding,
                blocks: column.blocks,
                rows: column.rows,
                bytes: column.bytes,
                warm_bytes: column.warm_bytes,
            });
        let blocks: Vec<Block> = blocks.collect();
        Self {
            rows: blocks.iter().map(|block| block.rows).sum(),
            lost_rows,
            bytes: blocks.iter().map(|block| block.bytes).sum(),
            block_count: blocks.len() as u64,
            columns: columns.collect(),
            blocks,
            more: false,
        }
    }
}

fn overview(table: &TableName, contents: &TableContents) -> String {
    let a_row = |bytes: u64| bytes as f64 / contents.rows.max(1) as f64;
    let lost = match contents.lost_rows {
        0 => String::new(),
        rows => format!("; {} lost", output::count(rows, "row")),
    };
    let mut text = format!(
        "table {table}: {} in {}, {}, {:.1} bytes a row{lost}\n",
        output::count(contents.rows, "row"),
        output::count(contents.block_count, "block"),
        output::bytes(contents.bytes),
        a_row(contents.bytes)
    );
    let mut parts: BTreeMap<(&str, &str), Vec<&Column>> = BTreeMap::new();
    for column in &contents.columns {
        parts.entry((&column.name, &column.kind)).or_default().push(column);
    }
    for ((name, kind), columns) in parts {
        let sum = |of: fn(&Column) -> u64| columns.iter().map(|column| of(column)).sum::<u64>();
        let encodings: Vec<String> = columns
            .iter()
            .map(|column| format!("{} × {}", column.encoding, column.blocks))
            .collect();
        let bytes = sum(|column| column.bytes);
        let thawed = sum(|column| column.warm_bytes);
        let thawed = match thawed > bytes {
            true => format!("; {} when thawed", output::bytes(thawed)),
            false => String::new(),
        };
        text.push_str(&format!(
            "  {name} ({kind}): {} with a value, {}, {:.2} bytes a row; {}{thawed}\n",
            output::count(sum(|column| column.rows), "row"),
            output::bytes(bytes),
            a_row(bytes),
            encodings.join(", ")
        ));
    }
    text
}

fn block_line(block: &Block) -> String {
    format!(
        "  block of {}, {}, {} to {}, on {}{}{}\n",
        output::count(block.rows, "row"),
        output::bytes(block.bytes),
        block.first_time,
        block.last_time,
        block.leaf,
        if block.fresh { ", not in a segment so far" } else { "" },
        match block.kept_one_in {
            0 | 1 => String::new(),
            rows => format!(", one row in {rows} was kept"),
        }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_encodings_of_a_column_are_told_together() {
        let column = |kind: &str, encoding: &str, blocks: u64, warm_bytes: u64| Column {
            name: "c".to_owned(),
            kind: kind.to_owned(),
            encoding: encoding.to_owned(),
            blocks,
            rows: 10,
            bytes: 20,
            warm_bytes,
        };
        let columns = vec![
            column("number", "decimals", 4, 20),
            column("string", "cold pages", 3, 90),
            column("string", "dictionary", 1, 20),
        ];
        let contents = TableContents {
            rows: 40,
            lost_rows: 2,
            bytes: 60,
            block_count: 4,
            columns,
            blocks: Vec::new(),
            more: false,
        };
        let table = TableName::new("t").expect("a name");
        assert_eq!(
            overview(&table, &contents),
            "table t: 40 rows in 4 blocks, 60 B, 1.5 bytes a row; 2 rows lost\n  \
             c (number): 10 rows with a value, 20 B, 0.50 bytes a row; decimals × 4\n  \
             c (string): 20 rows with a value, 40 B, 1.00 bytes a row; cold pages × 3, dictionary × 1; \
             110 B when thawed\n"
        );
    }
}
