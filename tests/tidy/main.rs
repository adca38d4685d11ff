//! Rules of this repository that no compiler checks, each as a test.
//!
//! A rule is a pure function from [`source::Source`]s to findings. Each has two tests: one runs it
//! on the repository, the other on made-up files that break it. Rules see the files that git would
//! commit: tracked files, and new ones that are not ignored. Idea: TigerBeetle's `tidy.zig`,
//! rust-analyzer's `xtask/src/tidy.rs`.

// `cfg(test)` on each module: clippy allows `unwrap` in test modules only.
#[cfg(test)]
mod architecture;
#[cfg(test)]
mod bans;
#[cfg(test)]
mod cargo;
#[cfg(test)]
mod circles;
#[cfg(test)]
mod commits;
#[cfg(test)]
mod decisions;
#[cfg(test)]
mod deployment;
#[cfg(test)]
mod figures;
#[cfg(test)]
mod floors;
#[cfg(test)]
mod licences;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod links;
#[cfg(test)]
mod need;
#[cfg(test)]
mod page;
#[cfg(test)]
mod prose;
#[cfg(test)]
mod ratchet;
#[cfg(test)]
mod results;
#[cfg(test)]
mod rust;
#[cfg(test)]
mod sizes;
#[cfg(test)]
mod source;
#[cfg(test)]
mod tally;
#[cfg(test)]
mod where_is;
#[cfg(test)]
mod words;
