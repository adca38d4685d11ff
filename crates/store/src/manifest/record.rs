//! One record of the manifest, and its bytes. `spec/segments.md`, section 3.

use std::collections::BTreeSet;

use hadal_types::limits::{BLOCK_BYTES_MAX, TABLE_SETTINGS_BYTES_MAX};
use hadal_types::{BatchId, Micros, TableName};

use crate::block_record::BlockRecord;
use crate::change::{DroppedRows, RememberedBatch};
use crate::checksum::Checksum;
use crate::ids::BlockNumber;
use crate::segment::layout::{BlockLocation, PAGE};
use crate::sequence_set::SequenceSet;

/// One atomic change, with all its consequences listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) drops: Vec<TableName>,
    pub(crate) removes: Vec<BlockNumber>,
    pub(crate) adds: Vec<BlockRecord>,
    pub(crate) consumed: SequenceSet,
    pub(crate) remembered: Vec<RememberedBatch>,
    pub(crate) settings: Vec<(TableName, Vec<u8>)>,
    pub(crate) forget_before: Option<Micros>,
    /// All log files that are needed from now on.
    pub(crate) logs: BTreeSet<u64>,
    pub(crate) dropped_rows: Vec<(TableName, DroppedRows)>,
}

impl Record {
    /// Appends the record's bytes to `out`.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        count(out, self.drops.len());
        self.drops.iter().for_each(|table| text(out, table.as_str()));
        count(out, self.removes.len());
        self.removes.iter().for_each(|number| out.extend(number.0.to_le_bytes()));
        count(out, self.adds.len());
        for BlockRecord { number, table, rows, location, checksum } in &self.adds {
            out.extend(number.0.to_le_bytes());
            out.extend(location.offset.to_le_bytes());
            out.extend(location.segment.to_le_bytes());
            out.extend(location.length.to_le_bytes());
            out.extend(rows.to_le_bytes());
            out.extend(checksum.to_le_bytes());
            text(out, table.as_str());
        }
        count(out, self.consumed.range_count());
        for (first, last) in self.consumed.iter() {
            out.extend(first.to_le_bytes());
            out.extend(last.to_le_bytes());
        }
        count(out, self.remembered.len());
        for batch in &self.remembered {
            text(out, batch.table.as_str());
            text(out, batch.batch.as_str());
            out.extend(batch.content_hash.to_le_bytes());
            out.extend(batch.time.0.to_le_bytes());
            out.extend(batch.rows.to_le_bytes());
        }
        count(out, self.settings.len());
        for (table, bytes) in &self.settings {
            text(out, table.as_str());
            count(out, bytes.len());
            out.extend(bytes);
        }
        count(out, usize::from(self.forget_before.is_some()));
        self.forget_before.iter().for_each(|time| out.extend(time.0.to_le_bytes()));
        count(out, self.logs.len());
        self.logs.iter().for_each(|number| out.extend(number.to_le_bytes()));
        count(out, self.dropped_rows.len());
        for (table, DroppedRows { rows, bytes, until }) in &self.dropped_rows {
            text(out, table.as_str());
            out.extend(rows.to_le_bytes());
            out.extend(bytes.to_le_bytes());
            out.extend(until.0.to_le_bytes());
        }
    }

    /// Reads the body of a record; `None` if it breaks a rule of the format. Records of the
    /// previous version have no checksums of blocks.
    pub(crate) fn decode(body: &[u8], has_checksums: bool) -> Option<Self> {
        let mut reader = Reader(body);
        let drops = reader.list(Reader::table)?;
        let removes = reader.list(|reader| reader.u64().map(BlockNumber))?;
        let mut last: Option<TableName> = None;
        let adds = reader.list(|reader| reader.block_record(has_checksums, &mut last))?;
        let mut consumed = SequenceSet::default();
        for (first, last) in reader.list(|reader| Some((reader.u64()?, reader.u64()?)))? {
            consumed.insert(first, last);
        }
        let remembered = reader.list(Reader::remembered)?;
        let settings = reader.list(Reader::settings)?;
        let forget = reader.list(|reader| reader.i64().map(Micros))?;
        let logs = reader.list(Reader::u64)?;
        let dropped_rows = reader.list(Reader::dropped_rows)?;
        let is_whole = reader.0.is_empty() && forget.len() <= 1;
        is_whole.then(|| Self {
            drops,
            removes,
            adds,
            consumed,
            remembered,
            settings,
            forget_before: forget.first().copied(),
            logs: logs.into_iter().collect(),
            dropped_rows,
        })
    }
}

