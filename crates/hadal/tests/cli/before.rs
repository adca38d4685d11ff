//! The reader of data folders (version 4) of the previous program, as of commit 993032c, written
//! from `spec/segments.md` and `spec/wal.md` as of then. It shares no code with the program and
//! does not change with it. A folder that it refuses cannot be used after a downgrade by one
//! release. When a release is made, this reader must become that release's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde_json::Value;
use twox_hash::XxHash3_64;

pub(crate) const HEADER_BYTES: usize = 40;
const PAGE: u64 = 4_096;
const BLOCK_BYTES_MAX: u64 = 256 << 20;
/// The lists of a record, in their order.
pub(crate) const LISTS: &str =
    "drops removes adds consumed remembered settings forget logs dropped";

/// The value read, or the reason for refusing it.
pub(crate) type Read<T> = Result<T, String>;

/// Statistics of a folder, by which a test knows that it covers enough.
#[derive(Debug, Default)]
pub(crate) struct FolderStats {
    /// Entries of each list of records.
    pub(crate) lists: BTreeMap<&'static str, usize>,
    pub(crate) settings: BTreeSet<String>,
    /// Codecs of log frames.
    pub(crate) codecs: BTreeSet<u8>,
    pub(crate) blocks: usize,
    /// Marks of an orderly stop: in memory, and on disk.
    pub(crate) marks: (usize, usize),
}

fn demand(condition: bool, what: &str) -> Read<()> {
    if condition { Ok(()) } else { Err(what.to_owned()) }
}

fn sum(salt: u64, bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(salt, bytes)
}

/// Untrusted bytes, read from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or("it is too short")?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self, bytes: usize) -> Read<u64> {
        let taken = self.take(bytes)?;
        Ok(taken.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn size(&mut self) -> Read<usize> {
        Ok(usize::try_from(self.number(4)?).unwrap())
    }

    fn name(&mut self, fits: impl Fn(u8) -> bool) -> Read<&'a str> {
        let length = usize::from(self.take(1)?[0]);
        let name = self.take(length)?;
        let is_name = (1..=128).contains(&length) && name.iter().all(|&byte| fits(byte));
        demand(is_name, "a name that is none")?;
        std::str::from_utf8(name).map_err(|error| error.to_string())
    }

    fn table(&mut self) -> Read<&'a str> {
        let name = self.name(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte))?;
        demand(![".", ".."].contains(&name), "a table of dots").map(|()| name)
    }

    fn batch(&mut self) -> Read<&'a str> {
        self.name(|byte| byte.is_ascii_graphic())
    }
}

/// The bodies of all frames of a file, with their sequences.
pub(crate) fn frames<'a>(kind: &[u8; 3], salt: u64, file: &'a [u8]) -> Read<Vec<(u64, &'a [u8])>> {
    let (mut file, mut frames) = (Bytes(file), Vec::new());
    while !file.0.is_empty() {
        let header = file.take(HEADER_BYTES)?;
        let mut fields = Bytes(header);
        let magic = [b"\x89HDL", &kind[..], b"\x01"].concat();
        demand(fields.take(8)? == magic, "another magic")?;
        let (sequence, length) = (fields.number(8)?, fields.size()?);
        demand(fields.number(4)? == 0, "a header with more")?;
        let (body_sum, header_sum) = (fields.number(8)?, fields.number(8)?);
        let body = file.take(length)?;
        demand(header_sum == sum(salt, &header[..32]), "a header that was altered")?;
        demand(body_sum == sum(salt, body), "a body that was altered")?;
        frames.push((sequence, body));
    }
    Ok(frames)
}

/// The position of a block.
struct BlockPosition {
    offset: u64,
    segment: u64,
    length: u64,
    sum: u64,
}

/// A manifest: its salt, records, bytes, and blocks.
pub(crate) struct Manifest {
    pub(crate) salt: u64,
    records: u64,
    bytes: u64,
    blocks: BTreeMap<u64, BlockPosition>,
    logs: BTreeSet<u64>,
}

