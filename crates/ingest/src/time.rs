//! Times: how they are written, their zones, and the choice of the time column.

mod choose;
mod civil;
mod column_names;
mod evidence;
mod iso;
mod names;
mod numbers;
mod reader;
mod spelling;
mod user_format;
mod zone;

pub(crate) use choose::{Choice, Names, choose, choose_of_converted};
pub(crate) use civil::is_other_year;
pub use column_names::CANDIDATES;
pub(crate) use evidence::Evidence;
pub(crate) use numbers::{Units, is_plausible_or_text, plausible};
pub(crate) use reader::{TimeReader, Wording, is_time_text};
pub(crate) use user_format::TimeFormat;
pub(crate) use zone::Zone;
