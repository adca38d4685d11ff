//! The experiments of section 5, in their order.

use std::net::SocketAddr;
use std::sync::Arc;

use hadal_aggregate::Partial;
use hadal_leaf::Leaf;
use hadal_peer::MemberState;
use hadal_tree::{ClusterTree, ExpectedRows};
use hadal_types::LeafState;
use serde_json::{Value, json};

use crate::cli::Cli;
use crate::cluster::{ask, start_leaves, whole};
use crate::error::Error;
use crate::events::rows_in;
use crate::model::{ClusterShape, Costs, paper, planned, work};
use crate::one_path::{Played, measure};
use crate::question::Question;
use crate::replay::{Recorded, Recordings};
use crate::samples::{Samples, millis};
use crate::servers::{leaf_name, machine_name, remote_leaf, start};
use crate::{clients, costs, real, simulate};

/// Machines of the speed-up, as in the paper's figure 10.
const SPEED_UP_MACHINES: usize = 20;
/// Machines of the scale-up, as in figure 11, and beyond.
const SCALE_UP: [usize; 7] = [10, 20, 40, 80, 160, 320, 1_000];
/// Up to as many machines a whole cluster is played.
const WHOLE_MACHINES_MAX: usize = 160;
/// Leaves of each machine of a whole cluster.
const WHOLE_LEAVES: usize = 2;
/// Fanouts that are compared.
const FANOUTS: [usize; 6] = [2, 3, 4, 5, 6, 8];
/// Real leaves, one for each core of a small machine.
const REAL_LEAVES: usize = 2;

/// What a leaf with some units of data answered to a question.
pub(crate) struct LeafAnswer {
    question: Question,
    units: u64,
    matching: u64,
    recorded: Recorded,
    times: usize,
}

impl LeafAnswer {
    fn played(&self) -> Played<'_> {
        let (question, matching) = (&self.question, self.matching);
        Played { question, matching, leaf: &self.recorded, times: self.times }
    }

    fn is_of(&self, question: &Question, units: u64) -> bool {
        self.question.query == question.query && self.units == units
    }
}

/// All that the experiments share.
pub(crate) struct Experiments<'c> {
    cli: &'c Cli,
    recordings: Arc<Recordings>,
    leaves: Vec<SocketAddr>,
    answers: Vec<LeafAnswer>,
}

impl<'c> Experiments<'c> {
    /// Starts the replay leaves of the first machine.
    ///
    /// # Errors
    /// When no port is free.
    pub(crate) async fn new(cli: &'c Cli) -> Result<Self, Error> {
        let recordings = Arc::default();
        let leaves = start_leaves(0, cli.leaves, &recordings).await?;
        Ok(Self { cli, recordings, leaves, answers: Vec::new() })
    }

    const fn shape(&self, machines: usize, fanout: usize) -> ClusterShape {
        ClusterShape { machines, leaves: self.cli.leaves, fanout }
    }

    /// Real leaves with 1 to 8 units: T_S, and the time through an aggregator. Records what the
    /// replay leaves answer later.
    ///
    /// # Errors
    /// [`Error`].
    pub(crate) async fn real_leaves(&mut self) -> Result<Vec<Value>, Error> {
        let (tree, leaves) = real_machine().await?;
        let mut lines = Vec::new();
        for units in 1..=self.cli.units {
            for leaf in &leaves {
                let copy = usize::try_from(units).unwrap_or(usize::MAX);
                real::add_unit(leaf, self.cli.rows, copy).await?;
            }
            let bytes = leaves[0].holdings().values().map(|(_, bytes)| bytes).sum::<u64>();
            for question in self.questions(units)? {
                let matching = units * rows_in(&question.query.range, self.cli.rows);
                let times = self.cli.repeats;
                let (partial, scan) = real::scan(&leaves[0], &question, matching, times).await?;
                let all = (matching * REAL_LEAVES as u64, REAL_LEAVES);
                let (_, through) = ask(&tree, &question, all, times).await?;
                lines.push(json!({
                    "units": units, "rows": units * self.cli.rows, "bytes": bytes,
                    "question": question.kind.name(), "hours": question.hours,
                    "scan_ms": scan.summary()?, "machine_ms": through.summary()?,
                }));
                let leaf_rows = units * self.cli.rows;
                let recorded = Recorded { partial: bare(partial), leaf_rows, times: scan };
                self.answers.push(LeafAnswer { question, units, matching, recorded, times });
            }
        }
        Ok(lines)
    }

    /// The questions of this step: all where clients ask them later.
    fn questions(&self, units: u64) -> Result<Vec<Question>, Error> {
        match units == self.cli.client_units {
            true => Question::all(),
            false => Ok(Question::both()?.into()),
        }
    }

    fn answer(&self, question: &Question, units: u64) -> Result<&LeafAnswer, Error> {
        self.answers.iter().find(|answer| answer.is_of(question, units)).ok_or(Error::NoSamples)
    }

    /// The costs of the steps of a question, and the scan times as replayed.
    async fn costs(&self, answer: &LeafAnswer) -> Result<(Costs, Samples, Value), Error> {
        self.recordings.set_leaf(answer.recorded.clone());
        let partial = &answer.recorded.partial;
        let (question, times) = (&answer.question, self.cli.repeats.max(20));
        let played = (&self.leaves[..], &self.recordings);
        let steps = costs::measure(question, partial, answer.matching, played, times).await?;
        Ok((steps.costs()?, steps.scan.clone(), steps.summary()?))
    }

