//! The most frequent of values that have codes: rows are counted by code first, so that each value
//! of a group is built and looked up once.

use hadal_aggregate::TopValues;

use crate::column::column_values::Coded;
use crate::column::weights::Weights;

/// The values of one block.
pub(crate) struct FrequentValues<'v> {
    coded: &'v Coded<'v>,
    /// The weight of each code's rows in the current group, in millionths.
    weights: Vec<i128>,
    /// The codes with a weight.
    used: Vec<u32>,
}

impl<'v> FrequentValues<'v> {
    pub(crate) fn new(coded: &'v Coded<'v>) -> Self {
        Self { coded, weights: vec![0; coded.entries.len()], used: Vec::new() }
    }

    /// Adds the values of these rows, all of one group.
    pub(crate) fn add_to(&mut self, top: &mut TopValues, rows: &[u32], weights: &Weights) {
        for row in rows.iter().map(|&row| row as usize) {
            let code = self.coded.codes[row];
            let sum = &mut self.weights[code as usize];
            if *sum == 0 {
                self.used.push(code);
            }
            *sum += i128::from(weights.millionths_of(row));
        }
        for code in self.used.drain(..).map(|code| code as usize) {
            let weight = std::mem::take(&mut self.weights[code]);
            top.add_weight(&self.coded.entries.value(code), weight);
        }
    }
}
