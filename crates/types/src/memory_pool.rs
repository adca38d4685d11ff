//! Memory that many share: what one of them holds, nobody else can have.
//!
//! Whoever keeps more and more of something draws from a [`MemoryPool`] as it grows and gives back
//! what is dropped. A pool does not allocate; it counts what others say that they hold. Drawing
//! is refused when too much is held already, and then it is for whoever draws to keep less: only
//! those who hold nothing yet may wait ([`MemoryPool::wait_for_free`]), or all could wait for each other.
//!
//! A pool can keep a share for those who hold little ([`MemoryPool::with_small_share`]), so that whoever holds
//! much, and however many do, leaves room for them. Whoever draws from that share leaves as much free as
//! it holds then: many that are still small, but grow, share it, and one that needs hardly anything
//! always finds that. (Thresholds that move with what is free: Choudhury and Hahne, "Dynamic Queue
//! Length Thresholds for Shared-Memory Packet Switches", IEEE/ACM Transactions on Networking, 1998.)
//!
//! What is taken without asking ([`MemoryReservation::overdraw`]) may make it more than all can have, until others give
//! some back.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// So many bytes, shared.
#[derive(Debug)]
pub struct MemoryPool {
    bytes_max: usize,
    small: SmallShare,
    state: Mutex<State>,
}

/// What a pool keeps for those who hold little; the default is nothing.
#[derive(Clone, Copy, Debug, Default)]
struct SmallShare {
    /// Whoever holds no more is small.
    each_max: usize,
    /// Bytes that whoever holds more leaves free.
    share: usize,
}

impl SmallShare {
    /// Bytes that whoever holds so many has to leave free when it draws.
    const fn left_by(self, bytes: usize) -> usize {
        if bytes <= self.each_max && bytes < self.share { bytes } else { self.share }
    }
}

#[derive(Debug, Default)]
struct State {
    held: usize,
    /// Woken whenever bytes are given back.
    waiting: Vec<Waker>,
}

/// What one of many holds of a pool; given back on drop. The default is of no pool, and holds
/// whatever it is told to.
#[derive(Debug, Default)]
pub struct MemoryReservation {
    pool: Option<Arc<MemoryPool>>,
    bytes: usize,
}

/// Too much is held already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{bytes} more bytes are needed, and {held} of {bytes_max} are in use, {left} kept for others"
)]
pub struct PoolExhausted {
    /// How many bytes were to be drawn.
    pub bytes: usize,
    /// How many were held by all together.
    pub held: usize,
    /// How many all together may hold.
    pub bytes_max: usize,
    /// How many of these were to be left free for those who hold little.
    pub left: usize,
}

impl MemoryPool {
    /// A pool of so many bytes.
    #[must_use]
    pub fn new(bytes_max: usize) -> Arc<Self> {
        Arc::new(Self { bytes_max, small: SmallShare::default(), state: Mutex::default() })
    }

    /// A pool of so many bytes, of which `share` are kept for those who hold up to `each_max`.
    #[must_use]
    pub fn with_small_share(bytes_max: usize, share: usize, each_max: usize) -> Arc<Self> {
        Arc::new(Self { bytes_max, small: SmallShare { each_max, share }, state: Mutex::default() })
    }

    /// Bytes that all together may hold.
    #[must_use]
    pub const fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// Bytes that one alone may hold: all but the share for those who hold little.
    #[must_use]
    pub const fn each_max(&self) -> usize {
        self.bytes_max.saturating_sub(self.small.share)
    }

    /// Bytes that all together hold now.
    #[must_use]
    pub fn reserved(&self) -> usize {
        self.lock().held
    }

    /// Nothing of this pool, yet.
    #[must_use]
    pub fn reservation(self: &Arc<Self>) -> MemoryReservation {
        MemoryReservation { pool: Some(Arc::clone(self)), bytes: 0 }
    }

    /// Waits until so many bytes are free, or all when there are not as many. They are not drawn.
    pub async fn wait_for_free(&self, bytes: usize) {
        let held_max = self.bytes_max.saturating_sub(bytes);
        poll_fn(|context| self.poll_held(held_max, context)).await;
    }

