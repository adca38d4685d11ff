//! What a store has lost, and how that is forgotten.

use hadal_types::Micros;

use super::Store;
use crate::change::{BlockNumber, Change, Sequence};
use crate::data_loss::Loss;
use crate::error::Error;

impl Store {
    /// What was lost of which nobody knows how many rows it had, and of which tables: told from the start
    /// that finds it until it is forgotten, whatever is stopped and started in between. Blocks that are lost
    /// are not among them.
    #[must_use]
    pub fn losses(&self) -> Vec<Loss> {
        self.losses.list()
    }

    /// How many of these there are.
    #[must_use]
    pub fn loss_count(&self) -> u64 {
        self.losses.count()
    }

    /// Notes which blocks are lost, so that it is known later when they were found to be.
    pub fn note_lost_blocks(&self, lost: impl Iterator<Item = BlockNumber>, now: Micros) {
        let noted = self.losses.note_blocks(lost, |number| self.has_block(number), now);
        self.count_failures(u64::from(!noted));
    }

    /// When a block was found to be lost, if it is.
    #[must_use]
    pub fn lost_since(&self, block: BlockNumber) -> Option<Micros> {
        self.losses.block_found(block)
    }

    /// Forgets what [`Self::losses`] tells, or of that what was found before a time. What is still damaged
    /// in the folder is not looked for any more. Returns whether there was anything.
    ///
    /// # Errors
    /// As [`Self::commit`]; [`Error::Full`] also when it would be told again after the next start. Then
    /// nothing, or not all of it, is forgotten, and it may be tried again.
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
