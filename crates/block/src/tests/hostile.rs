//! Untrusted bytes: altered bytes are detected, and any bytes with correct checksums are read
//! without a panic.

use hadal_types::{BatchId, Micros, Value};
use twox_hash::XxHash3_64;

use super::model::{Random, Row, build, cold, random_rows};
use crate::header::{CHECKSUM_BYTES, Header};
use crate::{BlockError, BlockView, Chill, MergeOrder, Sampling, chill, merge, sample};

/// Calls everything that reads a block; errors are fine.
fn use_all(block: &BlockView<'_>) {
    for column in block.columns() {
        if let Ok(data) = column.decode() {
            for row in [0, 1, block.rows() / 2, block.rows() - 1, block.rows()] {
                let _ = data.value(row);
            }
        }
        let _ = column.encoding_name();
        if let Ok(Some(numbers)) = column.numbers() {
            let near = numbers.integers.frame_of_reference();
            let _ = near.map(|near| numbers.integers.steps_where(&near, None));
            let _ =
                (numbers.integers.fold(), numbers.base.checked_add(i64::MAX.into()).expect("fits"));
        }
    }
    assert!(block.batches().iter().all(|batch| batch.first_row + batch.rows <= block.rows()));
}

/// Corrects the front's checksum, if the header is valid enough to locate it.
pub(super) fn seal(bytes: &mut [u8]) {
    let Ok(header) = Header::read(bytes) else { return };
    let (covered, rest) = bytes.split_at_mut(header.front_bytes() - CHECKSUM_BYTES);
    rest[..CHECKSUM_BYTES].copy_from_slice(&XxHash3_64::oneshot(covered).to_le_bytes());
}

/// Corrects the checksums of all bodies as well.
fn seal_bodies(bytes: &mut [u8]) {
    let header = Header::read(bytes).expect("a header");
    let mut start = header.front_bytes();
    let mut directory = Vec::new();
    for column in BlockView::parse(bytes).expect("parses").columns() {
        let end = start + column.encoded_bytes();
        let mut entry = column.entry.clone();
        entry.checksum = XxHash3_64::oneshot(&bytes[start..end]);
        entry.write(&mut directory);
        start = end;
    }
    let at = crate::header::HEADER_BYTES;
    bytes[at..at + directory.len()].copy_from_slice(&directory);
    seal(bytes);
}

fn some_block(random: &mut Random) -> Vec<u8> {
    let count = random.pick(&[1, 2, 20, 1_024, 1_100, 2_050]);
    let batch = BatchId::new("a-batch").expect("valid");
    let mut rows = random_rows(random, count);
    if count > 2_048 {
        let rates = rows.iter_mut().map(|row| row.cells.entry("sample_rate".to_owned()));
        rates.for_each(|rate| _ = rate.or_insert(Value::integer(20)));
    }
    let warm = build(&rows, Some(&batch));
    if random.below(3) == 0 { cold(&warm) } else { warm }
}

#[test]
fn every_altered_byte_is_noticed() {
    for seed in 0..12 {
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let count = 1 + random.below(30);
        let warm = build(&random_rows(&mut random, count), None);
        let bytes = if seed.is_multiple_of(3) { cold(&warm) } else { warm };
        for at in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[at] ^= 1 << random.below(8);
            let verified = BlockView::parse(&altered).and_then(|block| block.verify());
            assert!(verified.is_err(), "byte {at} of {}", bytes.len());
        }
        for end in 0..bytes.len() {
            assert!(BlockView::parse(&bytes[..end]).is_err(), "cut at {end}");
        }
        let longer = [bytes.as_slice(), &[0; 8]].concat();
        assert!(BlockView::parse(&longer).is_err());
    }
}

#[test]
fn random_bytes_are_refused() {
    let mut random = Random::new(1);
    let good = build(&random_rows(&mut Random::new(3), 5), None);
    for round in 0..20_000 {
        let length = random.below(400);
        let mut bytes: Vec<u8> = (0..length).map(|_| random.next().to_le_bytes()[0]).collect();
        let keep = random.below(100).min(length).min(good.len());
        bytes[..keep].copy_from_slice(&good[..keep]);
        assert!(BlockView::parse(&bytes).is_err(), "round {round}");
    }
}

