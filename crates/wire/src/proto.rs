//! The messages of `spec/proto` as prost makes them. Only the conversions of this crate use them.

#![allow(missing_docs, unreachable_pub, dead_code, clippy::all, reason = "generated code")]

use crate::size_guard::{Field, Shape, Shaped};

include!(concat!(env!("OUT_DIR"), "/hadal.v1.rs"));
include!(concat!(env!("OUT_DIR"), "/shapes.rs"));
