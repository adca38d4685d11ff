//! Sends messages: some are lost, late or repeated.

use crate::messages::{Answer, Event, Node, Purpose, Request};
use crate::queue::{SECOND, Time, whole};
use crate::world::World;

/// A request that waits for its answer, and why it was made.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) from: Node,
    pub(crate) life: u64,
    pub(crate) purpose: Purpose,
}

impl World {
    /// Sends a request to a process, or to whichever process of its node is up.
    pub(crate) fn call(
        &mut self,
        from: Node,
        to: Node,
        process: Option<u64>,
        (request, purpose): (Request, Purpose),
        patience: Time,
    ) -> u64 {
        let life = self.life(from).unwrap_or_default();
        self.calls_made += 1;
        let call = self.calls_made;
        self.calls.insert(call, Call { from, life, purpose });
        self.queue.push(self.now + patience, Event::End { call, answer: None });
        // A post without an id of the client's is the client's to send once.
        let is_repeatable =
            !matches!(request, Request::Post { first_try: true, .. } | Request::Restart);
        for _ in 0..self.copies(from, to).min(if is_repeatable { 2 } else { 1 }) {
            let at = self.now + self.delay(from, to);
            let request = request.clone();
            self.queue.push(at, Event::Arrive { call, from, to, process, request });
        }
        call
    }

    /// Answers a request of `to`.
    pub(crate) fn answer(&mut self, call: u64, from: Node, to: Node, answer: Answer) {
        for _ in 0..self.copies(from, to) {
            let at = self.now + self.delay(from, to);
            self.queue.push(at, Event::End { call, answer: Some(answer.clone()) });
        }
    }

    /// How often a message arrives.
    pub(crate) fn copies(&mut self, from: Node, to: Node) -> usize {
        let (sender, receiver) = (self.machine_of(from), self.machine_of(to));
        if let (Some(sender), Some(receiver)) = (sender, receiver)
            && !self.network.connects(sender, receiver)
        {
            return 0;
        }
        if self.is_healed {
            return 1;
        }
        let (loss, duplicate) = (self.options.loss, self.options.duplicate);
        match () {
            () if self.random.chance(loss) => 0,
            () if self.random.chance(duplicate) => 2,
            () => 1,
        }
    }

    pub(crate) fn delay(&mut self, from: Node, to: Node) -> Time {
        let slow = Some(self.options.machines - 1);
        let is_slow = self.machine_of(from) == slow || self.machine_of(to) == slow;
        let slow = if is_slow && !self.is_healed { self.options.slow } else { 0 };
        let late = match self.random.chance(self.options.late) && !self.is_healed {
            true => self.random.below(8 * SECOND),
            false => 0,
        };
        late + whole(self.random.exponential((self.options.delay + slow) as f64))
    }
}
