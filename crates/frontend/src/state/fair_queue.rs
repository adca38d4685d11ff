//! Which waiting query runs next: each client has a queue of its own, and clients take turns.
//!
//! ```text
//! enter ──> waiting, in the queue of its client ──next──> running ──> long ──┐
//!   └─> refused, or another one is refused for it            └────end────────┴─> done
//! ```
//!
//! A client with many queries delays its own queries, not those of others: "fair queueing" (Nagle,
//! "On Packet Switches With Infinite Storage", RFC 970, 1985). A query that runs for longer than
//! others wait with patience gives its place to the next one and continues beside it, as a *long*
//! query; so turns hardly differ in length. If too many queries wait, the newest query of the
//! client with the most of them is refused ("buffer stealing": McKenney, "Stochastic Fairness
//! Queueing", 1990), so that no client can fill the queue.
//!
//! This is a state machine without clock and threads.

use std::collections::VecDeque;

/// Identifies a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// How many queries may run and wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueLimits {
    /// Queries that run and are not long.
    pub(crate) places: usize,
    /// Long queries. Beyond it, a query keeps its place although it takes long.
    pub(crate) long: usize,
    /// Queries that wait.
    pub(crate) waiting: usize,
}

/// The waiting queries of all clients, and the number of those that run.
#[derive(Debug)]
pub(crate) struct FairQueue<C> {
    limits: QueueLimits,
    next_ticket: u64,
    running: usize,
    long: usize,
    waiting: usize,
    /// The clients with waiting queries, in the order of their turns.
    clients: VecDeque<ClientQueue<C>>,
}

/// The waiting queries of a client, at least one.
#[derive(Debug)]
struct ClientQueue<C> {
    client: C,
    tickets: VecDeque<Ticket>,
}

/// The outcome for a new query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// It waits.
    Waiting(Ticket),
    /// It waits in the place of another one, which is refused.
    InPlaceOf { ticket: Ticket, refused: Ticket },
    /// It is refused.
    Refused,
}

impl<C: Copy + PartialEq> FairQueue<C> {
    /// A queue without queries.
    pub(crate) const fn new(limits: QueueLimits) -> Self {
        let clients = VecDeque::new();
        Self { limits, next_ticket: 0, running: 0, long: 0, waiting: 0, clients }
    }

    /// The number of waiting queries.
    pub(crate) const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Adds a query of a client. Cost: O(clients that wait).
    pub(crate) fn enter(&mut self, client: C) -> Entered {
        let refused = match self.waiting >= self.limits.waiting {
            true => match self.refuse_newest_of_the_longest(client) {
                None => return Entered::Refused,
                refused => refused,
            },
            false => None,
        };
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.waiting += 1;
        match self.clients.iter_mut().find(|queue| queue.client == client) {
            Some(queue) => queue.tickets.push_back(ticket),
            None => self.clients.push_back(ClientQueue { client, tickets: [ticket].into() }),
        }
        match refused {
            Some(refused) => Entered::InPlaceOf { ticket, refused },
            None => Entered::Waiting(ticket),
        }
    }

    /// Removes the newest query of the client with the most waiting queries, if that one would
    /// still have as many as `client` then.
    fn refuse_newest_of_the_longest(&mut self, client: C) -> Option<Ticket> {
        let queue = self.clients.iter().find(|queue| queue.client == client);
        let length = queue.map_or(0, |queue| queue.tickets.len());
        let longest = self.clients.iter_mut().max_by_key(|queue| queue.tickets.len())?;
        let refused = match longest.tickets.len() > length + 1 {
            true => longest.tickets.pop_back()?,
            false => return None,
        };
        self.waiting -= 1;
        Some(refused)
    }

    /// Takes the query that runs next, if there is a place for it.
    pub(crate) fn next(&mut self) -> Option<Ticket> {
        if self.running >= self.limits.places {
            return None;
        }
        let mut queue = self.clients.pop_front()?;
        let ticket = queue.tickets.pop_front()?;
        if !queue.tickets.is_empty() {
            self.clients.push_back(queue);
        }
        self.waiting -= 1;
        self.running += 1;
        Some(ticket)
    }

    /// Removes a waiting query; false if it does not wait.
    pub(crate) fn leave(&mut self, ticket: Ticket) -> bool {
        let of_client =
            |queue: &ClientQueue<C>| queue.tickets.iter().position(|waiting| *waiting == ticket);
        let mut queues = self.clients.iter().enumerate();
        let Some((client, at)) =
            queues.find_map(|(client, queue)| Some((client, of_client(queue)?)))
        else {
            return false;
        };
        if let Some(queue) = self.clients.get_mut(client) {
            queue.tickets.remove(at);
        }
        self.clients.retain(|queue| !queue.tickets.is_empty());
        self.waiting -= 1;
        true
    }

    /// Makes a running query a long one, which frees its place; false if there are too many.
    pub(crate) fn make_long(&mut self) -> bool {
        let has_room = self.long < self.limits.long;
        if has_room {
            self.running -= 1;
            self.long += 1;
        }
        has_room
    }