    fn poll_held(&self, held_max: usize, context: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.held <= held_max {
            return Poll::Ready(());
        }
        if !state.waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            state.waiting.push(context.waker().clone());
        }
        Poll::Pending
    }

    /// Draws so many bytes for one that then holds `all`.
    fn draw(&self, bytes: usize, all: usize) -> Result<(), PoolExhausted> {
        let mut state = self.lock();
        let free = self.bytes_max.saturating_sub(state.held);
        let left = self.small.left_by(all);
        if bytes > free.saturating_sub(left) {
            let Self { bytes_max, .. } = *self;
            return Err(PoolExhausted { bytes, held: state.held, bytes_max, left });
        }
        state.held += bytes;
        Ok(())
    }

    fn give_back(&self, bytes: usize) {
        let waiting = {
            let mut state = self.lock();
            state.held -= bytes;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryReservation {
    /// Bytes that are held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Nothing, of the same pool.
    #[must_use]
    pub fn new_empty(&self) -> Self {
        Self { pool: self.pool.clone(), bytes: 0 }
    }

    /// Holds exactly so many bytes from now on.
    ///
    /// # Errors
    /// When so many are not free; then it holds as many as before.
    pub fn resize(&mut self, bytes: usize) -> Result<(), PoolExhausted> {
        if let Some(pool) = &self.pool {
            match bytes.checked_sub(self.bytes) {
                Some(0) => {}
                Some(more) => pool.draw(more, bytes)?,
                None => pool.give_back(self.bytes - bytes),
            }
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Holds exactly so many bytes from now on, also where they are not free: they are taken already.
    pub fn overdraw(&mut self, bytes: usize) {
        if let Some(pool) = &self.pool {
            match bytes.checked_sub(self.bytes) {
                Some(more) => pool.lock().held += more,
                None => pool.give_back(self.bytes - bytes),
            }
        }
        self.bytes = bytes;
    }

    /// Holds so many bytes more.
    ///
    /// # Errors
    /// As [`Self::resize`].
    pub fn grow(&mut self, bytes: usize) -> Result<(), PoolExhausted> {
        self.resize(self.bytes.saturating_add(bytes))
    }

    /// Gives so many bytes back, or all that there are.
    pub fn shrink(&mut self, bytes: usize) {
        drop(self.split(bytes));
    }

    /// So many bytes of these, or all that there are, to be given back apart.
    #[must_use]
    pub fn split(&mut self, bytes: usize) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self { pool: self.pool.clone(), bytes }
    }

    /// Takes over what `other` holds, which is of the same pool or of none.
    pub fn absorb(&mut self, mut other: Self) {
        match &self.pool {
            None => *self = other,
            Some(_) if other.pool.is_none() => {}
            Some(_) => self.bytes += std::mem::take(&mut other.bytes),
        }
    }
}

/// The copy holds nothing, of no pool: only the first is what there was room for.
impl Clone for MemoryReservation {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Things are the same whatever is held for them.
impl PartialEq for MemoryReservation {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.give_back(self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[test]
    fn all_of_a_budget_can_be_held_and_not_one_byte_more() {
        let pool = MemoryPool::new(100);
        let (mut one, mut other) = (pool.reservation(), pool.reservation());
        assert_eq!(one.resize(60), Ok(()));
        assert_eq!(
            other.resize(41),
            Err(PoolExhausted { bytes: 41, held: 60, bytes_max: 100, left: 0 })
        );
        assert_eq!(other.bytes(), 0, "a refusal changes nothing");
        assert_eq!(other.resize(40), Ok(()));
        assert_eq!((pool.reserved(), one.grow(1).is_err()), (100, true));
        other.shrink(10);
        assert_eq!((one.grow(10), pool.reserved()), (Ok(()), 100));
        assert_eq!((one.resize(5), pool.reserved()), (Ok(()), 35));
        let part = one.split(3);
        drop((one, other));
        assert_eq!(pool.reserved(), 3, "what is dropped is given back");
        drop(part);
        assert_eq!(pool.reserved(), 0);
    }

    #[test]
    fn those_who_hold_little_find_room_beside_those_who_hold_much() {
        let pool = MemoryPool::with_small_share(10_000, 2_000, 300);
        let (mut large, mut other) = (pool.reservation(), pool.reservation());
        let spent = PoolExhausted { bytes: 8_001, held: 0, bytes_max: 10_000, left: 2_000 };
        assert_eq!((large.resize(8_001), pool.each_max()), (Err(spent), 8_000));
        assert_eq!((large.resize(8_000), other.resize(301).is_err()), (Ok(()), true));
        // However many grow at once, there is room for one that needs little.
        let mut growing: Vec<MemoryReservation> = (0..50).map(|_| pool.reservation()).collect();
        for _ in 0..3 {
            growing.iter_mut().for_each(|held| {
                let _ = held.grow(100);
            });
            let mut light = pool.reservation();
            assert_eq!(light.resize(50), Ok(()), "{} are held", pool.reserved());
        }
        assert!(growing.iter().all(|held| held.bytes() <= 300) && large.grow(1).is_err());
        growing.clear();
        assert_eq!((other.resize(300), other.grow(1).is_err()), (Ok(()), true));
        large.shrink(300);
        assert!(other.grow(1).is_err(), "the share is for those who hold little");
        large.shrink(1);
        assert_eq!((other.grow(1), pool.reserved()), (Ok(()), 8_000));
        drop((large, other));
        assert_eq!(pool.reserved(), 0);
    }

    #[test]
    fn what_is_taken_over_is_given_back_once() {
        let pool = MemoryPool::new(100);
        let (mut one, mut other, mut nobody) =
            (pool.reservation(), pool.reservation(), MemoryReservation::default());
        one.resize(10).expect("room");
        other.resize(20).expect("room");
        one.absorb(other);
        nobody.absorb(one);
        assert_eq!((nobody.bytes(), pool.reserved()), (30, 30));
        drop(nobody);
        assert_eq!(pool.reserved(), 0);
    }

    #[test]
    fn what_is_taken_already_counts_though_it_is_not_free() {
        let pool = MemoryPool::new(100);
        let (mut one, mut other) = (pool.reservation(), pool.reservation());
        one.resize(70).expect("room");
        other.overdraw(60);
        assert_eq!((other.bytes(), pool.reserved()), (60, 130));
        assert_eq!(
            one.grow(1),
            Err(PoolExhausted { bytes: 1, held: 130, bytes_max: 100, left: 0 })
        );
        one.shrink(30);
        assert!(one.grow(1).is_err(), "it is all taken");
        other.overdraw(50);
        assert_eq!((one.resize(50), pool.reserved()), (Ok(()), 100));
        drop((one, other));
        assert_eq!(pool.reserved(), 0);
        MemoryReservation::default().overdraw(7);
    }

    #[test]
    fn without_a_budget_anything_goes() {
        let mut held = MemoryReservation::default();
        assert_eq!((held.resize(usize::MAX), held.bytes()), (Ok(()), usize::MAX));
        held.grow(1).expect("it does not count");
    }

    #[derive(Default)]
    struct Bell(AtomicUsize);

    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn whoever_waits_for_room_is_woken_when_there_may_be_some() {
        let pool = MemoryPool::new(100);
        let mut one = pool.reservation();
        one.resize(90).expect("room");
        let bell = Arc::new(Bell::default());
        let waker = Waker::from(Arc::clone(&bell));
        let mut context = Context::from_waker(&waker);
        let mut free = Box::pin(pool.wait_for_free(50));
        assert!(free.as_mut().poll(&mut context).is_pending());
        assert!(free.as_mut().poll(&mut context).is_pending(), "and it waits once only");
        one.shrink(30);
        assert_eq!(bell.0.load(Ordering::Relaxed), 1);
        assert!(free.as_mut().poll(&mut context).is_pending(), "60 are held still");
        one.shrink(10);
        assert!(free.as_mut().poll(&mut context).is_ready(), "50 are free");
        assert_eq!((pool.reserved(), bell.0.load(Ordering::Relaxed)), (50, 2));
        // More than there can ever be is not waited for in vain.
        let mut all = Box::pin(pool.wait_for_free(usize::MAX));
        assert!(all.as_mut().poll(&mut context).is_pending());
        drop(one);
        assert!(all.as_mut().poll(&mut context).is_ready());
    }
}
