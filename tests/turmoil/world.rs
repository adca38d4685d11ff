//! One seed's cluster: leaves, doors, clients and the faults between them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hadal_peer::{Admin, Peer, Sink};
use hadal_query::FunctionRegistry;
use hadal_random::Random;
use hadal_rpc::{Services, serve_streams};
use hadal_types::{BatchId, LeafName};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep, sleep_until};

use crate::door::{Door, Planted, Processes, identity};
use crate::leaf::CountingLeaf;
use crate::network::accept_all;
use crate::records::Records;

pub(crate) const DEADLINE: Duration = Duration::from_secs(2);
const LEAVES: usize = 4;
const DOORS: usize = 2;
const BATCHES: usize = 30;
const QUERIES: usize = 40;
/// Until then there are faults.
const FAULTS: Duration = Duration::from_secs(12);
/// All clients must be done by then.
const END: Duration = Duration::from_secs(90);

/// What clients know.
#[derive(Default)]
pub(crate) struct Clients {
    sent: Mutex<BTreeSet<BatchId>>,
    acknowledged: Mutex<BTreeSet<BatchId>>,
}

impl Clients {
    pub(crate) fn note_sent(&self, id: &BatchId) {
        self.sent.lock().insert(id.clone());
    }

    pub(crate) fn note_acknowledged(&self, id: &BatchId) {
        self.acknowledged.lock().insert(id.clone());
    }

    pub(crate) fn sent(&self) -> usize {
        self.sent.lock().len()
    }
}

/// What happened in one run.
pub(crate) struct Outcome {
    pub(crate) acknowledged: usize,
    pub(crate) faults: usize,
}

/// Runs one seed.
pub(crate) fn run(seed: u64, planted: Planted) -> Result<Outcome, String> {
    let mut random = Random::new(seed, 0);
    let mut builder = turmoil::Builder::new();
    builder
        .rng_seed(seed)
        .simulation_duration(END)
        .min_message_latency(Duration::from_millis(1))
        .max_message_latency(Duration::from_millis(20))
        .tick_duration(Duration::from_millis(5));
    let mut sim = builder.build();
    let hosts: Vec<String> = (0..LEAVES).map(|leaf| format!("leaf-{leaf}")).collect();
    let records = Arc::new(Records::default());
    let processes: Processes = Arc::new(hosts.iter().map(|_| AtomicU64::new(0)).collect());
    for (index, host) in hosts.iter().enumerate() {
        let (name, records) = (host.clone(), Arc::clone(&records));
        let processes = Arc::clone(&processes);
        sim.host(host.as_str(), move || {
            let started = processes[index].fetch_add(1, Ordering::SeqCst) + 1;
            serve_leaf(name.clone(), started, Arc::clone(&records))
        });
    }
    let clients = Arc::new(Clients::default());
    for door in 0..DOORS {
        let (name, hosts, clients) = (format!("door-{door}"), hosts.clone(), Arc::clone(&clients));
        let (processes, records) = (Arc::clone(&processes), Arc::clone(&records));
        sim.client(name.clone(), async move {
            let open = Door::open(&name, &hosts, (&processes, records), planted)?;
            Ok(run_door(&open, door, &clients).await?)
        });
    }
    let faults = Faults::draw(&mut random);
    let count = faults.0.len();
    sim.client("faults", async move {
        faults.play().await;
        Ok(())
    });
    // A leaf process that ends and starts again at random times.
    let crashed = random.index(LEAVES);
    let crash_at = Duration::from_millis(2_000 + random.index(6_000) as u64);
    let back_at = crash_at + Duration::from_millis(200 + random.index(3_000) as u64);
    let mut phase = 0;
    loop {
        let done = sim.step().map_err(|error| {
            let (sent, acknowledged) = (clients.sent(), clients.acknowledged.lock().len());
            format!("{error}; {acknowledged} of {sent} batches are acknowledged")
        })?;
        if phase == 0 && sim.elapsed() >= crash_at {
            sim.crash(hosts[crashed].as_str());
            phase = 1;
        }
        if phase == 1 && sim.elapsed() >= back_at {
            sim.bounce(hosts[crashed].as_str());
            phase = 2;
        }
        if done && phase == 2 {
            break;
        }
    }
    check(&hosts, &records, &clients)?;
    Ok(Outcome { acknowledged: clients.acknowledged.lock().len(), faults: count })
}

