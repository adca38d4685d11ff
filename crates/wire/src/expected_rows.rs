//! Codec of the rows that leaves should hold, as processes exchange and store them.

use bytes::Bytes;
use hadal_peer::{ExpectedRowsDelta, ExpectedShare, TableRun};
use hadal_types::limits::{
    EXPECTED_RUNS_MAX, EXPECTED_SAMPLES_MAX, EXPECTED_SHARES_MAX, LEAVES_MAX, MESSAGE_BYTES_MAX,
    TABLES_MAX,
};
use hadal_types::{LeafName, Micros, TableName};
use prost::Message;

use crate::batch::SMALL_BYTES_MAX;
use crate::error::{At, DecodeError, at_most, each, unfit};
use crate::frames::{self, Frames};
use crate::proto;
use crate::size_guard;
use crate::value::{decode_leaf_name, decode_table};

/// Encodes the request for what has changed since a version, of the process that began to count at
/// `epoch`.
#[must_use]
pub fn encode_expected_rows_since(epoch: u64, version: u64) -> Bytes {
    proto::ExpectedRowsRequest { epoch_micros: epoch, since: version }.encode_to_vec().into()
}

/// Decodes the output of [`encode_expected_rows_since`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_expected_rows_since(bytes: Bytes) -> Result<(u64, u64), DecodeError> {
    size_guard::decode(bytes, SMALL_BYTES_MAX, |request: proto::ExpectedRowsRequest| {
        Ok((request.epoch_micros, request.since))
    })
}

/// Encodes what a process knows, or what has changed of it.
#[must_use]
pub fn encode_expected_rows(delta: &ExpectedRowsDelta) -> Bytes {
    let leaves = delta.forgotten_leaves.iter().map(|(leaf, at)| forgotten(leaf.to_string(), *at));
    let tables = delta.forgotten_tables.iter();
    proto::ExpectedRows {
        epoch_micros: delta.epoch,
        version: delta.version,
        has_more: delta.has_more,
        shares: frames::encode(delta.shares.iter().map(encode_share)),
        forgotten_leaves: leaves.collect(),
        forgotten_tables: tables.map(|(table, at)| forgotten(table.to_string(), *at)).collect(),
    }
    .encode_to_vec()
    .into()
}

fn forgotten(name: String, at: Micros) -> proto::Forgotten {
    proto::Forgotten { name, at_micros: at.0 }
}

fn encode_share(share: &ExpectedShare) -> proto::ExpectedShare {
    proto::ExpectedShare {
        leaf: share.leaf.to_string(),
        table: share.table.to_string(),
        runs: share.runs.iter().map(encode_run).collect(),
        acknowledged_micros: share.acknowledged,
    }
}

fn encode_run(run: &TableRun) -> proto::TableRun {
    let span = |(first, last): (Micros, Micros)| proto::TimeSpan {
        first_micros: first.0,
        last_micros: last.0,
    };
    proto::TableRun {
        started_micros: run.started,
        version: run.version,
        received_micros: run.received.0,
        rows: run.rows,
        recovered_rows: run.recovered_rows,
        accepted_rows: run.accepted_rows,
        missing_rows: run.missing_rows,
        time_span: run.time_range.map(span),
        age_seconds: run.age_seconds.unwrap_or(0),
        sample_minutes: run.samples.iter().map(|(minute, _)| *minute).collect(),
        sample_rows: run.samples.iter().map(|(_, rows)| *rows).collect(),
    }
}

/// Decodes the output of [`encode_expected_rows`].
///
/// # Errors
/// [`DecodeError`] for anything else.
pub fn decode_expected_rows(bytes: Bytes) -> Result<ExpectedRowsDelta, DecodeError> {
    size_guard::decode(bytes, MESSAGE_BYTES_MAX, decode_delta)
}

fn decode_delta(delta: proto::ExpectedRows) -> Result<ExpectedRowsDelta, DecodeError> {
    at_most("leaves", delta.forgotten_leaves.len(), LEAVES_MAX).at("forgotten_leaves")?;
    at_most("tables", delta.forgotten_tables.len(), TABLES_MAX).at("forgotten_tables")?;
    let mut shares = Vec::new();
    for (index, share) in Frames::new(delta.shares).enumerate() {
        at_most("shares", index + 1, EXPECTED_SHARES_MAX).at("shares")?;
        shares.push(share.and_then(decode_share).at_index("shares", index)?);
    }
    Ok(ExpectedRowsDelta {
        epoch: delta.epoch_micros,
        version: delta.version,
        has_more: delta.has_more,
        shares,
        forgotten_leaves: each("forgotten_leaves", delta.forgotten_leaves, decode_leaf)?,
        forgotten_tables: each("forgotten_tables", delta.forgotten_tables, decode_dropped)?,
    })
}