/// A count that does not fit means gigabytes of entries, which no frame can hold.
fn count(out: &mut Vec<u8>, count: usize) {
    out.extend(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

/// Names and ids have at most 128 bytes: tables by their type, batch ids by the log's check.
fn text(out: &mut Vec<u8>, text: &str) {
    out.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
    out.extend(text.as_bytes());
}

/// Reads untrusted bytes from the front.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    fn text(&mut self) -> Option<&'a str> {
        let [length] = self.array()?;
        std::str::from_utf8(self.bytes(usize::from(length))?).ok()
    }

    fn table(&mut self) -> Option<TableName> {
        TableName::new(self.text()?).ok()
    }

    /// Reads a counted list. Memory grows with the entries that are read, not with the count.
    pub(crate) fn list<T>(
        &mut self,
        mut entry: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let count = self.u32()?;
        let mut entries = Vec::new();
        for _ in 0..count {
            entries.push(entry(self)?);
        }
        Some(entries)
    }

    /// Reads a block. `last` is the previous block's table, which most blocks share.
    fn block_record(
        &mut self,
        has_checksum: bool,
        last: &mut Option<TableName>,
    ) -> Option<BlockRecord> {
        let number = BlockNumber(self.u64()?);
        let (offset, segment, length) = (self.u64()?, self.u32()?, self.u32()?);
        let rows = self.u32()?;
        let checksum = match has_checksum {
            true => Checksum(self.u64()?),
            false => Checksum::UNKNOWN,
        };
        let location = BlockLocation { segment, offset, length };
        let is_length = (1..=BLOCK_BYTES_MAX as u64).contains(&u64::from(length));
        let is_offset = offset >= PAGE && offset % PAGE == 0;
        let name = self.text()?;
        let table = match last {
            Some(table) if table.as_str() == name => table.clone(),
            _ => last.insert(TableName::new(name).ok()?).clone(),
        };
        let block = BlockRecord { number, table, rows, location, checksum };
        (is_length && is_offset).then_some(block)
    }

    fn remembered(&mut self) -> Option<RememberedBatch> {
        Some(RememberedBatch {
            table: self.table()?,
            batch: BatchId::new(self.text()?)?,
            content_hash: self.u64()?,
            time: Micros(self.i64()?),
            rows: self.u32()?,
        })
    }

    fn settings(&mut self) -> Option<(TableName, Vec<u8>)> {
        let table = self.table()?;
        let length = usize::try_from(self.u32()?).ok()?;
        (length <= TABLE_SETTINGS_BYTES_MAX).then_some(())?;
        Some((table, self.bytes(length)?.to_vec()))
    }

    fn dropped_rows(&mut self) -> Option<(TableName, DroppedRows)> {
        let table = self.table()?;
        let (rows, bytes, until) = (self.u64()?, self.u64()?, Micros(self.i64()?));
        Some((table, DroppedRows { rows, bytes, until }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample() -> Record {
        let table = TableName::new("requests").expect("a name");
        let location = BlockLocation { segment: 3, offset: 2 * PAGE, length: 77 };
        Record {
            drops: vec![TableName::new("old").expect("a name")],
            removes: vec![BlockNumber(4), BlockNumber(5)],
            adds: vec![BlockRecord {
                number: BlockNumber(9),
                table: table.clone(),
                rows: 5,
                location,
                checksum: Checksum(0xabcd),
            }],
            consumed: [3, 4, 5, 9].map(crate::ids::Sequence).into_iter().collect(),
            remembered: vec![RememberedBatch {
                table: table.clone(),
                batch: BatchId::new("batch").expect("an id"),
                content_hash: 0xfeed,
                rows: 12,
                time: Micros(-5),
            }],
            settings: vec![(table.clone(), b"time".to_vec())],
            forget_before: Some(Micros(17)),
            logs: [2, 3].into(),
            dropped_rows: vec![(table, DroppedRows { rows: 6, bytes: 7, until: Micros(-1) })],
        }
    }

    fn encoded(record: &Record) -> Vec<u8> {
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        bytes
    }

    #[test]
    fn a_record_is_read_back() {
        for record in [Record::default(), sample()] {
            assert_eq!(Record::decode(&encoded(&record), true), Some(record));
        }
    }

    #[test]
    fn the_layout_is_the_one_of_the_spec() {
        let bytes = encoded(&sample());
        let expected: &[&[u8]] = &[
            b"\x01\0\0\0\x03old",
            b"\x02\0\0\0\x04\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0",
            b"\x01\0\0\0\x09\0\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\x03\0\0\0\x4d\0\0\0",
            b"\x05\0\0\0\xcd\xab\0\0\0\0\0\0\x08requests",
            b"\x02\0\0\0\x03\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0",
            b"\x01\0\0\0\x08requests\x05batch\xed\xfe\0\0\0\0\0\0\xfb\xff\xff\xff\xff\xff\xff\xff",
            b"\x0c\0\0\0",
            b"\x01\0\0\0\x08requests\x04\0\0\0time",
            b"\x01\0\0\0\x11\0\0\0\0\0\0\0",
            b"\x02\0\0\0\x02\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0",
            b"\x01\0\0\0\x08requests\x06\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0",
            b"\xff\xff\xff\xff\xff\xff\xff\xff",
        ];
        assert_eq!(bytes, expected.concat());
    }

    #[test]
    fn no_shorter_or_longer_body_passes() {
        let bytes = encoded(&sample());
        for cut in 0..bytes.len() {
            assert_eq!(Record::decode(&bytes[..cut], true), None, "cut at {cut}");
        }
        assert_eq!(Record::decode(&[&bytes[..], b"\0"].concat(), true), None);
    }

    #[test]
    fn places_that_cannot_be_are_refused() {
        for (offset, length) in [(0, 1), (PAGE + 1, 1), (PAGE, 0), (PAGE, (1 << 28) + 1)] {
            let mut record = sample();
            record.adds[0].location = BlockLocation { segment: 1, offset, length };
            assert_eq!(Record::decode(&encoded(&record), true), None, "{offset} {length}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_without_panic(
            at in 0usize..200, bytes in prop::collection::vec(any::<u8>(), 0..40)
        ) {
            let mut body = encoded(&sample());
            let at = at.min(body.len());
            let end = (at + bytes.len()).min(body.len());
            body.splice(at..end, bytes);
            if let Some(record) = Record::decode(&body, true) {
                prop_assert_eq!(Record::decode(&encoded(&record), true), Some(record));
            }
        }
    }
}
