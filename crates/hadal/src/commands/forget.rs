//! `hadal forget`: gives up the rows of a leaf that is gone.

use clap::Args;

use crate::args::ServerArgs;
use crate::commands::cluster::report::{Cluster, Leaf};
use crate::error::Error;
use crate::output;

/// Give up the rows of a leaf that will not return
#[derive(Args)]
#[command(after_help = "Examples:
  hadal cluster                          shows which leaves are silent
  hadal forget machine-2/leaf-0          asks first, and says how many rows are given up
  hadal forget machine-2/leaf-0 --yes    for scripts

Answers count the rows of a silent leaf as missing until it is back or they would have expired.
After this they do not. If the leaf is started again nevertheless, its rows are in answers again.")]
pub(crate) struct ForgetArgs {
    /// The leaf
    leaf: String,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// Runs the command.
pub(crate) fn run(args: &ForgetArgs) -> Result<(), Error> {
    let client = args.server.client()?;
    let leaf = &args.leaf;
    if !args.yes {
        if !output::can_ask() {
            let message = format!("there is nobody to ask; to forget leaf {leaf} say --yes");
            return Err(Error::Usage(message));
        }
        let cluster: Cluster = client.get("/v1/cluster")?;
        if !output::ask(&question(&cluster, leaf)?)? {
            output::say("nothing was forgotten");
            return Ok(());
        }
    }
    let (rows, tables) = client.forget_leaf(leaf)?;
    let (rows, tables) = (output::count(rows, "row"), output::count(tables, "table"));
    output::say(&format!("forgot leaf {leaf}: {rows} of {tables} are no longer expected"));
    Ok(())
}

/// What is asked before a leaf is forgotten.
fn question(cluster: &Cluster, name: &str) -> Result<String, Error> {
    let Some(leaf) = cluster.all_leaves().find(|leaf| leaf.name == name) else {
        let silent = cluster.all_leaves().filter(|leaf| !leaf.answers);
        let silent: Vec<&str> = silent.map(|leaf| leaf.name.as_str()).collect();
        let silent = match silent.as_slice() {
            [] => "no leaf is silent".to_owned(),
            names => format!("silent are: {}", names.join(", ")),
        };
        return Err(Error::Usage(format!("there is no leaf {name}; {silent}")));
    };
    let Leaf { rows, tables, tables_left_out, .. } = leaf;
    Ok(format!(
        "Leaf {name} is {}. {} of {} are expected of it. Give them up, so that answers no longer \
         count them as missing?",
        leaf.state_words(&cluster.at),
        output::count(rows.rows_expected, "row"),
        output::count((tables.len() as u64).saturating_add(*tables_left_out), "table"),
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_question_says_what_is_given_up() {
        let leaf = json!({
            "name": "m-2/leaf-0", "state": "silent", "answers": false,
            "since": "2026-11-21T11:59:11Z", "release": "0.1.0", "started": null,
            "used_bytes": 0, "free_bytes": 0,
            "rows": 0, "rows_expected": 273_034, "coverage": 0.0,
            "tables": [], "tables_left_out": 4,
        });
        let cluster = json!({
            "cluster": "abyss", "at": "2026-11-21T12:00:00Z", "leaves": 1, "leaves_answering": 0,
            "rows": 0, "rows_expected": 273_034, "coverage": 0.0, "used_bytes": 0, "free_bytes": 0,
            "problems": [], "tables": [], "tables_left_out": 4,
            "machines": [{ "name": "m-2", "rack": "", "aggregator": null, "leaves": [leaf] }],
        });
        let cluster: Cluster = serde_json::from_value(cluster).expect("a cluster");
        assert_eq!(
            question(&cluster, "m-2/leaf-0").expect("a question"),
            "Leaf m-2/leaf-0 is silent for 49 s. 273,034 rows of 4 tables are expected of it. \
             Give them up, so that answers no longer count them as missing?"
        );
        let error = question(&cluster, "m-1/leaf-0").expect_err("no such leaf");
        assert_eq!(error.to_string(), "there is no leaf m-1/leaf-0; silent are: m-2/leaf-0");
    }
}
