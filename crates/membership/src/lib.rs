//! Which processes belong to a cluster, and which of them are alive.
