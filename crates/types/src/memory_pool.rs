//! Memory that many holders share: bytes that one holder has are not free for other holders.
//!
//! A holder that accumulates data draws from a [`MemoryPool`] as it grows, and gives back the bytes
//! that it drops. A pool does not allocate; it counts the bytes that its holders report. Drawing is
//! refused when too much is held already, and then the holder must keep less. Only a holder that
//! holds no bytes may wait ([`MemoryPool::wait_for_free`]); otherwise all holders could wait for
//! each other.
//!
//! A pool can keep a share for small holders ([`MemoryPool::with_small_share`]), so that large
//! holders, however many, leave memory for them. A small holder that draws from the share leaves as
//! many bytes free as it holds after the draw. Many small but growing holders thus divide the share
//! among themselves, and a holder that needs hardly anything always finds it. (Thresholds that move
//! with the free memory: Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory
//! Packet Switches", IEEE/ACM Transactions on Networking, 1998.)
//!
//! [`MemoryReservation::overdraw`] takes bytes without asking. The sum may then exceed the pool,
//! until other holders give bytes back.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// A shared number of bytes.
#[derive(Debug)]
pub struct MemoryPool {
    bytes_max: usize,
    small: SmallShare,
    state: Mutex<State>,
}

/// The share that a pool keeps for small holders; none by default.
#[derive(Clone, Copy, Debug, Default)]
struct SmallShare {
    /// The largest holding that counts as small, in bytes.
    each_max: usize,
    /// Bytes that larger holders leave free.
    share: usize,
}

impl SmallShare {
    /// Bytes that a holder of `bytes` has to leave free when it draws.
    const fn left_by(self, bytes: usize) -> usize {
        if bytes <= self.each_max && bytes < self.share { bytes } else { self.share }
    }
}

#[derive(Debug, Default)]
struct State {
    held: usize,
    /// Woken when bytes are given back.
    waiting: Vec<Waker>,
}

/// The bytes that one holder has from a pool; given back on drop. The default belongs to no pool
/// and is never refused.
#[derive(Debug, Default)]
pub struct MemoryReservation {
    pool: Option<Arc<MemoryPool>>,
    bytes: usize,
}

/// Too many bytes are held already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{bytes} more bytes are needed, and {held} of {bytes_max} are in use, {left} kept for others"
)]
pub struct PoolExhausted {
    /// The bytes that were to be drawn.
    pub bytes: usize,
    /// The bytes that all holders held together.
    pub held: usize,
    /// The bytes that all holders together may hold.
    pub bytes_max: usize,
    /// The bytes of the pool that were to be left free for small holders.
    pub left: usize,
}

impl MemoryPool {
    /// Returns a pool of `bytes_max` bytes.
    #[must_use]
    pub fn new(bytes_max: usize) -> Arc<Self> {
        Arc::new(Self { bytes_max, small: SmallShare::default(), state: Mutex::default() })
    }

    /// Returns a pool of `bytes_max` bytes. It keeps `share` of them for holders of up to
    /// `each_max` bytes.
    #[must_use]
    pub fn with_small_share(bytes_max: usize, share: usize, each_max: usize) -> Arc<Self> {
        Arc::new(Self { bytes_max, small: SmallShare { each_max, share }, state: Mutex::default() })
    }

    /// Bytes that all holders together may hold.
    #[must_use]
    pub const fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// Bytes that one holder may have: all but the share for small holders.
    #[must_use]
    pub const fn each_max(&self) -> usize {
        self.bytes_max.saturating_sub(self.small.share)
    }

    /// Bytes that all holders have now.
    #[must_use]
    pub fn reserved(&self) -> usize {
        self.state.lock().held
    }

    /// Returns a reservation of this pool that holds nothing yet.
    #[must_use]
    pub fn reservation(self: &Arc<Self>) -> MemoryReservation {
        MemoryReservation { pool: Some(Arc::clone(self)), bytes: 0 }
    }

