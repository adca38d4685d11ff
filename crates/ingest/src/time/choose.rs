//! The choice of the time column of a new table.

use super::column_names::{ARRIVAL_NAMES, CANDIDATES, suggests_time, usual_place};
use super::evidence::{ColumnEvidence, Evidence};
use super::reader::Wording;
use super::spelling::DayOrder;
use crate::warning::Warning;

/// The longest excerpt of a value in a message, in characters.
const EXCERPT_CHARS_MAX: usize = 40;

/// The names that may be the time column's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// Names that suggest a time, as for single events.
    OfTimes,
    /// Any name, as for the columns of a file.
    Any,
}

/// The time column of a new table.
#[derive(Debug)]
pub(crate) struct Choice {
    /// The column with the rows' times; `None` if no column has times.
    pub(crate) column: Option<String>,
    /// The column's order of day and month, if one of its texts shows it.
    pub(crate) order: Option<DayOrder>,
    /// How the column's first time is written; `None` for numbers.
    pub(crate) wording: Option<Wording>,
    /// The name of the column for times of arrival: one that no row uses.
    pub(crate) arrival: &'static str,
    /// The other columns with times.
    pub(crate) others: Vec<String>,
    /// What a person may have expected otherwise.
    pub(crate) remarks: Vec<Warning>,
}

/// A column called like a time has none that can be read.
pub(crate) const NOT_A_TIME: &str = "not_a_time";
/// The dates of the time column are times with the day first and with the month first.
pub(crate) const AMBIGUOUS_DATES: &str = "ambiguous_dates";
/// The numbers of the time column are no times since 2001.
pub(crate) const EARLY_TIMES: &str = "early_times";
/// Columns have no times although one has a usual name.
pub(crate) const NO_TIMES: &str = "no_times";

/// How good a column is as the time column: the least is the best.
type Rank = (bool, bool, bool, u8, usize, bool, bool);

/// Chooses the time column of a new table by its first rows.
///
/// Columns with usual times come first, then those with times after tomorrow. Of these, top-level
/// columns come before those in objects, and usual names before others. Then ISO 8601 comes before
/// other spellings, and these before numbers; times of day come before days.
pub(crate) fn choose(evidence: &Evidence, names: Names) -> Choice {
    let ranked = evidence.columns.iter().enumerate();
    let ranked = ranked
        .filter_map(|(place, column)| Some(((rank(column, evidence, names)?, place), column)));
    let best = ranked.min_by_key(|(rank, _)| *rank).map(|(_, column)| column);
    let is_best = |column: &ColumnEvidence| best.is_some_and(|best| best.name == column.name);
    let all_times = |column: &&ColumnEvidence| {
        column.iso + column.spelled > 0 && column.iso + column.spelled == column.values
    };
    let others = evidence.columns.iter().filter(all_times).filter(|column| !is_best(column));
    let unused = ARRIVAL_NAMES.iter().find(|name| !evidence.has(name));
    let arrival = unused.copied().unwrap_or(ARRIVAL_NAMES[0]);
    let mut remarks: Vec<Warning> = evidence
        .columns
        .iter()
        .filter(|column| !is_best(column))
        .filter_map(|column| unread(column, best.is_some()))
        .collect();
    match best {
        Some(column) => remarks.extend(doubts(column)),
        None if arrival != CANDIDATES[0] => {
            let usual = CANDIDATES[0];
            remarks.push(Warning {
                count: 1,
                code: NO_TIMES,
                message: format!(
                    "column {usual} has no times in the first rows; the rows' time is that of \
                     arrival, in column {arrival}"
                ),
            });
        }
        None => {}
    }
    Choice {
        column: best.map(|column| column.name.clone()),
        order: best.and_then(ColumnEvidence::order),
        wording: best.and_then(|column| column.wording(&evidence.reader)),
        arrival,
        others: others.map(|column| column.name.clone()).collect(),
        remarks,
    }
}

/// Chooses the time column of a file all whose columns of times are converted to ISO 8601, and adds
/// remarks on those that could be read otherwise.
pub(crate) fn choose_of_converted(evidence: &Evidence) -> Choice {
    let mut choice = choose(evidence, Names::Any);
    for column in &evidence.columns {
        if choice.others.contains(&column.name) {
            choice.remarks.extend(order_doubts(column));
        }
    }
    choice
}