fn decode_leaf(leaf: proto::Forgotten) -> Result<(LeafName, Micros), DecodeError> {
    Ok((decode_leaf_name(leaf.name).at("name")?, Micros(leaf.at_micros)))
}

fn decode_dropped(table: proto::Forgotten) -> Result<(TableName, Micros), DecodeError> {
    Ok((decode_table(&table.name).at("name")?, Micros(table.at_micros)))
}

fn decode_share(share: proto::ExpectedShare) -> Result<ExpectedShare, DecodeError> {
    at_most("runs", share.runs.len(), EXPECTED_RUNS_MAX).at("runs")?;
    let runs = each("runs", share.runs, decode_run)?;
    if runs.is_empty() || !runs.is_sorted_by(|left, right| left.started < right.started) {
        return Err(unfit("runs out of order, or none", "ascending starts")).at("runs");
    }
    Ok(ExpectedShare {
        leaf: decode_leaf_name(share.leaf).at("leaf")?,
        table: decode_table(&share.table).at("table")?,
        runs,
        acknowledged: share.acknowledged_micros,
    })
}

fn decode_run(run: proto::TableRun) -> Result<TableRun, DecodeError> {
    at_most("samples", run.sample_minutes.len(), EXPECTED_SAMPLES_MAX).at("sample_minutes")?;
    let (minutes, rows) = (run.sample_minutes, run.sample_rows);
    if minutes.len() != rows.len() || !minutes.is_sorted_by(|left, right| left < right) {
        return Err(unfit("other minutes", "ascending ones, one for each number"))
            .at("sample_rows");
    }
    let span = run.time_span.map(|span| (Micros(span.first_micros), Micros(span.last_micros)));
    Ok(TableRun {
        started: run.started_micros,
        version: run.version,
        received: Micros(run.received_micros),
        rows: run.rows,
        recovered_rows: run.recovered_rows,
        accepted_rows: run.accepted_rows,
        missing_rows: run.missing_rows,
        time_range: span,
        age_seconds: Some(run.age_seconds).filter(|seconds| *seconds > 0),
        samples: minutes.into_iter().zip(rows).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(started: u64, samples: usize) -> TableRun {
        let minutes = (0..u32::MAX).zip(1_000..).take(samples);
        TableRun {
            started,
            version: 7,
            received: Micros(-3),
            rows: 10,
            recovered_rows: 4,
            accepted_rows: 9,
            missing_rows: 2,
            time_range: (started > 1).then_some((Micros(-5), Micros(5))),
            age_seconds: (started > 1).then_some(60),
            samples: minutes.collect(),
        }
    }

    fn share(runs: usize, samples: usize) -> ExpectedShare {
        ExpectedShare {
            leaf: LeafName("m/leaf-0".into()),
            table: TableName::new("t").expect("a name"),
            runs: (1..=runs as u64).map(|started| run(started, samples)).collect(),
            acknowledged: 1,
        }
    }

    fn delta(shares: Vec<ExpectedShare>) -> ExpectedRowsDelta {
        ExpectedRowsDelta {
            epoch: 5,
            version: 6,
            has_more: true,
            shares,
            forgotten_leaves: vec![(LeafName("gone".into()), Micros(8))],
            forgotten_tables: vec![(TableName::new("dropped").expect("a name"), Micros(9))],
        }
    }

    #[test]
    fn expected_rows_are_decoded_as_they_were() {
        let whole = delta(vec![share(1, 0), share(EXPECTED_RUNS_MAX, EXPECTED_SAMPLES_MAX)]);
        assert_eq!(decode_expected_rows(encode_expected_rows(&whole)), Ok(whole));
        let all = delta(vec![share(1, 1); EXPECTED_SHARES_MAX]);
        assert_eq!(decode_expected_rows(encode_expected_rows(&all)), Ok(all));
        let request = encode_expected_rows_since(5, 6);
        assert_eq!(decode_expected_rows_since(request), Ok((5, 6)));
    }

    #[test]
    fn expected_rows_beyond_the_limits_are_refused() {
        let mut backwards = share(2, 1);
        backwards.runs.reverse();
        let mut repeated = share(1, 2);
        repeated.runs[0].samples[1].0 = 0;
        for bad in [
            share(0, 1),
            share(EXPECTED_RUNS_MAX + 1, 0),
            share(1, EXPECTED_SAMPLES_MAX + 1),
            backwards,
            repeated,
        ] {
            assert!(decode_expected_rows(encode_expected_rows(&delta(vec![bad]))).is_err());
        }
        let many = delta(vec![share(1, 0); EXPECTED_SHARES_MAX + 1]);
        assert!(decode_expected_rows(encode_expected_rows(&many)).is_err());
    }
}
