//! Codec of the row blocks of a table.

use bytes::Bytes;
use hadal_peer::{BlockStatus, ColumnBlocks, TableBlocks};
use hadal_types::limits::{MESSAGE_BYTES_MAX, NAME_BYTES_MAX, SAMPLE_ONE_IN_MAX};
use hadal_types::{ColumnName, Kind, Micros, TableName};
use prost::Message;

use crate::codes::Code;
use crate::error::{At, DecodeError, at_most, required, unfit};
use crate::frames::{self, Frames};
use crate::proto;
use crate::size_guard;
use crate::value::{decode_column, decode_leaf_name, decode_table};

/// Maximum bytes of the request for the blocks of a table.
const REQUEST_BYTES_MAX: usize = 1 << 10;

/// Encodes the request for the blocks of a table.
#[must_use]
pub fn encode_blocks_of(table: &TableName) -> Bytes {
    proto::BlocksRequest { table: table.to_string() }.encode_to_vec().into()
}

/// Decodes the output of [`encode_blocks_of`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_blocks_of(bytes: Bytes) -> Result<TableName, DecodeError> {
    size_guard::decode(bytes, REQUEST_BYTES_MAX, |request: proto::BlocksRequest| {
        decode_table(&request.table).at("table")
    })
}

/// Encodes the blocks of a table.
#[must_use]
pub fn encode_blocks(blocks: &TableBlocks) -> Bytes {
    let block = |block: &BlockStatus| proto::BlockStatus {
        leaf: block.leaf.to_string(),
        rows: block.rows,
        bytes: block.bytes,
        time_span: Some(proto::TimeSpan {
            first_micros: block.time_range.0.0,
            last_micros: block.time_range.1.0,
        }),
        fresh: block.is_fresh,
        kept_one_in: if block.kept_one_in > 1 { block.kept_one_in.into() } else { 0 },
    };
    let column =
        |((name, kind, encoding), column): (&(ColumnName, Kind, String), &ColumnBlocks)| {
            proto::ColumnBlocks {
                name: name.to_string(),
                kind: kind.code(),
                encoding: encoding.clone(),
                blocks: column.blocks,
                rows: column.rows,
                bytes: column.bytes,
                warm_bytes: column.warm_bytes,
            }
        };
    proto::TableBlocks {
        blocks: frames::encode(blocks.blocks.iter().map(block)),
        columns: frames::encode(blocks.columns.iter().map(column)),
    }
    .encode_to_vec()
    .into()
}

/// Decodes the output of [`encode_blocks`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_blocks(bytes: Bytes) -> Result<TableBlocks, DecodeError> {
    size_guard::decode(bytes, MESSAGE_BYTES_MAX, |message: proto::TableBlocks| {
        let mut decoded = TableBlocks::default();
        for (index, block) in Frames::new(message.blocks).enumerate() {
            decoded.blocks.push(block.and_then(decode_block).at_index("blocks", index)?);
        }
        for (index, column) in Frames::new(message.columns).enumerate() {
            let (key, column) = column.and_then(decode_columns).at_index("columns", index)?;
            if decoded.columns.last_key_value().is_some_and(|(last, _)| *last >= key) {
                let error = unfit("columns out of order", "ascending names, kinds, encodings");
                return Err(error).at_index("columns", index);
            }
            decoded.columns.insert(key, column);
        }
        Ok(decoded)
    })
}

fn decode_block(block: proto::BlockStatus) -> Result<BlockStatus, DecodeError> {
    let proto::TimeSpan { first_micros, last_micros } =
        required(block.time_span).at("time_span")?;
    if first_micros > last_micros {
        let span = format!("{first_micros} to {last_micros}");
        return Err(unfit(span, "the first time before the last")).at("time_span");
    }
    let kept_one_in = u16::try_from(block.kept_one_in).ok();
    let kept_one_in = kept_one_in.filter(|kept| *kept != 1 && *kept <= SAMPLE_ONE_IN_MAX);
    let Some(kept_one_in) = kept_one_in else {
        let expected = format!("0 or 2 to {SAMPLE_ONE_IN_MAX}");
        return Err(unfit(block.kept_one_in, expected)).at("kept_one_in");
    };
    Ok(BlockStatus {
        leaf: decode_leaf_name(block.leaf).at("leaf")?,
        rows: block.rows,
        bytes: block.bytes,
        time_range: (Micros(first_micros), Micros(last_micros)),
        is_fresh: block.fresh,
        kept_one_in: kept_one_in.max(1),
    })
}

