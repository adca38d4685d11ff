use super::*;
use crate::readings::Layout;

/// FNV-1a, 64 bits.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn lines(requests: &Requests, weight_column: &str) -> Vec<u8> {
    let lines = RequestLines::new(requests, weight_column);
    let mut text = Vec::new();
    requests.chunk(0).iter().for_each(|row| lines.write(row, &mut text));
    text
}

/// Figures are compared over time, so a seed's rows must never change.
#[test]
fn the_first_rows_stay_what_they_are() {
    let plain = lines(&Requests::new(1, 1_000, false), "sample_rate");
    let full = lines(&Requests::new(1, 1_000, true), "sample_rate");
    assert_eq!(checksum(&plain), 0xedb9_f321_4244_cef2);
    assert_eq!(checksum(&full), 0x28ea_5495_4781_d60a);
    let other = lines(&Requests::new(2, 1_000, false), "sample_rate");
    assert_ne!(checksum(&plain), checksum(&other));
}

#[test]
fn the_first_line_is_as_described() {
    let text = lines(&Requests::new(1, 1_000, false), "rate");
    let text = String::from_utf8(text).unwrap();
    let expected = concat!(
        r#"{"time":1767571294,"kind":"server","endpoint":"/api/v2/user/address/import","#,
        r#""country":"AR","latency_us":7018,"user_id":5878361893,"build":"2026.2.4","rate":10,"#,
        r#""service":"cart-gateway","host":"node-0527.eu-west-1.prod.net","#,
        r#""datacenter":"eu-west-1","status":200,"bytes":81936,"#,
        r#""message":"connection reset by /api/v2/user/address/import id=260629774"}"#,
    );
    assert_eq!(text.lines().next(), Some(expected));
}

#[test]
fn lines_are_as_long_as_they_should_be() {
    for (is_full, expected) in [(false, 323.0), (true, 607.0)] {
        let text = lines(&Requests::new(1, 20_000, is_full), "sample_rate");
        let mean = text.len() as f64 / 20_000.0;
        assert!((mean - expected).abs() < 0.03 * expected, "{mean}");
    }
}

#[test]
fn a_file_is_the_same_whatever_the_threads() {
    let folder = std::env::temp_dir().join(format!("hadal-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let written = |threads: usize| {
        let path = folder.join(format!("{threads}.jsonl"));
        let output = Output { path: &path, threads: threads.try_into().unwrap() };
        write_readings(&Readings::new(1, 2_200_000, Layout::TimeMajor), &output).unwrap();
        checksum(&std::fs::read(path).unwrap())
    };
    assert_eq!(written(1), written(3));
    std::fs::remove_dir_all(folder).unwrap();
}