/// The head is read before the salt is known.
pub(crate) const HEAD_BYTES: usize = HEADER_BYTES + 32;

pub(crate) fn read_manifest(file: &[u8], stats: &mut FolderStats) -> Read<Manifest> {
    let head = file.get(..HEAD_BYTES).ok_or("no head")?;
    let heads = frames(b"MAN", 0, head)?;
    let mut fields = Bytes(heads[0].1);
    demand(fields.number(4)? == 4, "another version of the folder")?;
    demand(fields.number(4)? == 0, "a head with more")?;
    let salt = fields.number(8)?;
    let mut manifest = Manifest {
        salt,
        records: 1,
        bytes: file.len() as u64,
        blocks: BTreeMap::new(),
        logs: BTreeSet::new(),
    };
    for (number, body) in frames(b"MAN", salt, &file[HEAD_BYTES..])? {
        demand(number == manifest.records, "a record is missing")?;
        read_record(body, &mut manifest, stats).map_err(|why| format!("record {number}: {why}"))?;
        manifest.records += 1;
    }
    Ok(manifest)
}

fn read_record(body: &[u8], manifest: &mut Manifest, stats: &mut FolderStats) -> Read<()> {
    let mut record = Bytes(body);
    manifest.logs.clear();
    for list in LISTS.split(' ') {
        let count = record.size()?;
        *stats.lists.entry(list).or_default() += count;
        demand(list != "forget" || count <= 1, "two times to forget before")?;
        for _ in 0..count {
            let is_known = match list {
                "removes" => manifest.blocks.remove(&record.number(8)?).is_some(),
                "adds" => {
                    let (number, place) = read_add(&mut record)?;
                    manifest.blocks.insert(number, place).is_none()
                }
                "consumed" => record.number(8)? <= record.number(8)?,
                "forget" => record.number(8).map(|_| true)?,
                "logs" => manifest.logs.insert(record.number(8)?),
                _ => read_of_table(list, &mut record, stats).map(|()| true)?,
            };
            demand(is_known, list)?;
        }
    }
    demand(record.0.is_empty(), "more than it knows")
}

/// A block's number and position.
fn read_add(record: &mut Bytes<'_>) -> Read<(u64, BlockPosition)> {
    let (number, offset) = (record.number(8)?, record.number(8)?);
    let (segment, length, _rows) = (record.number(4)?, record.number(4)?, record.number(4)?);
    let place = BlockPosition { offset, segment, length, sum: record.number(8)? };
    record.table()?;
    let is_length = (1..=BLOCK_BYTES_MAX).contains(&length);
    demand(is_length && offset >= PAGE && offset % PAGE == 0, "a place that is none")?;
    Ok((number, place))
}

/// Reads an entry that begins with a table.
fn read_of_table(list: &str, record: &mut Bytes<'_>, stats: &mut FolderStats) -> Read<()> {
    record.table()?;
    match list {
        "drops" => {}
        "remembered" => {
            record.batch()?;
            record.take(8 + 8 + 4)?;
        }
        "settings" => {
            let length = record.size()?;
            demand(length <= 64 << 10, "settings that are too long")?;
            read_settings(record.take(length)?, stats)?;
        }
        _ => drop(record.take(8 + 8 + 8)?),
    }
    Ok(())
}

pub(crate) fn read_settings(bytes: &[u8], stats: &mut FolderStats) -> Read<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let fields: BTreeMap<String, Value> =
        serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    for (name, value) in fields {
        demand(is_setting(&name, &value), &format!("setting {name} is {value}"))?;
        stats.settings.insert(name);
    }
    Ok(())
}

