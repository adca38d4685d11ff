//! The file by which an aggregator still knows its expected rows after a restart
//! (`spec/expected-rows.md`).

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hadal_peer::ExpectedRowsDelta;
use hadal_tree::ExpectedRows;
use hadal_types::limits::{EXPECTED_ROWS_WRITE_SECONDS, MESSAGE_BYTES_MAX};
use hadal_wire::{decode_expected_rows, encode_expected_rows};
use parking_lot::Mutex;
use tokio::task::spawn_blocking;
use twox_hash::XxHash3_64;

use crate::error::Error;
use crate::output;
use crate::process::data_folder::open_regular;

/// The file's name in the data folder.
const NAME: &str = "expected-rows";
/// Its first bytes; the last one is the version of the format.
const MAGIC: [u8; 8] = *b"\x89HDLEXP\x01";
/// The time between two writes, if anything has changed.
const PAUSE: Duration = Duration::from_secs(EXPECTED_ROWS_WRITE_SECONDS);
/// A write that takes long is followed by a pause of this many times its duration.
const PAUSE_TIMES: u32 = 20;

/// The file in one data folder.
pub(crate) struct ExpectedRowsFile {
    folder: PathBuf,
    expected_rows: Arc<ExpectedRows>,
    /// The version of the expected rows that were written last. Locked during a write.
    written: Mutex<u64>,
}

impl ExpectedRowsFile {
    /// Adds the content of the file in `folder` to `expected_rows`. A damaged file is put aside,
    /// after its sound part was read.
    ///
    /// # Errors
    /// When it cannot be put aside.
    pub(crate) fn open(folder: &Path, expected_rows: &Arc<ExpectedRows>) -> Result<Self, Error> {
        let file = folder.join(NAME);
        let read = match open_regular(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error.to_string()),
            Ok(opened) => read(BufReader::new(opened), |delta| expected_rows.merge(&delta)),
        };
        if let Err(damage) = read {
            let aside = folder.join(format!("{NAME}.damaged"));
            fs::rename(&file, &aside).map_err(Error::io("put aside", file.display()))?;
            output::say(&format!(
                "{} is damaged ({damage}) and now {NAME}.damaged: until other members tell what they \
                 know, answers may not count rows of leaves that are away",
                file.display()
            ));
        }
        let (folder, expected_rows) = (folder.to_path_buf(), Arc::clone(expected_rows));
        Ok(Self { folder, expected_rows, written: Mutex::new(0) })
    }

    /// Writes the file if anything has changed since it was written last.
    pub(crate) fn write(&self) -> Result<(), Error> {
        let mut written = self.written.lock();
        let version = self.expected_rows.version();
        if *written == version {
            return Ok(());
        }
        let (file, new) = (self.folder.join(NAME), self.folder.join(format!("{NAME}.new")));
        let write = || {
            let messages: Vec<_> =
                self.expected_rows.everything().map(|delta| encode_expected_rows(&delta)).collect();
            let mut out = BufWriter::new(File::create(&new)?);
            out.write_all(&MAGIC)?;
            out.write_all(&u32_of(messages.len())?.to_le_bytes())?;
            for message in messages {
                out.write_all(&u32_of(message.len())?.to_le_bytes())?;
                out.write_all(&XxHash3_64::oneshot(&message).to_le_bytes())?;
                out.write_all(&message)?;
            }
            out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            fs::rename(&new, &file)?;
            File::open(&self.folder)?.sync_all()
        };
        write().map_err(Error::io("write", file.display()))?;
        *written = version;
        Ok(())
    }

    /// Writes the file from time to time, until the process ends. Failures are reported once.
    pub(crate) async fn keep(self: Arc<Self>) {
        let mut has_failed = false;
        loop {
            let start = Instant::now();
            let file = Arc::clone(&self);
            // The runtime ends while it writes, if there is no outcome.
            let Ok(written) = spawn_blocking(move || file.write()).await else { return };
            if let Err(error) = &written
                && !has_failed
            {
                output::say(&format!("{error}; it is tried again"));
            }
            has_failed = written.is_err();
            tokio::time::sleep(pause_after(start.elapsed())).await;
        }
    }
}

/// The pause after a write that took this long.
fn pause_after(took: Duration) -> Duration {
    PAUSE.max(took * PAUSE_TIMES)
}

fn u32_of(length: usize) -> io::Result<u32> {
    u32::try_from(length).map_err(io::Error::other)
}

/// Reads a file, and passes each sound message on.
///
/// # Errors
/// Why the rest cannot be read, in words.
fn read(mut file: impl Read, mut learn: impl FnMut(ExpectedRowsDelta)) -> Result<(), String> {
    let magic: [u8; 8] = bytes(&mut file)?;
    if magic[..7] != MAGIC[..7] {
        return Err("it begins with other bytes".to_owned());
    }
    if magic[7] != MAGIC[7] {
        return Err(format!("version {} of the format, not {}", magic[7], MAGIC[7]));
    }
    let count = u32::from_le_bytes(bytes(&mut file)?);
    for index in 0..count {
        let length = u64::from(u32::from_le_bytes(bytes(&mut file)?));
        let checksum = u64::from_le_bytes(bytes(&mut file)?);
        if length > MESSAGE_BYTES_MAX as u64 {
            return Err(format!(
                "message {index} has {length} bytes, and {MESSAGE_BYTES_MAX} are allowed"
            ));
        }
        let mut message = Vec::new();
        file.by_ref().take(length).read_to_end(&mut message).map_err(|error| error.to_string())?;
        if message.len() as u64 != length || XxHash3_64::oneshot(&message) != checksum {
            return Err(format!("message {index} does not match its checksum"));
        }
        learn(decode_expected_rows(message.into()).map_err(|error| error.to_string())?);
    }
    match file.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err("there is more after its end".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn bytes<const N: usize>(file: &mut impl Read) -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    let read = file.read_exact(&mut bytes);
    read.map(|()| bytes).map_err(|_| "its end is missing".to_owned())
}

#[cfg(test)]
mod tests;
