//! Detects the processor's instructions once, and compiles and dispatches all kernels.
//!
//! A kernel is written once, as a plain loop in a function that is always inlined. `kernels!`
//! compiles it three times: for the target's baseline, for AVX2 and for AVX-512, and calls the
//! version of a [`Level`]. A `Level` is made only after its instructions were detected, so the
//! value proves that its version can be called. Inside a kernel the tokens of `Primitives` are that
//! proof.
//!
//! The environment variable `HADAL_CPU` (`baseline`, `avx2`, `avx512`), read once, lowers the
//! process's level: for measurements, and to run the code of another machine. Other values are
//! ignored.
#![allow(unsafe_code)]

use std::sync::OnceLock;

use super::primitives::Baseline;
#[cfg(target_arch = "x86_64")]
use super::x86::{Avx2, Avx512};

/// An instruction set of this processor. Its methods are the kernels at that level; the free
/// functions of the same names use [`Level::current`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level(pub(super) Instructions);

/// A value of this type exists only if the processor has these instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Instructions {
    Baseline(Baseline),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Level {
    /// The best level of this processor, or the lower one that `HADAL_CPU` names.
    #[must_use]
    pub fn current() -> Self {
        static CURRENT: OnceLock<Level> = OnceLock::new();
        *CURRENT.get_or_init(|| Self::named(std::env::var("HADAL_CPU").ok().as_deref()))
    }

    /// All levels of this processor, the lowest first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        let baseline = Self(Instructions::Baseline(Baseline));
        #[cfg(target_arch = "x86_64")]
        let higher =
            [Avx2::detect().map(Instructions::Avx2), Avx512::detect().map(Instructions::Avx512)];
        #[cfg(not(target_arch = "x86_64"))]
        let higher: [Option<Instructions>; 0] = [];
        std::iter::once(baseline).chain(higher.into_iter().flatten().map(Self)).collect()
    }

    /// The level's name in `HADAL_CPU`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Instructions::Baseline(_) => "baseline",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(_) => "avx512",
        }
    }

    /// The available level of that name; the best one if the name is missing or unknown.
    fn named(name: Option<&str>) -> Self {
        let levels = Self::available();
        let named = levels.iter().find(|level| Some(level.name()) == name);
        *named.or(levels.last()).unwrap_or(&Self(Instructions::Baseline(Baseline)))
    }
}

/// Turns `pub fn name(arguments) -> result = body;` into a function at the current level and a
/// method of `Level`. `body` takes a `Primitives` before the arguments. It must be
/// `#[inline(always)]`, so that it is compiled with the instructions of its caller. Generics are
/// written in brackets.
macro_rules! kernels {
    ($(
        $(#[$doc:meta])*
        pub fn $name:ident $([$($generics:tt)*])? (
            $($argument:ident: $type:ty),* $(,)?
        ) $(-> $result:ty)? = $body:expr;
    )*) => {
        $(
            $(#[$doc])*
            pub fn $name $(<$($generics)*>)? ($($argument: $type),*) $(-> $result)? {
                $crate::kernels::Level::current().$name($($argument),*)
            }
        )*

        impl $crate::kernels::Level {
            $(
                $(#[$doc])*
                #[allow(unsafe_code)]
                pub fn $name $(<$($generics)*>)? (self, $($argument: $type),*) $(-> $result)? {
                    use $crate::kernels::simd_level::Instructions;

                    #[cfg(target_arch = "x86_64")]
                    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                    fn avx2 $(<$($generics)*>)? (
                        primitives: $crate::kernels::x86::Avx2,
                        $($argument: $type),*
                    ) $(-> $result)? {
                        $body(primitives, $($argument),*)
                    }

                    #[cfg(target_arch = "x86_64")]
                    #[target_feature(
                        enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512vbmi,\
                                  avx512vbmi2,avx512vpopcntdq,avx2,bmi1,bmi2,lzcnt,popcnt"
                    )]
                    fn avx512 $(<$($generics)*>)? (
                        primitives: $crate::kernels::x86::Avx512,
                        $($argument: $type),*
                    ) $(-> $result)? {
                        $body(primitives, $($argument),*)
                    }

                    match self.0 {
                        Instructions::Baseline(primitives) => $body(primitives, $($argument),*),
                        #[cfg(target_arch = "x86_64")]
                        // SAFETY: an `Avx2` exists only if these features were detected.
                        Instructions::Avx2(primitives) => unsafe { avx2(primitives, $($argument),*) },
                        #[cfg(target_arch = "x86_64")]
                        // SAFETY: an `Avx512` exists only if these features were detected.
                        Instructions::Avx512(primitives) => unsafe {
                            avx512(primitives, $($argument),*)
                        },
                    }
                }
            )*
        }
    };
}

pub(super) use kernels;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_go_by_name_and_never_above_the_processor() {
        let levels = Level::available();
        assert_eq!(levels[0].name(), "baseline");
        for level in &levels {
            assert_eq!(Level::named(Some(level.name())), *level);
        }
        assert_eq!(Level::named(None), levels[levels.len() - 1]);
        assert_eq!(Level::named(Some("avx1024")), levels[levels.len() - 1]);
        assert!(levels.contains(&Level::current()));
    }
}