fn is_setting(name: &str, value: &Value) -> bool {
    let is_within =
        |least, most| value.as_u64().is_some_and(|number| (least..=most).contains(&number));
    let is_name = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let text = value.as_str().unwrap_or_default();
    match name {
        "format" => is_within(1, 1),
        "age" | "cold_after" | "sample_after" => {
            let number = text.trim_end_matches(['d', 'h', 'm', 's']);
            text == "none" || text.len() == number.len() + 1 && number.parse::<u64>().is_ok()
        }
        "archive" => value.is_boolean(),
        "bytes" => is_within(1 << 20, 1 << 50),
        "sample_by" => value.as_array().is_some_and(|names| names.iter().all(is_name)),
        "sample_keep" => text.strip_prefix("1/").is_some_and(|share| share.parse::<u16>().is_ok()),
        "sample_key" | "time_column" => is_name(value),
        "sample_least" => is_within(1, 65_536),
        "storage" => ["memory", "mmap"].contains(&text),
        "units" => value.as_object().is_some_and(|units| units.values().all(is_name)),
        _ => false,
    }
}

fn read_log(file: &[u8], salt: u64, stats: &mut FolderStats) -> Read<()> {
    for (_, body) in frames(b"LOG", salt, file)? {
        let mut body = Bytes(body);
        let [codec, table, batch, zero] = body.take(4)? else { return Err("no prefix".into()) };
        let length = body.size()?;
        let names = [&[*table], body.take(usize::from(*table))?].concat();
        Bytes(&names).table()?;
        let names = [&[*batch], body.take(usize::from(*batch))?].concat();
        Bytes(&names).batch()?;
        let is_possible = match codec {
            0 => length == body.0.len() && read_block(body.0).is_ok(),
            1 => (1..=body.0.len() * 255).contains(&length),
            _ => false,
        };
        demand(is_possible && *zero == 0, "a log frame that it does not know")?;
        stats.codecs.insert(*codec);
    }
    Ok(())
}

/// Checks the header of a row block for the versions that it needs.
fn read_block(block: &[u8]) -> Read<()> {
    let mut header = Bytes(block);
    demand(header.take(8)? == b"\x89HDLBLK\x01", "another frame of row blocks")?;
    let encodings = header.number(2)?;
    demand((1..=5).contains(&encodings), "other encodings of row blocks")
}

/// Files like `00000001.log` by their numbers. The program would ignore any other file for ever.
fn numbered(folder: &Path, ending: &str) -> Read<BTreeMap<u64, PathBuf>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(|error| error.to_string())? {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let number = name.strip_suffix(ending).filter(|number| number.len() >= 8);
        let number = number.and_then(|number| number.parse().ok());
        files.insert(number.ok_or_else(|| format!("{name} is in a folder of {ending}"))?, path);
    }
    Ok(files)
}

fn check_segment(path: &Path, number: u64, salt: u64) -> Read<()> {
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    let length = file.metadata().unwrap().len();
    let mut page = [0; 4_096];
    file.read_exact_at(&mut page, 0).map_err(|error| error.to_string())?;
    let mut header = b"\x89HDLSEG\x01".to_vec();
    header.extend(salt.to_le_bytes());
    header.extend(length.to_le_bytes());
    header.extend(number.to_le_bytes());
    header.extend(sum(salt, &header).to_le_bytes());
    header.resize(page.len(), 0);
    demand(page[..] == header, &format!("another header of {}", path.display()))
}

/// Reads a mark of an orderly stop. Returns the number of blocks that are not in memory.
fn read_mark(bytes: &[u8], salt: u64, manifest: &Manifest) -> Read<u64> {
    let (front, checksum) = bytes.split_last_chunk::<8>().ok_or("it is too short")?;
    let mut mark = Bytes(front);
    demand(mark.take(8)? == b"\x89HDLSTP\x01", "another mark")?;
    let position = (mark.number(8)?, mark.number(8)?, mark.number(8)?);
    demand(position == (salt, manifest.records, manifest.bytes), "a mark of another manifest")?;
    let count = mark.number(8)?;
    demand(mark.0.len() as u64 == 8 * count, "a mark with more")?;
    demand(sum(salt, front).to_le_bytes() == *checksum, "a mark that was altered").map(|()| count)
}

