//! The nesting of JSON text, byte by byte.

use std::ops::ControlFlow;

/// Tracks brackets and strings of JSON text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DepthCounter {
    /// The number of open brackets.
    pub(crate) depth: usize,
    pub(crate) in_string: bool,
    pub(crate) escaped: bool,
}

impl DepthCounter {
    /// Takes a byte. Breaks at a closing bracket without an opening one.
    pub(crate) fn step(&mut self, byte: u8) -> ControlFlow<()> {
        if self.in_string {
            let ends = byte == b'"' && !self.escaped;
            self.escaped = byte == b'\\' && !self.escaped;
            self.in_string = !ends;
            return ControlFlow::Continue(());
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => match self.depth.checked_sub(1) {
                Some(depth) => self.depth = depth,
                None => return ControlFlow::Break(()),
            },
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
