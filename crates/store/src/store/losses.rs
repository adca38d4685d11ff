//! The losses of a store, and how they are forgotten.

use hadal_types::Micros;

use super::Store;
use crate::change::Change;
use crate::data_loss::Loss;
use crate::error::Error;
use crate::ids::{BlockNumber, Sequence};

impl Store {
    /// Losses with an unknown number of rows and unknown tables. They are reported from the start
    /// that finds them until they are forgotten, across all restarts. Lost blocks are not among
    /// them.
    #[must_use]
    pub fn losses(&self) -> Vec<Loss> {
        self.losses.list()
    }

    /// The number of these losses.
    #[must_use]
    pub fn loss_count(&self) -> u64 {
        self.losses.count()
    }

    /// Notes which blocks are lost, and when that was found.
    pub fn note_lost_blocks(&self, lost: impl Iterator<Item = BlockNumber>, now: Micros) {
        let noted = self.losses.note_blocks(lost, |number| self.has_block(number), now);
        self.count_failures(u64::from(!noted));
    }

    /// When a block was found to be lost, if it is.
    #[must_use]
    pub fn lost_since(&self, block: BlockNumber) -> Option<Micros> {
        self.losses.block_found(block)
    }

    /// Forgets the losses of [`Self::losses`], or only those found before a time. Remaining damage
    /// in the folder is not reported any more. Returns whether there was any loss.
    ///
    /// # Errors
    /// As [`Self::commit`]; [`Error::Full`] also if the losses would be reported again after the
    /// next start. Then not all of them are forgotten, and it may be tried again.
    pub fn forget_losses(&self, before: Option<Micros>) -> Result<bool, Error> {
        let Some(sequences) = self.losses.sequences_before(before) else { return Ok(false) };
        let given_up = sequences.iter().map(|(first, last)| (Sequence(first), Sequence(last)));
        self.commit(&Change { given_up: given_up.collect(), ..Change::default() })?;
        match self.losses.forget_before(before) {
            true => Ok(true),
            false => Err(Error::Full("the record of losses".to_owned())),
        }
    }
}