type KeyedColumn = ((ColumnName, Kind, String), ColumnBlocks);

fn decode_columns(column: proto::ColumnBlocks) -> Result<KeyedColumn, DecodeError> {
    let proto::ColumnBlocks { name, kind, encoding, blocks, rows, bytes, warm_bytes } = column;
    at_most("bytes", encoding.len(), NAME_BYTES_MAX).at("encoding")?;
    let key = (decode_column(&name).at("name")?, Code::of_code(kind).at("kind")?, encoding);
    Ok((key, ColumnBlocks { blocks, rows, bytes, warm_bytes }))
}

#[cfg(test)]
mod tests {
    use hadal_types::LeafName;

    use super::*;

    fn column(name: &str, encoding: &str, blocks: u64) -> KeyedColumn {
        let name = ColumnName::new(name).expect("a name");
        let column = ColumnBlocks { blocks, rows: 7, bytes: u64::MAX, warm_bytes: 9 };
        ((name, Kind::String, encoding.to_owned()), column)
    }

    fn blocks() -> TableBlocks {
        let block = BlockStatus {
            leaf: LeafName("leaf-1".into()),
            rows: 65_536,
            bytes: 1_000,
            time_range: (Micros(-5), Micros(5)),
            is_fresh: true,
            kept_one_in: 1,
        };
        TableBlocks {
            blocks: vec![block.clone(), BlockStatus { is_fresh: false, kept_one_in: 10, ..block }],
            columns: [column("a", "dictionary", 1), column("a", "pages", 2)].into(),
        }
    }

    #[test]
    fn blocks_pass_through_bytes() {
        for blocks in [TableBlocks::default(), blocks()] {
            assert_eq!(decode_blocks(encode_blocks(&blocks)), Ok(blocks));
        }
        let table = TableName::new("t").expect("a name");
        assert_eq!(decode_blocks_of(encode_blocks_of(&table)), Ok(table));
    }

    #[test]
    fn blocks_of_leaves_add_up() {
        let mut all = blocks();
        all.merge(TableBlocks { columns: [column("a", "pages", 3)].into(), ..blocks() });
        assert_eq!(all.blocks.len(), 4);
        let counts: Vec<u64> = all.columns.values().map(|column| column.blocks).collect();
        assert_eq!(counts, [1, 5]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let span = |first_micros, last_micros| proto::TimeSpan { first_micros, last_micros };
        let block = proto::BlockStatus {
            leaf: "l".to_owned(),
            time_span: Some(span(1, 1)),
            ..proto::BlockStatus::default()
        };
        let message = |block: proto::BlockStatus| proto::TableBlocks {
            blocks: frames::encode([block]),
            columns: Bytes::new(),
        };
        let decode = |message: proto::TableBlocks| decode_blocks(message.encode_to_vec().into());
        assert!(decode(message(block.clone())).is_ok());
        let nameless = proto::BlockStatus { leaf: String::new(), ..block.clone() };
        let timeless = proto::BlockStatus { time_span: None, ..block.clone() };
        let kept = |kept_one_in| proto::BlockStatus { kept_one_in, ..block.clone() };
        let (all, few) = (kept(1), kept(10_001));
        let backwards = proto::BlockStatus { time_span: Some(span(2, 1)), ..block };
        for (block, place) in [
            (nameless, "leaf"),
            (timeless, "time_span"),
            (backwards, "time_span"),
            (all, "kept_one_in"),
            (few, "kept_one_in"),
        ] {
            let error = decode(message(block)).expect_err("refused");
            assert_eq!(error.place, format!("TableBlocks.blocks[0].{place}"));
        }
        let column = || proto::ColumnBlocks {
            name: "a".to_owned(),
            kind: Kind::Set.code(),
            ..proto::ColumnBlocks::default()
        };
        let twice = proto::TableBlocks {
            blocks: Bytes::new(),
            columns: frames::encode([column(), column()]),
        };
        assert_eq!(decode(twice).expect_err("refused").place, "TableBlocks.columns[1]");
    }
}
