//! Cuts a query of many raw rows into queries of a page of rows each.
//!
//! Rows come in the order of time. A query asks for a slice of the time range and for one row more
//! than a page. If it gets fewer, the slice is done. Otherwise the rows of the last microsecond may
//! not all be there: they are left to the next slice, which begins with that microsecond. No row is
//! fetched twice but those. A microsecond with more rows than a page is a slice of its own.
//!
//! The width of slices follows the number of rows in them, so a slice holds most of a page, and
//! little beyond it is scanned.

use hadal_types::{Micros, TimeRange, limits};

/// One query: a part of the time range, and the most rows to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) range: TimeRange,
    pub(crate) limit: u64,
    /// Whether it is one microsecond.
    is_moment: bool,
}

/// More rows have one time than a query may fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CrowdedMoment(pub(crate) Micros);

/// The rest of a query in slices.
#[derive(Clone, Debug)]
pub(crate) struct TimeSlices {
    /// The first microsecond of all.
    start: i64,
    /// From the first microsecond of the rest to the one after its last.
    from: i64,
    to: i64,
    /// The original range: its open ends stay open.
    whole: TimeRange,
    descending: bool,
    /// The width of the next slice in microseconds.
    width: i64,
    rows_left: u64,
    /// Whether the next slice is the one microsecond at the beginning of the rest.
    is_moment: bool,
    has_begun: bool,
}

/// The largest growth from one slice to the next.
const GROWTH_MAX: i64 = 16;

impl TimeSlices {
    /// Slices of `range` for at most `limit` rows. The table has `rows` rows from `first` to
    /// `last`, both inclusive; later ones are not asked for.
    pub(crate) fn new(
        range: TimeRange,
        table: Option<(Micros, Micros)>,
        rows: u64,
        limit: u64,
        descending: bool,
    ) -> Self {
        let (first, last) = table.unwrap_or((Micros(0), Micros(0)));
        let from = range.from.map_or(first.0, |from| from.0);
        let to = range.to.map_or(last.0.saturating_add(1), |to| to.0);
        let span = i128::from(last.0) - i128::from(first.0) + 1;
        let width = span * i128::from(limits::STREAMED_PAGE_ROWS) * 3 / 4 / i128::from(rows.max(1));
        Self {
            start: from,
            from,
            to,
            whole: TimeRange { to: range.to.or(table.map(|_| Micros(to))), ..range },
            descending,
            width: i64::try_from(width.max(1)).unwrap_or(i64::MAX),
            rows_left: limit,
            is_moment: false,
            has_begun: false,
        }
    }

    /// The whole range, whose end is fixed.
    pub(crate) fn whole(&self) -> TimeRange {
        self.whole
    }

    /// Rows that may still come.
    pub(crate) fn rows_left(&self) -> u64 {
        self.rows_left
    }

    /// The next query; `None` at the end. There is at least one, for the columns.
    pub(crate) fn next(&self) -> Option<Slice> {
        if !self.has_begun && self.from >= self.to {
            return Some(Slice { range: self.whole, limit: self.rows_left, is_moment: false });
        }
        if self.rows_left == 0 || self.from >= self.to {
            return None;
        }
        let width = if self.is_moment { 1 } else { self.width };
        let (from, to) = match self.descending {
            true => (self.to.saturating_sub(width).max(self.from), self.to),
            false => (self.from, self.from.saturating_add(width).min(self.to)),
        };
        let is_open = self.whole.from.is_none() && from == self.start;
        let range = TimeRange { from: (!is_open).then_some(Micros(from)), to: Some(Micros(to)) };
        let most = match self.is_moment {
            true => limits::STREAMED_MOMENT_ROWS_MAX,
            false => limits::STREAMED_PAGE_ROWS,
        };
        Some(Slice { range, limit: self.rows_left.min(most + 1), is_moment: self.is_moment })
    }

    /// Notes the rows of the slice that [`Self::next`] returned: their times in their order, and
    /// how many rows matched. Returns how many of the rows count; the rest comes again.
    ///
    /// # Errors
    /// [`CrowdedMoment`] when the rows of one microsecond are too many.
    pub(crate) fn advance(
        &mut self,
        slice: &Slice,
        times: &[Micros],
        rows_matched: u64,
    ) -> Result<usize, CrowdedMoment> {
        let rows = times.len() as u64;
        self.has_begun = true;
        if rows < slice.limit {
            self.rows_left -= rows;
            self.leave(slice);
            if !slice.is_moment {
                self.fit_width(rows_matched);
            }
            self.is_moment = false;
            return Ok(times.len());
        }
        if slice.limit == self.rows_left {
            self.rows_left = 0;
            return Ok(times.len());
        }
        let Some(last) = times.last() else { return Ok(0) };
        if slice.is_moment {
            return Err(CrowdedMoment(*last));
        }
        let kept = times.partition_point(|time| match self.descending {
            true => time > last,
            false => time < last,
        });
        match self.descending {
            true => self.to = last.0.saturating_add(1),
            false => self.from = last.0,
        }
        self.is_moment = kept == 0;
        self.rows_left -= kept as u64;
        self.fit_width(rows_matched);
        Ok(kept)
    }

