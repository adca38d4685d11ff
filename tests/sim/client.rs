//! A client with one batch. It repeats a batch whose id it chose, through any door.

use std::collections::BTreeSet;

use hadal_random::Random;

use crate::messages::{Answer, BatchNumber, Node, Purpose, Request, Wake};
use crate::options::Options;
use crate::queue::{MILLIS, SECOND, Time};
use crate::world::World;

/// How long a client waits for an answer.
const PATIENCE: Time = 20 * SECOND;

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) batch: BatchNumber,
    pub(crate) starts: Time,
    /// Whether the client chose the id, and repeats the batch.
    pub(crate) has_own_id: bool,
    is_impatient: bool,
    /// Posts after which it gives up.
    tries_max: u32,
    tries: u32,
    posts: BTreeSet<u64>,
    /// Only the last planned post happens.
    planned: u64,
    pub(crate) is_acknowledged: bool,
}

impl Client {
    pub(crate) fn new(batch: BatchNumber, options: &Options, random: &mut Random) -> Self {
        let has_own_id = random.chance(options.own_ids);
        Self {
            batch,
            starts: random.below(options.safety),
            has_own_id,
            is_impatient: random.chance(options.impatient),
            tries_max: if has_own_id && !random.chance(0.1) { u32::MAX } else { 1 },
            tries: 0,
            posts: BTreeSet::new(),
            planned: 0,
            is_acknowledged: false,
        }
    }

    /// Whether it repeats its batch until that is acknowledged.
    pub(crate) const fn insists(&self) -> bool {
        self.tries_max == u32::MAX
    }
}

impl World {
    pub(crate) fn post(&mut self, batch: BatchNumber, number: u64) {
        let client = &self.clients[batch as usize];
        let is_over = client.is_acknowledged || client.tries >= client.tries_max;
        if is_over || number != client.planned {
            return;
        }
        let first_try = !client.has_own_id;
        let is_impatient = client.is_impatient && client.insists() && client.posts.is_empty();
        let door = self.random.index(self.doors.len());
        let call = (Request::Post { batch, first_try }, Purpose::Post);
        let call = self.call(Node::Client(batch), Node::Door(door), None, call, PATIENCE);
        let client = &mut self.clients[batch as usize];
        client.tries += 1;
        client.posts.insert(call);
        if is_impatient {
            let wait = self.random.below(200 * MILLIS);
            self.plan_post(batch, wait);
        }
    }

    pub(crate) fn client_answered(
        &mut self,
        batch: BatchNumber,
        call: u64,
        answer: Option<Answer>,
    ) {
        let client = &mut self.clients[batch as usize];
        client.posts.remove(&call);
        client.is_acknowledged |= matches!(answer, Some(Answer::Posted(true)));
        if client.posts.is_empty() && !client.is_acknowledged {
            let pause = 100 * MILLIS + self.random.below(5 * SECOND);
            self.plan_post(batch, pause);
        }
    }

    fn plan_post(&mut self, batch: BatchNumber, wait: Time) {
        let client = &mut self.clients[batch as usize];
        client.planned += 1;
        let number = client.planned;
        self.wake_after(Node::Client(batch), wait, Wake::Post { number });
    }
}