async fn serve_leaf(name: String, started: u64, records: Arc<Records>) -> turmoil::Result {
    let leaf = Arc::new(CountingLeaf::new(LeafName(name.as_str().into()), records));
    let services = Services {
        peer: Arc::clone(&leaf) as Arc<dyn Peer>,
        planned: None,
        sink: Some(Arc::clone(&leaf) as Arc<dyn Sink>),
        admin: Some(leaf as Arc<dyn Admin>),
        reports: None,
        definitions: None,
        restarter: None,
        expected_rows: None,
        functions: FunctionRegistry::default(),
    };
    let incoming = accept_all().await?;
    serve_streams(incoming, identity(&name, started)?, services, std::future::pending()).await?;
    Ok(())
}

/// Sends the door's batches, and every third batch of the other door, too, and asks for all rows.
async fn run_door(open: &Door, door: usize, clients: &Clients) -> Result<(), String> {
    let watching = futures_util::future::join_all((0..LEAVES).map(|leaf| open.watch(leaf)));
    let sending = async {
        for number in 0..BATCHES {
            if number % DOORS == door || number % 3 == 0 {
                open.send(number, clients).await?;
                sleep(Duration::from_millis(150)).await;
            }
        }
        Ok::<(), String>(())
    };
    let working = async { tokio::try_join!(sending, open.ask(QUERIES, clients)) };
    tokio::select! {
        done = working => done.map(|_| ()),
        _ = watching => Err("watching ended".to_owned()),
    }
}

/// Every batch is on one leaf, and all that was acknowledged is there.
fn check(hosts: &[String], records: &Records, clients: &Clients) -> Result<(), String> {
    let mut there = BTreeSet::new();
    for host in hosts {
        for id in &records.counting(&LeafName(host.as_str().into())) {
            if !there.insert(id.clone()) {
                return Err(format!("batch {id} is on two leaves"));
            }
        }
    }
    let acknowledged = clients.acknowledged.lock();
    match acknowledged.iter().find(|id| !there.contains(*id)) {
        Some(lost) => Err(format!("batch {lost} is lost")),
        None if acknowledged.len() < BATCHES => Err("not every batch was sent".to_owned()),
        None => Ok(()),
    }
}

/// Cuts between a door and a leaf: when each begins and how long it lasts.
struct Faults(Vec<(Duration, Duration, String, String, Cut)>);

#[derive(Clone, Copy)]
enum Cut {
    /// Nothing arrives, in either direction.
    Both,
    /// Nothing arrives from the first.
    OneWay,
    /// Messages wait, and arrive when the cut ends.
    Held,
}

impl Faults {
    fn draw(random: &mut Random) -> Self {
        let count = 1 + random.index(5);
        let mut faults = Vec::new();
        for _ in 0..count {
            let at = Duration::from_millis(500 + random.index(9_000) as u64);
            let long = Duration::from_millis(200 + random.index(2_800) as u64);
            let ends =
                [format!("door-{}", random.index(DOORS)), format!("leaf-{}", random.index(LEAVES))];
            let [mut from, mut to] = ends;
            if random.chance(0.5) {
                std::mem::swap(&mut from, &mut to);
            }
            let cut = [Cut::Both, Cut::OneWay, Cut::Held][random.index(3)];
            faults.push((at, long, from, to, cut));
        }
        faults.sort_by_key(|fault| fault.0);
        Self(faults)
    }

    async fn play(self) {
        let start = Instant::now();
        let each = self.0.into_iter().map(|(at, long, from, to, cut)| async move {
            sleep_until(start + at).await;
            let (from, to) = (from.as_str(), to.as_str());
            match cut {
                Cut::Both => turmoil::partition(from, to),
                Cut::OneWay => turmoil::partition_oneway(from, to),
                Cut::Held => turmoil::hold(from, to),
            }
            sleep(long).await;
            match cut {
                Cut::Both => turmoil::repair(from, to),
                Cut::OneWay => turmoil::repair_oneway(from, to),
                Cut::Held => turmoil::release(from, to),
            }
        });
        futures_util::future::join_all(each).await;
        sleep_until(start + FAULTS).await;
    }
}