    /// The slice is done.
    fn leave(&mut self, slice: &Slice) {
        match (self.descending, slice.range.from, slice.range.to) {
            (true, Some(from), _) => self.to = from.0,
            (true, None, _) => self.to = self.from,
            (false, _, Some(to)) => self.from = to.0,
            (false, _, None) => self.from = self.to,
        }
    }

    /// Chooses the width so that the next slice holds three quarters of a page, if it is as dense
    /// as the last one, in which `rows` rows matched.
    fn fit_width(&mut self, rows: u64) {
        let page = i128::from(limits::STREAMED_PAGE_ROWS) * 3 / 4;
        let width = i128::from(self.width) * page / i128::from(rows.max(1));
        let most = i128::from(self.width) * i128::from(GROWTH_MAX);
        self.width = i64::try_from(width.clamp(1, most)).unwrap_or(i64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fetches all rows with these ascending times; returns them, and the number of queries.
    fn fetch(
        rows: &[i64],
        range: TimeRange,
        limit: u64,
        descending: bool,
    ) -> Result<(Vec<i64>, usize), CrowdedMoment> {
        let ends =
            rows.first().zip(rows.last()).map(|(first, last)| (Micros(*first), Micros(*last)));
        let mut slices = TimeSlices::new(range, ends, rows.len() as u64, limit, descending);
        let (mut fetched, mut queries) = (Vec::new(), 0);
        while let Some(slice) = slices.next() {
            let matching = rows.iter().filter(|row| slice.range.contains(Micros(**row)));
            let mut matching: Vec<Micros> = matching.map(|row| Micros(*row)).collect();
            let matched = matching.len() as u64;
            if descending {
                matching.reverse();
            }
            matching.truncate(usize::try_from(slice.limit).expect("small"));
            let kept = slices.advance(&slice, &matching, matched)?;
            fetched.extend(matching[..kept].iter().map(|time| time.0));
            queries += 1;
            assert!(queries < 10_000, "it ends");
        }
        Ok((fetched, queries))
    }

    fn expected(rows: &[i64], range: TimeRange, limit: u64, descending: bool) -> Vec<i64> {
        let mut rows: Vec<i64> =
            rows.iter().copied().filter(|row| range.contains(Micros(*row))).collect();
        if descending {
            rows.reverse();
        }
        rows.truncate(usize::try_from(limit).expect("small"));
        rows
    }

    fn check(rows: &[i64], range: TimeRange, limit: u64, queries_max: usize) {
        for descending in [false, true] {
            let (fetched, queries) = fetch(rows, range, limit, descending).expect("no crowd");
            assert!(fetched == expected(rows, range, limit, descending), "{descending}");
            assert!(queries <= queries_max, "{queries} queries");
        }
    }

    const PAGE: i64 = limits::STREAMED_PAGE_ROWS.cast_signed();

    #[test]
    fn every_row_comes_once_and_in_order() {
        let even: Vec<i64> = (0..4 * PAGE).map(|row| row * 1_000).collect();
        check(&even, TimeRange::ALL, 10_000_000, 8);
        check(&even, TimeRange::ALL, 150_000, 5);
        check(
            &even,
            TimeRange { from: Some(Micros(5_000)), to: Some(Micros(90_000_000)) },
            200_000,
            3,
        );
        check(&[], TimeRange::ALL, 200_000, 1);
        check(&[7], TimeRange::ALL, 200_000, 1);
    }

    #[test]
    fn slices_follow_the_density_of_rows() {
        // A dense second, an hour without rows, and a dense second again, three times as dense.
        let first = (0..PAGE).map(|row| row * 1_000_000 / PAGE);
        let second = (0..3 * PAGE).map(|row| 3_600_000_000 + row * 1_000_000 / (3 * PAGE));
        let rows: Vec<i64> = first.chain(second).collect();
        check(&rows, TimeRange::ALL, 10_000_000, 40);
    }

    #[test]
    fn a_microsecond_may_have_more_rows_than_a_page() {
        let mut rows: Vec<i64> = (0..100).collect();
        rows.extend(std::iter::repeat_n(100, 200_000));
        rows.extend(101..PAGE);
        check(&rows, TimeRange::ALL, 10_000_000, 20);
        check(&rows, TimeRange::ALL, 150_000, 20);
        let most = usize::try_from(limits::STREAMED_MOMENT_ROWS_MAX).expect("small");
        let crowd = vec![5; most];
        check(&crowd, TimeRange::ALL, 10_000_000, 3);
        let crowd = vec![5; most + 1];
        let refused = fetch(&crowd, TimeRange::ALL, 10_000_000, false).expect_err("refused");
        assert_eq!(refused, CrowdedMoment(Micros(5)));
    }

    #[test]
    fn the_end_is_fixed_and_the_open_start_stays_open() {
        let table = Some((Micros(10), Micros(20)));
        let slices = TimeSlices::new(TimeRange::ALL, table, 3, 200_000, true);
        assert_eq!(slices.whole(), TimeRange { from: None, to: Some(Micros(21)) });
        let only = slices.next().expect("a slice");
        assert_eq!(only.range, TimeRange { from: None, to: Some(Micros(21)) });
    }
}
