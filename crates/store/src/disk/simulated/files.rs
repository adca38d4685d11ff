//! The files of the simulated disk.

use std::io;

use rustix::io::Errno;

use super::{AppendFile, FileIdentity, SegmentFile, World, size};

/// An append-only file.
#[derive(Debug)]
pub(super) struct SimulatedFile {
    pub(super) world: World,
    pub(super) file: usize,
}

impl AppendFile for SimulatedFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut machine = self.world.machine();
        let is_up = machine.operate()?;
        let written = if is_up { bytes.len() } else { machine.random.below(bytes.len() + 1) };
        let length = machine.files[self.file].now.len();
        let (end, result) = machine.grow(self.file, length + written);
        let is_written_back = machine.random.below(4) == 0;
        let file = &mut machine.files[self.file];
        file.now.extend_from_slice(&bytes[..end - length]);
        if is_written_back {
            // The system may write unsynced bytes at any time.
            file.durable.clone_from(&file.now);
        }
        if is_up { result } else { Err(io::Error::other("the power failed")) }
    }

    fn set_aside(&mut self, offset: u64, bytes: u64) -> io::Result<()> {
        let mut machine = self.world.machine();
        let before = machine.free_bytes;
        let (end, result) = machine.grow(self.file, size(offset + bytes));
        match &result {
            Ok(()) => machine.files[self.file].aside = end,
            Err(_) => machine.free_bytes = before,
        }
        result
    }

    fn punch(&mut self, offset: u64, length: u64) -> io::Result<()> {
        let mut machine = self.world.machine();
        let is_up = machine.operate()?;
        let range = size(offset)..size(offset + length);
        let is_written_back = machine.random.flip();
        let file = &mut machine.files[self.file];
        file.now[range.clone()].fill(0);
        if is_written_back && let Some(durable) = file.durable.get_mut(range.clone()) {
            durable.fill(0);
        }
        let held = file.held();
        file.holes.extend(range);
        machine.shrunk(self.file, held);
        if is_up { Ok(()) } else { Err(io::Error::other("the power failed")) }
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        let length = size(length);
        self.world.machine().operate_whole(|machine| {
            let file = &mut machine.files[self.file];
            let held = file.held();
            file.now.truncate(length);
            file.holes.retain(|&at| at < length);
            file.aside = 0;
            machine.shrunk(self.file, held);
        })
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut machine = self.world.machine();
        while machine.holds_sync {
            machine.held_syncs += 1;
            self.world.changed.wait(&mut machine);
            machine.held_syncs -= 1;
        }
        machine.syncs += 1;
        if machine.fails_sync {
            return Err(io::Error::from_raw_os_error(Errno::IO.raw_os_error()));
        }
        machine.operate_whole(|machine| {
            let file = &mut machine.files[self.file];
            file.durable.clone_from(&file.now);
        })
    }
}

/// A segment file: a real one with its unsynced ranges.
#[derive(Debug)]
pub(super) struct SimulatedSegment {
    pub(super) world: World,
    pub(super) file: usize,
    pub(super) real: Box<dyn SegmentFile>,
}

impl SegmentFile for SimulatedSegment {
    fn length(&self) -> u64 {
        self.real.length()
    }

    fn identity(&self) -> io::Result<FileIdentity> {
        Ok(FileIdentity { device: 0, number: self.file as u64, length: self.length() })
    }

    fn allocated(&self) -> io::Result<u64> {
        self.real.allocated()
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut machine = self.world.machine();
        let is_up = machine.operate()?;
        let (fits, result) = machine.fit(bytes.len());
        self.real.write(offset, &bytes[..fits.max(1)])?;
        machine.files[self.file].unsynced.push(offset..offset + bytes.len() as u64);
        if is_up { result } else { Err(io::Error::other("the power failed")) }
    }

    fn map(&self) -> io::Result<()> {
        self.real.map()
    }

    fn bytes(&self, offset: u64, length: usize) -> Option<&[u8]> {
        self.real.bytes(offset, length)
    }

    fn faults(&self) -> u64 {
        0
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let mut machine = self.world.machine();
        while machine.holds_reads && offset > 0 {
            machine.held_reads += 1;
            self.world.changed.wait(&mut machine);
            machine.held_reads -= 1;
        }
        machine.operate()?;
        drop(machine);
        self.real.read(offset, into)
    }

    fn has_hole(&self, offset: u64, length: u64) -> io::Result<bool> {
        self.real.has_hole(offset, length)
    }

    fn expect(&self, offset: u64, length: u64) {
        self.real.expect(offset, length);
    }

    fn forget(&self, offset: u64, length: u64) {
        self.real.forget(offset, length);
    }

    fn forget_mapped(&self, offset: u64, length: u64) {
        self.real.forget_mapped(offset, length);
    }

    fn punch(&self, offset: u64, length: u64) -> io::Result<()> {
        if self.world.machine().operate()? {
            self.real.punch(offset, length)
        } else {
            Err(io::Error::other("the power failed"))
        }
    }

    fn sync(&self) -> io::Result<()> {
        let mut machine = self.world.machine();
        if machine.fails_sync {
            return Err(io::Error::from_raw_os_error(Errno::IO.raw_os_error()));
        }
        machine.operate_whole(|machine| machine.files[self.file].unsynced.clear())
    }
}