    /// One path of a cluster of this shape beside the model and the simulation.
    async fn predicted_and_measured(
        &self,
        answer: &LeafAnswer,
        shape: ClusterShape,
    ) -> Result<Value, Error> {
        // Others use the machine, too, so costs are measured before each figure.
        let (costs, scans, _) = self.costs(answer).await?;
        let times = measure(shape, &answer.played(), &self.leaves, &self.recordings).await?;
        let predicted = planned(shape, costs);
        Ok(json!({
            "question": answer.question.kind.name(), "machines": shape.machines,
            "leaves": shape.leaves, "fanout": shape.fanout, "units": answer.units,
            "t_s": millis(costs.scan),
            "paper_ms": millis(paper(shape, costs)), "model_ms": millis(predicted),
            "simulated_ms": millis(simulate::mean(shape, costs, scans.all())),
            "ms": times.summary()?, "ratio": predicted / times.median()?,
        }))
    }

    /// T_S, T_D, T_G and T_A of both questions.
    ///
    /// # Errors
    /// [`Error`].
    pub(crate) async fn steps(&self) -> Result<Vec<Value>, Error> {
        let mut lines = Vec::new();
        for question in Question::both()? {
            let (_, _, mut steps) =
                self.costs(self.answer(&question, self.cli.scale_units)?).await?;
            steps["question"] = json!(question.kind.name());
            lines.push(steps);
        }
        Ok(lines)
    }

    /// More data per leaf on 20 machines.
    ///
    /// # Errors
    /// [`Error`].
    pub(crate) async fn speed_up(&self) -> Result<Vec<Value>, Error> {
        let mut lines = Vec::new();
        for question in Question::both()? {
            for units in 1..=self.cli.units {
                let shape = self.shape(SPEED_UP_MACHINES, self.cli.fanout);
                let answer = self.answer(&question, units)?;
                lines.push(self.predicted_and_measured(answer, shape).await?);
            }
        }
        Ok(lines)
    }

    /// More machines with the same data per leaf; then other fanouts of 160 machines.
    ///
    /// # Errors
    /// [`Error`].
    pub(crate) async fn scale_up(&self) -> Result<(Vec<Value>, Vec<Value>), Error> {
        let (mut machines, mut fanouts) = (Vec::new(), Vec::new());
        for question in Question::both()? {
            let answer = self.answer(&question, self.cli.scale_units)?;
            for count in SCALE_UP {
                let shape = self.shape(count, self.cli.fanout);
                machines.push(self.predicted_and_measured(answer, shape).await?);
            }
            for fanout in FANOUTS {
                let shape = self.shape(160, fanout);
                fanouts.push(self.predicted_and_measured(answer, shape).await?);
            }
        }
        Ok((machines, fanouts))
    }

    /// Whole clusters on this machine: all aggregators and all replay leaves.
    ///
    /// # Errors
    /// [`Error`].
    pub(crate) async fn whole_clusters(&self) -> Result<Vec<Value>, Error> {
        let mut lines = Vec::new();
        for count in SCALE_UP.into_iter().filter(|count| *count <= WHOLE_MACHINES_MAX) {
            let shape = ClusterShape { leaves: WHOLE_LEAVES, ..self.shape(count, self.cli.fanout) };
            let tree = whole(shape, &self.recordings).await?;
            for question in Question::both()? {
                let answer = self.answer(&question, self.cli.scale_units)?;
                let (costs, ..) = self.costs(answer).await?;
                let leaves = shape.machines * shape.leaves;
                let expected = (answer.matching * leaves as u64, leaves);
                let mut line = json!({
                    "question": question.kind.name(), "machines": count, "leaves": shape.leaves,
                    "fanout": shape.fanout, "model_ms": millis(planned(shape, costs)),
                    "work_ms": millis(work(shape, costs)),
                });
                match ask(&tree, &question, expected, self.cli.repeats).await {
                    Ok((_, times)) => line["ms"] = times.summary()?,
                    // Pings of connections wait too long.
                    Err(Error::Overloaded { why, .. }) => line["overloaded"] = json!(why),
                    Err(error) => return Err(error),
                }
                lines.push(line);
            }
        }
        Ok(lines)
    }

    /// 1 to 32 clients of a whole cluster.
    ///
    /// # Errors
    /// [`Error`].
    pub(crate) async fn clients(&self) -> Result<Vec<Value>, Error> {
        let shape = ClusterShape { machines: 5, leaves: WHOLE_LEAVES, fanout: self.cli.fanout };
        let tree = whole(shape, &self.recordings).await?;
        let mut lines = Vec::new();
        for question in Question::all()? {
            let answer = self.answer(&question, self.cli.client_units)?;
            self.recordings.set_leaf(answer.recorded.clone());
            let leaves = shape.machines * shape.leaves;
            let expected = (answer.matching * leaves as u64, leaves);
            lines.extend(clients::measure(&tree, &question, expected, self.cli.queries).await?);
        }
        Ok(lines)
    }
}

/// One machine of real leaves, each behind a server.
async fn real_machine() -> Result<(ClusterTree, Vec<Arc<Leaf>>), Error> {
    let machine = machine_name(0);
    let tree = ClusterTree::new(machine.clone(), 5, &Arc::new(ExpectedRows::default()));
    let mut leaves = Vec::new();
    for index in 0..REAL_LEAVES {
        let name = leaf_name(0, index);
        let leaf = real::open(name.clone())?;
        let address = start(name.clone(), leaf.clone(), None).await?;
        let peer = remote_leaf(name.clone(), address, &machine)?;
        tree.put_leaf(name, machine.clone(), peer, MemberState::Announced(LeafState::Alive));
        leaves.push(leaf);
    }
    Ok((tree, leaves))
}

/// A partial that holds no memory of its leaf's queries.
fn bare(partial: Partial) -> Partial {
    Partial { reservation: Default::default(), ..partial }
}
