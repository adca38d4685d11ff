//! The other processes of the cluster, as far as the front must know them.

use hadal_peer::{BoxFuture, LeafRestart, Member};
use hadal_types::{LeafName, Micros};

/// What membership knows of the other processes of the cluster. A process without a cluster has no
/// such knowledge.
pub trait Members: Send + Sync {
    /// The cluster's name.
    fn cluster(&self) -> String;

    /// All members, silent ones too, in any order.
    fn members(&self) -> Vec<Member>;

    /// When the member entered its state; `None` if that is unknown.
    fn since(&self, member: &LeafName) -> Option<Micros>;

    /// What is wrong with the cluster beyond the states of its members, a sentence each: refused
    /// members, clocks that are off, two members of one name.
    fn problems(&self) -> Vec<String>;

    /// Makes every member forget a silent leaf, and the rows expected of it.
    ///
    /// # Errors
    /// A sentence. Some members may have forgotten the leaf, and the caller may try again.
    fn forget<'a>(&'a self, leaf: &'a LeafName) -> BoxFuture<'a, Result<(), String>>;

    /// Makes a leaf's supervisor, or the leaf itself, restart it. Does not wait for the restart.
    ///
    /// # Errors
    /// A sentence: who was asked, and why it does not restart. It may restart nevertheless.
    fn restart<'a>(&'a self, restart: &'a LeafRestart) -> BoxFuture<'a, Result<(), String>>;
}