/// The rank of a column; `None` if it has no times.
fn rank(column: &ColumnEvidence, evidence: &Evidence, names: Names) -> Option<Rank> {
    let rows = evidence.rows;
    let usual = usual_place(&column.name);
    let times = column.times();
    let form = match times {
        0 if usual.is_some() && column.numbers + column.other_years > 0 => 3,
        0 if column.is_typed && column.values == 0 => 0,
        0 => return None,
        _ if column.iso * 2 >= times => 0,
        _ if (column.iso + column.spelled) * 2 >= times => 1,
        _ => 2,
    };
    let is_mostly_times = times * 2 >= column.values && (times > 0 || column.is_typed);
    let is_whole = times == column.values && form < 2;
    let is_in_most = times * 2 >= rows;
    let is_allowed = match usual {
        Some(_) => is_mostly_times || form == 3,
        None if suggests_time(&column.name) || column.is_typed => is_whole && is_in_most,
        None => names == Names::Any && is_whole && times == rows,
    };
    let is_future = column.future * 2 > times;
    let is_nested = column.name.contains('.');
    let is_suggested = suggests_time(&column.name);
    let is_day = column.wording(&evidence.reader).is_some_and(|wording| !wording.has_clock);
    let place = usual.unwrap_or(CANDIDATES.len());
    // Numbers of the 1970s are the last resort.
    let is_last = form == 3;
    is_allowed.then_some((
        is_last || is_future,
        is_nested,
        usual.is_none(),
        form,
        place,
        is_day,
        !is_suggested,
    ))
}

/// A remark on a column called like a time whose texts are no times. `has_time` is whether another
/// column has the rows' times.
fn unread(column: &ColumnEvidence, has_time: bool) -> Option<Warning> {
    let text = column.no_time.as_deref()?;
    let is_usual = usual_place(&column.name).is_some();
    let is_meant = is_usual || (suggests_time(&column.name) && looks_like_time(text));
    let is_read = column.times() * 2 >= column.values;
    let way_out = match has_time {
        true => "its values are texts",
        false => "the rows' time is not taken from it",
    };
    (is_meant && !is_read).then(|| Warning {
        count: 1,
        code: NOT_A_TIME,
        message: format!(
            "column {}: {:?} is not understood as a time, {way_out}; --time-format says how times \
             are written, such as %d.%m.%Y %H:%M",
            column.name,
            excerpt(text)
        ),
    })
}

/// Remarks on the time column itself.
fn doubts(column: &ColumnEvidence) -> Vec<Warning> {
    let mut remarks = order_doubts(column);
    if column.times() == 0
        && let Some(number) = &column.no_plausible
    {
        remarks.push(Warning {
            count: 1,
            code: EARLY_TIMES,
            message: format!(
                "column {}: {} was read as a time before 2001; --time names another column, and \
                 --time received takes the time of arrival",
                column.name,
                excerpt(number)
            ),
        });
    }
    remarks
}

/// Remarks on the order of day and month in a column.
fn order_doubts(column: &ColumnEvidence) -> Vec<Warning> {
    let mut remarks = Vec::new();
    let name = &column.name;
    if let Some(text) = &column.ambiguous
        && column.order().is_none()
        && !text.contains('.')
    {
        remarks.push(Warning {
            count: 1,
            code: AMBIGUOUS_DATES,
            message: format!(
                "column {name}: {:?} was read with the month first, because no date shows which \
                 is first; --time-format day-first reads the day first",
                excerpt(text)
            ),
        });
    }
    let [day_first, month_first, _] = column.orders;
    if day_first > 0 && month_first > 0 {
        let order = if day_first > month_first { "day" } else { "month" };
        remarks.push(Warning {
            count: 1,
            code: AMBIGUOUS_DATES,
            message: format!(
                "column {name}: of the first dates {day_first} have the day first, and \
                 {month_first} the month; all were read with the {order} first, and --time-format \
                 day-first or month-first says which is right"
            ),
        });
    }
    remarks
}

/// Whether a text has the parts of a date: three numbers, or a number and letters and a colon.
fn looks_like_time(text: &str) -> bool {
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    numbers.count() >= 3 || (text.contains(':') && text.contains(|c: char| c.is_ascii_digit()))
}

fn excerpt(text: &str) -> String {
    text.chars().take(EXCERPT_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests;