#[test]
fn mutated_fronts_with_right_checksums_never_panic() {
    let mut survivors = 0;
    for seed in 0..150 {
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let bytes = some_block(&mut random);
        let front = Header::read(&bytes).expect("a header").front_bytes();
        for _ in 0..40 {
            let mut altered = bytes.clone();
            for _ in 0..=random.below(3) {
                altered[12 + random.below(front - 12)] =
                    random.pick(&[0, 1, 2, 3, 0x7F, 0x80, 0xFF]);
            }
            seal(&mut altered);
            if let Ok(block) = BlockView::parse(&altered) {
                survivors += 1;
                use_all(&block);
            }
        }
    }
    assert!(survivors > 100, "only {survivors} got past the front");
}

#[test]
fn mutated_bodies_with_right_checksums_never_panic() {
    let by = ["c0", "c1"].map(super::model::name);
    let (mut merged, mut sampled) = (0, 0);
    for seed in 0..150 {
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let bytes = some_block(&mut random);
        let front = Header::read(&bytes).expect("a header").front_bytes();
        for _ in 0..25 {
            let mut altered = bytes.clone();
            for _ in 0..=random.below(4) {
                let at = front + random.below(bytes.len() - front);
                altered[at] = random.pick(&[0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x41]);
            }
            seal_bodies(&mut altered);
            let block = BlockView::parse(&altered).expect("the front is as it was");
            block.verify().expect("checksums are right");
            use_all(&block);
            // The same invalid content may also be in a frame.
            if let Ok(Some(cold)) = chill(&block, Chill::All) {
                use_all(&BlockView::parse(&cold).expect("the front is in order"));
            }
            let key = random.pick(&[None, Some(&by[0])]);
            let sampling = Sampling { one_in: 10, key, by: &by[..random.below(3)], least: 2 };
            let left = sample(&block, &sampling).unwrap_or_default();
            sampled += left.len();
            left.iter().for_each(|left| use_all(&BlockView::parse(left).expect("parses")));
            let order = random.pick(&[MergeOrder::Arrival, MergeOrder::Time]);
            merged += usize::from(merge(&[block.clone(), block], order, Micros(0)).is_ok());
        }
    }
    assert!(merged > 100, "only {merged} could be merged");
    assert!(sampled > 100, "only {sampled} could be sampled");
}

#[test]
fn errors_name_the_place() {
    let rows = random_rows(&mut Random::new(2), 40);
    let bytes = build(&rows, None);
    let message = |altered: &[u8]| match BlockView::parse(altered).and_then(|block| block.verify())
    {
        Err(error) => error.to_string(),
        Ok(()) => panic!("it is noticed"),
    };
    assert_eq!(
        message(b"PAR1...."),
        "bytes that begin with [50, 41, 52, 31, 2e, 2e, 2e, 2e] are not a row block"
    );
    let with = |at: usize, value: u8| {
        let mut altered = bytes.clone();
        altered[at] = value;
        altered
    };
    assert_eq!(
        message(&with(7, 2)),
        "row block frame version 2 is not known, the newest known is 1"
    );
    assert_eq!(
        message(&with(8, 9)),
        "row block encoding version 9 is not known, the newest known is 6"
    );
    assert_eq!(message(&with(80, 9)), "the front of a row block has a wrong checksum");
    let values = ["1e300", "9007199254740993"].map(|text| text.parse().expect("a number"));
    let rows = values.map(|number| Row {
        time: Micros(0),
        cells: [("x".to_owned(), Value::Number(number))].into_iter().collect(),
    });
    let mut older = build(&rows, None);
    older[8] = 1;
    seal(&mut older);
    let error = message(&older);
    assert!(error.ends_with("corrupt: encoding mixed is not of version 1, expected 2"), "{error}");
    let last = bytes.len() - 1;
    let error = message(&with(last, bytes[last] ^ 1));
    assert!(
        error.starts_with("row block column ") && error.ends_with(" has a wrong checksum"),
        "{error}"
    );
    assert!(matches!(BlockView::parse(&[]), Err(BlockError::Encoding { .. })));
}