fn read_leaf(leaf: &Path, tmpfs: &Path, stats: &mut FolderStats) -> Read<()> {
    let file = fs::read(leaf.join("manifest")).map_err(|error| error.to_string())?;
    let manifest = read_manifest(&file, stats)?;
    let logs = numbered(&leaf.join("log"), ".log")?;
    demand(manifest.logs.iter().all(|log| logs.contains_key(log)), "a log is missing")?;
    for path in logs.values() {
        read_log(&fs::read(path).unwrap(), manifest.salt, stats)?;
    }
    let segments = numbered(&leaf.join("segments"), ".segment")?;
    for (number, path) in &segments {
        check_segment(path, *number, manifest.salt)?;
    }
    for BlockPosition { offset, segment, length, sum: expected } in manifest.blocks.values() {
        let file = fs::File::open(segments.get(segment).ok_or("a segment is missing")?).unwrap();
        let mut block = vec![0; usize::try_from(*length).unwrap()];
        file.read_exact_at(&mut block, *offset).map_err(|error| error.to_string())?;
        demand(*expected == sum(manifest.salt, &block).max(1), "a block that was altered")?;
        read_block(&block)?;
        stats.blocks += 1;
    }
    let reserve = leaf.join("reserve").metadata().map_or(0, |reserve| reserve.len());
    demand(reserve == 0, "what is set aside has bytes")?;
    if let Ok(mark) = fs::read(leaf.join("stopped")) {
        let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap();
        let listed = read_mark(&mark, sum(manifest.salt, &boot), &manifest)?;
        demand(listed == 0, "a mark on disk that lists blocks")?;
        stats.marks.1 += 1;
    }
    read_memory(leaf, tmpfs, &manifest, stats)
}

/// Reads the leaf's memory. The name of its folder depends on the path of the leaf.
fn read_memory(
    leaf: &Path,
    tmpfs: &Path,
    manifest: &Manifest,
    stats: &mut FolderStats,
) -> Read<()> {
    let (leaf, about) = (leaf.canonicalize().unwrap(), leaf.metadata().unwrap());
    let mut of = leaf.to_str().unwrap().as_bytes().to_vec();
    of.extend(about.dev().to_le_bytes());
    of.extend(about.ino().to_le_bytes());
    let memory = tmpfs.join(format!("hadal-{}-{:016x}", about.uid(), sum(0, &of)));
    let Ok(entries) = fs::read_dir(memory) else { return Ok(()) };
    for path in entries.map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        match &*name {
            "leaf" => demand(fs::read(path).unwrap() == leaf.to_str().unwrap().as_bytes(), &name)?,
            "stopped" => {
                read_mark(&fs::read(path).unwrap(), manifest.salt, manifest)?;
                stats.marks.0 += 1;
            }
            _ => {
                let number = name.strip_suffix(".segment").and_then(|number| number.parse().ok());
                check_segment(&path, number.ok_or(&*name)?, manifest.salt)?;
            }
        }
    }
    Ok(())
}

/// Reads a data folder without a server, and its files in a tmpfs.
pub(crate) fn read_folder(data: &Path, tmpfs: &Path, stats: &mut FolderStats) -> Read<()> {
    let leaves = fs::read_to_string(data.join("leaves")).map_err(|error| error.to_string())?;
    let count: usize = leaves.trim().parse().map_err(|_| format!("{leaves:?} leaves"))?;
    for leaf in (0..count).map(|number| data.join(format!("leaf-{number}"))) {
        read_leaf(&leaf, tmpfs, stats).map_err(|why| format!("{}: {why}", leaf.display()))?;
    }
    Ok(())
}