    /// Waits until `bytes` are free, or the whole pool if it is smaller. Does not draw them.
    pub async fn wait_for_free(&self, bytes: usize) {
        let held_max = self.bytes_max.saturating_sub(bytes);
        poll_fn(|context| self.poll_held(held_max, context)).await;
    }

    fn poll_held(&self, held_max: usize, context: &Context<'_>) -> Poll<()> {
        let mut state = self.state.lock();
        if state.held <= held_max {
            return Poll::Ready(());
        }
        if !state.waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            state.waiting.push(context.waker().clone());
        }
        Poll::Pending
    }

    /// Draws `bytes` for a holder that then has `all`.
    fn draw(&self, bytes: usize, all: usize) -> Result<(), PoolExhausted> {
        let mut state = self.state.lock();
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
            let mut state = self.state.lock();
            state.held -= bytes;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl MemoryReservation {
    /// Bytes that are held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns a reservation of the same pool that holds nothing.
    #[must_use]
    pub fn new_empty(&self) -> Self {
        Self { pool: self.pool.clone(), bytes: 0 }
    }

    /// Holds exactly `bytes` from now on.
    ///
    /// # Errors
    /// If the additional bytes are not free; then nothing changes.
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

    /// Holds exactly `bytes` from now on, even if they are not free: they are in use already.
    pub fn overdraw(&mut self, bytes: usize) {
        if let Some(pool) = &self.pool {
            match bytes.checked_sub(self.bytes) {
                Some(more) => pool.state.lock().held += more,
                None => pool.give_back(self.bytes - bytes),
            }
        }
        self.bytes = bytes;
    }

    /// Holds `bytes` more.
    ///
    /// # Errors
    /// As [`Self::resize`].
    pub fn grow(&mut self, bytes: usize) -> Result<(), PoolExhausted> {
        self.resize(self.bytes.saturating_add(bytes))
    }

    /// Gives `bytes` back, or all that are held if there are fewer.
    pub fn shrink(&mut self, bytes: usize) {
        drop(self.split(bytes));
    }

    /// Splits off `bytes`, or all that are held if there are fewer, to be given back separately.
    #[must_use]
    pub fn split(&mut self, bytes: usize) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self { pool: self.pool.clone(), bytes }
    }

    /// Takes over the bytes of `other`. Those of another pool are drawn from this one, even if they
    /// are not free.
    pub fn absorb(&mut self, mut other: Self) {
        match (&self.pool, &other.pool) {
            (None, _) => *self = other,
            (Some(_), None) => {}
            (Some(pool), Some(others)) if Arc::ptr_eq(pool, others) => {
                self.bytes += std::mem::take(&mut other.bytes);
            }
            (Some(_), Some(_)) => self.overdraw(self.bytes.saturating_add(other.bytes)),
        }
    }
}

/// The copy holds nothing, of no pool: only the original has been drawn.
impl Clone for MemoryReservation {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Reservations are always equal, so that values which contain one compare by their other fields.
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
    fn bytes_of_another_pool_are_given_back_to_it() {
        let (pool, other_pool) = (MemoryPool::new(100), MemoryPool::new(100));
        let (mut held, mut other) = (pool.reservation(), other_pool.reservation());
        held.resize(30).expect("free");
        other.resize(40).expect("free");
        held.absorb(other);
        assert_eq!((held.bytes(), pool.reserved(), other_pool.reserved()), (70, 70, 0));
        held.resize(10).expect("less");
        drop(held);
        assert_eq!(pool.reserved(), 0);
    }

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
        // However many holders grow at once, one that needs little finds memory.
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
        // A wait for more than the whole pool ends when all is free.
        let mut all = Box::pin(pool.wait_for_free(usize::MAX));
        assert!(all.as_mut().poll(&mut context).is_pending());
        drop(one);
        assert!(all.as_mut().poll(&mut context).is_ready());
    }
}
