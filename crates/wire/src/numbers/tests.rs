use hadal_types::limits::FRAMES_MEMORY_MAX;
use proptest::prelude::*;

use super::*;
use crate::error::DecodeErrorKind;

fn read_all(bytes: &[u8], count: usize) -> Result<Vec<u128>, DecodeError> {
    decode(bytes, count, &mut MemoryLimit::new(FRAMES_MEMORY_MAX), Some)
}

fn number() -> impl Strategy<Value = u128> {
    (any::<u128>(), 0u32..128).prop_map(|(number, shift)| number >> shift)
}

proptest! {
    #[test]
    fn numbers_come_through(numbers in prop::collection::vec(number(), 0..40)) {
        let bytes = encode(numbers.iter().copied());
        prop_assert_eq!(count(&bytes), numbers.len());
        prop_assert_eq!(read_all(&bytes, numbers.len()), Ok(numbers.clone()));
        prop_assert!(read_all(&bytes, numbers.len() + 1).is_err());
        if let Some(fewer) = numbers.len().checked_sub(1) {
            prop_assert!(read_all(&bytes, fewer).is_err());
            prop_assert!(read_all(&bytes[..bytes.len() - 1], numbers.len()).is_err());
        }
        for number in numbers {
            prop_assert_eq!(zigzag(of_zigzag(number)), number);
        }
    }

    #[test]
    fn bits_come_through(bits in prop::collection::vec(any::<bool>(), 0..40)) {
        let memory = &mut MemoryLimit::new(FRAMES_MEMORY_MAX);
        let bytes = encode_bits(&bits);
        prop_assert_eq!(decode_bits(&bytes, bits.len(), memory), Ok(bits.clone()));
        prop_assert!(decode_bits(&bytes, bits.len() + 8, memory).is_err());
        prop_assert!(decode_bits(&[&bytes[..], &[0]].concat(), bits.len(), memory).is_err());
    }
}

#[test]
fn small_numbers_of_either_sign_are_short() {
    for (index, number) in (0u128..).zip([0i128, -1, 1, -2, 2]) {
        assert_eq!((zigzag(number), of_zigzag(index)), (index, number));
    }
    assert_eq!(encode([0, 127, 128].into_iter()), [0, 127, 128, 1].as_slice());
    assert_eq!(encode([u128::MAX].into_iter()).len(), BYTES_MAX);
    assert_eq!(zigzag(i128::MIN), u128::MAX);
}

#[test]
fn numbers_are_read_as_prost_writes_them() {
    for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX >> 1, u64::MAX] {
        let mut written = Vec::new();
        prost::encoding::encode_varint(value, &mut written);
        assert_eq!(read_all(&written, 1), Ok(vec![value.into()]));
        assert_eq!(encode([value.into()].into_iter()), written);
    }
}

#[test]
fn integers_of_more_than_128_bits_are_refused() {
    let mut bytes = [0xff; BYTES_MAX];
    bytes[BYTES_MAX - 1] = 0x03;
    assert_eq!(read_all(&bytes, 1), Ok(vec![u128::MAX]));
    bytes[BYTES_MAX - 1] = 0x07;
    let error = read_all(&bytes, 1).expect_err("refused").to_string();
    assert_eq!(error, ": found bad number 0, expected 1 numbers in range");
    assert!(read_all(&[0xff; 40], 1).is_err());
}

#[test]
fn bits_after_the_last_are_refused() {
    let memory = &mut MemoryLimit::new(FRAMES_MEMORY_MAX);
    assert!(decode_bits(&[0b111], 3, memory).is_ok());
    let error = decode_bits(&[0b1111], 3, memory).expect_err("refused").to_string();
    assert_eq!(error, ": found bits in 1 bytes, expected 3 bits");
}

#[test]
fn memory_is_counted_before_there_is_room_made() {
    let bytes = vec![0; 1_000];
    let memory = &mut MemoryLimit::new(30_000);
    assert!(decode(&bytes, 1_000, memory, Some).is_ok());
    let error = decode(&bytes, 1_000, memory, Some).expect_err("refused");
    assert_eq!((memory.left(), error.kind), (14_000, DecodeErrorKind::Memory(30_000)));
}
