//! Words the damage that a recovery found.

use std::collections::BTreeMap;

use hadal_peer::LeafLoss;
use hadal_store::LostBlock;
use hadal_types::{LeafName, TableName};

use crate::output;
use crate::process::recovered::Recovered;

/// Reports on standard error the damage that a recovery found.
pub(crate) fn say_damage(recovered: &Recovered) {
    for (leaf, report) in &recovered.reports {
        if report.log_bytes_cut + report.manifest_bytes_cut > 0 {
            let cut = output::bytes(report.log_bytes_cut + report.manifest_bytes_cut);
            output::say(&format!(
                "{leaf}: cut {cut} at the end of its files that are not whole: what a crash leaves half \
                 written, and was never acknowledged"
            ));
        }
        if let Some(reason) = &report.memory_refused {
            output::say(&format!(
                "{leaf}: memory is not used, and rows are read from disk: {reason}; once that is removed or \
                 mended, the next start uses memory again"
            ));
        }
        if let Some(mended) = &report.manifest_mended {
            output::say(&format!("{leaf}: MENDED: {mended}"));
        }
    }
    for (leaf, losses) in &recovered.losses {
        for LeafLoss { found, what } in losses {
            output::say(&format!(
                "{leaf}: {what} (found {found}; hadal acknowledge-loss ends this)"
            ));
        }
    }
    for (leaf, reason) in &recovered.leaves_failed {
        output::say(&format!("{leaf}: DOES NOT SERVE, and answers are without its rows: {reason}"));
    }
    lost_tables(recovered).iter().for_each(|line| output::say(line));
}

/// One sentence for each leaf that does not serve, without a path of this machine.
pub(crate) fn damage(recovered: &Recovered) -> Vec<String> {
    let failed = recovered.leaves_failed.iter();
    let line = |(leaf, _): &(LeafName, String)| {
        format!(
            "{leaf}: DOES NOT SERVE: its manifest and the copy of it are damaged, so answers are without \
             its rows; see docs/damage.md"
        )
    };
    failed.map(line).collect()
}

/// One line per table with lost row blocks.
fn lost_tables(recovered: &Recovered) -> Vec<String> {
    let lost = recovered.reports.iter().flat_map(|(_, report)| &report.lost_blocks);
    let mut tables: BTreeMap<&TableName, Vec<&LostBlock>> = BTreeMap::new();
    lost.for_each(|block| tables.entry(&block.table).or_default().push(block));
    let line = |(table, blocks): (&TableName, Vec<&LostBlock>)| {
        let rows = blocks.iter().map(|block| u64::from(block.rows)).sum();
        let first = blocks.first().map_or("", |block| &block.reason);
        format!(
            "LOST: {} of table {table} in {}, which answers count as missing until hadal \
             acknowledge-loss {table}; the first: {first}",
            output::count(rows, "row"),
            output::count(blocks.len() as u64, "row block"),
        )
    };
    tables.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use hadal_store::{BlockNumber, Report};

    use super::*;

    #[test]
    fn lost_blocks_are_told_by_table() {
        let block = |table: &str, number: u64, rows: u32| LostBlock {
            number: BlockNumber(number),
            table: TableName::new(table).expect("a name"),
            rows,
            reason: format!("reason {number}"),
        };
        let report = |lost_blocks| Report { lost_blocks, ..Report::default() };
        let reports = vec![
            (LeafName("leaf-0".into()), report(vec![block("t", 4, 1_000), block("u", 5, 1)])),
            (LeafName("leaf-1".into()), report(vec![block("t", 6, 500)])),
        ];
        let recovered = Recovered { reports, ..Recovered::default() };
        let until =
            |table| format!("which answers count as missing until hadal acknowledge-loss {table}");
        assert_eq!(
            lost_tables(&recovered),
            [
                format!(
                    "LOST: 1,500 rows of table t in 2 row blocks, {}; the first: reason 4",
                    until("t")
                ),
                format!(
                    "LOST: 1 row of table u in 1 row block, {}; the first: reason 5",
                    until("u")
                ),
            ]
        );
    }
}
