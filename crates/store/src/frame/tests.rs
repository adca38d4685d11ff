use proptest::prelude::*;

use super::*;

const SALT: u64 = 0x5eed;

fn frame(sequence: u64, body: &[u8]) -> Vec<u8> {
    let bytes = [&[0; HEADER_BYTES], body].concat();
    Draft::new(LOG, SALT, bytes).expect("a short body").seal(SALT, sequence)
}

fn sequences(scan: &Scan<'_>) -> Vec<u64> {
    scan.frames.iter().map(|frame| frame.sequence).collect()
}

fn three() -> Vec<Vec<u8>> {
    (1..=3).map(|at| frame(at, format!("body of frame {at}").as_bytes())).collect()
}

#[test]
fn the_layout_is_the_one_of_the_spec() {
    let bytes = frame(0x0102_0304_0506_0708, b"abc");
    assert_eq!(&bytes[..8], b"\x89HDLLOG\x01");
    assert_eq!(&bytes[8..16], [8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(&bytes[16..24], [3, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[24..32], XxHash3_64::oneshot_with_seed(SALT, b"abc").to_le_bytes());
    assert_eq!(bytes[32..40], XxHash3_64::oneshot_with_seed(SALT, &bytes[..32]).to_le_bytes());
    assert_eq!(&bytes[40..], b"abc");
}

#[test]
fn every_cut_keeps_the_whole_frames_before_it() {
    let frames = three();
    let file = frames.concat();
    for cut in 0..=file.len() {
        let scan = scan(LOG, SALT, &file[..cut]);
        let whole = cut / frames[0].len();
        assert_eq!(scan.frames.len(), whole, "cut at {cut}");
        assert_eq!(scan.end, whole * frames[0].len(), "cut at {cut}");
        assert!(scan.damage.is_empty(), "cut at {cut}");
    }
}

#[test]
fn every_flipped_bit_costs_one_frame_and_is_seen() {
    let frames = three();
    let length = frames[0].len();
    let file = frames.concat();
    for bit in 0..file.len() * 8 {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let scan = scan(LOG, SALT, &damaged);
        let hit = bit / 8 / length;
        let expected: Vec<u64> = (1..=3).filter(|&at| at != hit as u64 + 1).collect();
        assert_eq!(sequences(&scan), expected, "bit {bit}");
        if hit < 2 {
            assert_eq!(scan.damage.len(), 1, "bit {bit}");
            assert_eq!(scan.damage[0], hit * length..(hit + 1) * length, "bit {bit}");
        } else {
            assert_eq!(scan.end, 2 * length, "bit {bit}");
        }
    }
}

#[test]
fn a_zero_filled_tail_is_torn() {
    let mut file = three().concat();
    let end = file.len();
    file.resize(end + 5_000, 0);
    let scan = scan(LOG, SALT, &file);
    assert_eq!((scan.end, scan.frames.len(), scan.damage.len()), (end, 3, 0));
}

/// A client that knows the format but not the salt puts a frame into a batch. The frame around it
/// has a damaged header, so the reader has to search.
#[test]
fn a_forged_frame_in_a_body_is_not_found() {
    let bytes = [&[0; HEADER_BYTES][..], b"forged"].concat();
    let forged = Draft::new(LOG, 0, bytes).expect("a short body").seal(0, 77);
    let mut file = [frame(1, &forged), frame(2, b"good")].concat();
    file[9] ^= 1;
    assert_eq!(sequences(&scan(LOG, SALT, &file)), [2]);
}

#[test]
fn a_damaged_frame_hides_nothing_after_it() {
    // Bytes are missing in the middle of a file: the first frame's end is gone.
    let (first, second) = (frame(1, &[7; 100]), frame(2, b"good"));
    for rest in [0, 1_000] {
        let file = [&first[..60], &second, &vec![0; rest]].concat();
        let scan = scan(LOG, SALT, &file);
        assert_eq!(sequences(&scan), [2]);
        assert_eq!((scan.damage.len(), &scan.damage[0]), (1, &(0..60)));
    }
}

#[test]
fn frames_of_another_kind_or_salt_are_damage() {
    let file = three().concat();
    assert!(scan(MANIFEST, SALT, &file).frames.is_empty());
    assert!(scan(LOG, SALT + 1, &file).frames.is_empty());
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let scan = scan(LOG, SALT, &bytes);
        prop_assert!(scan.frames.is_empty());
        prop_assert_eq!(scan.end, 0);
    }

    /// Whole frames with junk between them: all are read, in order.
    #[test]
    fn junk_between_frames_is_passed_over(
        parts in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..60), any::<bool>()), 1..8)
    ) {
        let mut file = Vec::new();
        let mut expected = Vec::new();
        for (at, (bytes, is_frame)) in parts.iter().enumerate() {
            if *is_frame {
                file.extend(frame(at as u64, bytes));
                expected.push(at as u64);
            } else {
                file.extend_from_slice(bytes);
            }
        }
        prop_assert_eq!(sequences(&scan(LOG, SALT, &file)), expected);
    }
}