    /// Ends a running query.
    pub(crate) fn end(&mut self, is_long: bool) {
        match is_long {
            true => self.long -= 1,
            false => self.running -= 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    const LIMITS: QueueLimits = QueueLimits { places: 2, long: 1, waiting: 6 };

    fn waiting(entered: Entered) -> Ticket {
        match entered {
            Entered::Waiting(ticket) | Entered::InPlaceOf { ticket, .. } => ticket,
            Entered::Refused => panic!("refused"),
        }
    }

    #[test]
    fn clients_take_turns() {
        let mut queue = FairQueue::new(QueueLimits { places: 1, ..LIMITS });
        let of_one: Vec<Ticket> = (0..4).map(|_| waiting(queue.enter('a'))).collect();
        let of_other = waiting(queue.enter('b'));
        let order = [of_one[0], of_other, of_one[1], of_one[2], of_one[3]];
        for expected in order {
            assert_eq!((queue.next(), queue.next()), (Some(expected), None));
            queue.end(false);
        }
        assert_eq!((queue.next(), queue.waiting()), (None, 0));
    }

    #[test]
    fn a_long_query_frees_its_place_while_few_are_long() {
        let mut queue = FairQueue::new(LIMITS);
        (0..5).for_each(|_| _ = waiting(queue.enter('a')));
        assert!(queue.next().is_some() && queue.next().is_some() && queue.next().is_none());
        assert!(queue.make_long());
        assert!(queue.next().is_some() && queue.next().is_none());
        // There is one long query already.
        assert!(!queue.make_long() && queue.next().is_none());
        queue.end(true);
        assert!(queue.make_long() && queue.next().is_some());
    }

    #[test]
    fn a_full_queue_refuses_the_newest_query_of_the_client_with_the_most() {
        let mut queue = FairQueue::new(LIMITS);
        let of_one: Vec<Ticket> = (0..6).map(|_| waiting(queue.enter('a'))).collect();
        assert_eq!(queue.enter('a'), Entered::Refused);
        for refused in [of_one[5], of_one[4], of_one[3]] {
            let Entered::InPlaceOf { refused: other, .. } = queue.enter('b') else {
                panic!("a client with fewer waiting queries gets a place");
            };
            assert_eq!(other, refused);
        }
        // Both have three.
        assert_eq!((queue.enter('a'), queue.enter('b')), (Entered::Refused, Entered::Refused));
        assert_eq!(queue.waiting(), LIMITS.waiting);
    }

    #[test]
    fn a_query_leaves_while_it_waits() {
        let mut queue = FairQueue::new(LIMITS);
        let (first, second) = (waiting(queue.enter('a')), waiting(queue.enter('b')));
        assert!(queue.leave(first) && !queue.leave(first));
        assert_eq!(queue.next(), Some(second));
        assert!(!queue.leave(second));
    }

    proptest! {
        /// Between two queries of one client, each other client that waits runs one. So the first
        /// query of a client waits for at most one query of each other client.
        #[test]
        fn no_client_starves(
            steps in prop::collection::vec((0usize..8, 0usize..12), 1..400),
            places in 1usize..4, long in 0usize..3, most in 1usize..20,
        ) {
            let mut queue = FairQueue::new(QueueLimits { places, long, waiting: most });
            let mut client_of: HashMap<Ticket, usize> = HashMap::new();
            // Of each client that waits, how many queries have run since it began to wait.
            let mut passed: HashMap<usize, usize> = HashMap::new();
            let (mut running, mut long_ones) = (0usize, 0usize);
            let mut waiting: Vec<Ticket> = Vec::new();
            for (step, client) in steps {
                match step {
                    0..=3 => match queue.enter(client) {
                        Entered::Refused => prop_assert_eq!(queue.waiting(), most),
                        Entered::Waiting(ticket) => {
                            waiting.push(ticket);
                            client_of.insert(ticket, client);
                        }
                        Entered::InPlaceOf { ticket, refused } => {
                            let of = |client| {
                                waiting.iter().filter(|waits| client_of[waits] == client).count()
                            };
                            prop_assert!(of(client_of[&refused]) > of(client));
                            waiting.retain(|waits| *waits != refused);
                            waiting.push(ticket);
                            client_of.insert(ticket, client);
                        }
                    },
                    4 if running > 0 => {
                        queue.end(false);
                        running -= 1;
                    }
                    5 if long_ones > 0 => {
                        queue.end(true);
                        long_ones -= 1;
                    }
                    6 if running > 0 && queue.make_long() => {
                        running -= 1;
                        long_ones += 1;
                    }
                    7 if !waiting.is_empty() => {
                        let ticket = waiting.remove(client % waiting.len());
                        prop_assert!(queue.leave(ticket));
                    }
                    _ => {}
                }
                passed.retain(|client, _| waiting.iter().any(|waits| client_of[waits] == *client));
                for ticket in &waiting {
                    passed.entry(client_of[ticket]).or_insert(0);
                }
                while let Some(ticket) = queue.next() {
                    running += 1;
                    let position = waiting.iter().position(|waits| *waits == ticket);
                    waiting.remove(position.expect("it waited"));
                    let client = client_of[&ticket];
                    passed.values_mut().for_each(|count| *count += 1);
                    prop_assert!(passed.remove(&client).expect("it waited") <= 12);
                    if waiting.iter().any(|waits| client_of[waits] == client) {
                        passed.insert(client, 0);
                    }
                }
                prop_assert!(running <= places && long_ones <= long);
                prop_assert_eq!(queue.waiting(), waiting.len());
                prop_assert!(running == places || waiting.is_empty());
            }
        }
    }
}
