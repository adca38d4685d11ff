use super::*;
use crate::announcement::tests::leaf;
use crate::announcement::{CHANGING, LEFT, STATIC, encode_changing, encode_static};
use crate::problem::Problem;
use hadal_peer::WIRE_VERSION;
use hadal_types::limits::CLOCK_SKEW_SECONDS;

const NOW: Micros = Micros(1_700_000_000_000_000);

fn id(name: &str, generation: u64, port: u16) -> ProcessId {
    ProcessId { name: LeafName(name.into()), generation, address: ([127, 0, 0, 1], port).into() }
}

fn texts(member: &Member, clock: Micros) -> Texts {
    let texts = [(STATIC, encode_static(member)), (CHANGING, encode_changing(member, clock))];
    texts.map(|(key, text)| (key.to_owned(), text)).into()
}

/// A registry, and what chitchat would show it. Each look takes 100 ms.
struct Scene {
    registry: Registry,
    local: Member,
    sightings: BTreeMap<ProcessId, (u64, Texts)>,
    /// Processes whose heartbeats rise.
    beating: Vec<ProcessId>,
    looks: u32,
}

impl Scene {
    fn new(local: &str) -> Self {
        let (own_id, local) = (id(local, 1, 1), leaf(local, 1));
        let sightings = BTreeMap::from([(own_id.clone(), (1, Texts::new()))]);
        Self { registry: Registry::new(own_id), local, sightings, beating: Vec::new(), looks: 0 }
    }

    /// Another process, which lives.
    fn add(&mut self, id: &ProcessId, texts: Texts) {
        self.sightings.insert(id.clone(), (1, texts));
        self.beating.push(id.clone());
    }

    fn add_leaf(&mut self, id: &ProcessId) {
        self.add(id, texts(&leaf(&id.name.0, id.generation), NOW));
    }

    fn freeze(&mut self, id: &ProcessId) {
        self.beating.retain(|beating| beating != id);
    }

    /// Looks until `seconds` have passed; the members at the end.
    fn pass(&mut self, seconds: f64) -> Vec<(String, &'static str)> {
        let end = seconds - 0.05;
        let mut passed = 0.0;
        while passed < end {
            passed += 0.1;
            self.looks += 1;
            for id in &self.beating {
                if let Some((heartbeat, _)) = self.sightings.get_mut(id) {
                    *heartbeat += 1;
                }
            }
            let sightings = self.sightings.iter().map(|(id, (heartbeat, texts))| {
                let (id, texts) = (id.clone(), Some(texts.clone()));
                Sighting { id, heartbeat: *heartbeat, version: 1, texts }
            });
            let listened = Duration::from_millis(100) * self.looks;
            self.registry.observe(&self.local, sightings.collect(), listened, NOW);
        }
        let members = self.registry.members();
        members.iter().map(|member| (member.name.to_string(), member.state.name())).collect()
    }
}

fn listed(members: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
    members.iter().map(|(name, state)| ((*name).to_owned(), *state)).collect()
}

#[test]
fn a_member_is_silent_once_its_heartbeat_stands_still() {
    let mut scene = Scene::new("a");
    let b = id("b", 5, 2);
    scene.add_leaf(&b);
    assert_eq!(scene.pass(0.1), listed(&[("a", "alive")]), "it may be long dead");
    assert_eq!(scene.pass(0.1), listed(&[("a", "alive"), ("b", "alive")]));
    scene.freeze(&b);
    let limit = SILENT_AFTER.as_secs_f64();
    assert_eq!(SILENT_AFTER, Duration::from_millis(MEMBER_SILENT_MILLIS));
    assert_eq!(scene.pass(limit), listed(&[("a", "alive"), ("b", "alive")]));
    assert_eq!(scene.pass(0.1), listed(&[("a", "alive"), ("b", "silent")]));
    scene.beating.push(b.clone());
    assert_eq!(scene.pass(0.1), listed(&[("a", "alive"), ("b", "alive")]));
    scene.sightings.remove(&b);
    assert_eq!(scene.pass(600.0), listed(&[("a", "alive"), ("b", "silent")]), "it stays");
}

#[test]
fn a_member_that_was_dead_before_is_silent_after_a_while() {
    let mut scene = Scene::new("a");
    scene.add_leaf(&id("b", 5, 2));
    scene.beating.clear();
    assert_eq!(scene.pass(1.4), listed(&[("a", "alive")]));
    assert_eq!(scene.pass(0.1), listed(&[("a", "alive"), ("b", "silent")]));
}

#[test]
fn a_member_that_left_is_silent_at_once() {
    let mut scene = Scene::new("a");
    let b = id("b", 5, 2);
    scene.add_leaf(&b);
    scene.pass(1.0);
    let (_, texts) = scene.sightings.get_mut(&b).expect("it is there");
    texts.insert(LEFT.to_owned(), "1".to_owned());
    assert_eq!(scene.pass(0.1), listed(&[("a", "alive"), ("b", "silent")]));
}

#[test]
fn a_later_start_replaces_the_earlier_one_at_once() {
    let mut scene = Scene::new("a");
    let (first, second) = (id("b", 5, 2), id("b", 6, 3));
    scene.add_leaf(&first);
    scene.pass(1.0);
    scene.add_leaf(&second);
    // News of the first one's heartbeat still arrives.
    scene.pass(0.5);
    let started = |scene: &Scene| scene.registry.members()[1].started;
    assert_eq!(started(&scene), 6);
    scene.freeze(&first);
    scene.pass(10.0);
    assert_eq!((started(&scene), scene.registry.problems()), (6, vec![]));
    // It fails: the earlier one does not come back.
    scene.freeze(&second);
    assert_eq!(scene.pass(10.0), listed(&[("a", "alive"), ("b", "silent")]));
    assert_eq!(started(&scene), 6);
}

#[test]
fn two_live_processes_of_one_name_are_a_problem() {
    let mut scene = Scene::new("a");
    let (first, second) = (id("b", 5, 2), id("b", 6, 3));
    scene.add_leaf(&first);
    scene.add_leaf(&second);
    assert_eq!(scene.pass(1.4), listed(&[("a", "alive"), ("b", "alive")]));
    assert_eq!(scene.registry.problems(), []);
    scene.pass(0.1);
    let (older, younger) = (first.address, second.address);
    let problem = Problem::SameName { name: first.name.clone(), older, younger };
    assert_eq!(scene.registry.problems(), std::slice::from_ref(&problem));
    let text =
        "two processes are named b, at 127.0.0.1:2 and at 127.0.0.1:3: stop one or rename it";
    assert_eq!(problem.to_string(), text);
    scene.freeze(&second);
    assert_eq!(scene.pass(2.0), listed(&[("a", "alive"), ("b", "alive")]), "the first one lives");
    assert_eq!(scene.registry.problems(), []);
}

#[test]
fn a_process_of_ones_own_name_is_a_problem() {
    let mut scene = Scene::new("a");
    scene.add_leaf(&id("a", 9, 7));
    scene.pass(2.0);
    let problems = scene.registry.problems();
    assert!(matches!(problems[..], [Problem::SameName { .. }]), "{problems:?}");
    assert_eq!(scene.registry.members()[0].started, 9, "others see that one, too");
}

#[test]
fn a_forgotten_member_comes_back_only_with_a_later_start() {
    let mut scene = Scene::new("a");
    let b = id("b", 5, 2);
    scene.add_leaf(&b);
    scene.pass(1.0);
    let alive = scene.registry.forget(&b.name).expect_err("alive");
    assert_eq!(alive.to_string(), "b is alive: stop it first, then forget it");
    scene.freeze(&b);
    scene.pass(2.0);
    assert!(scene.registry.forget(&b.name).expect("silent"));
    assert!(!scene.registry.forget(&b.name).expect("unknown"));
    assert_eq!(scene.pass(2.0), listed(&[("a", "alive")]));
    scene.beating.push(b.clone());
    assert_eq!(scene.pass(2.0), listed(&[("a", "alive")]));
    let problems = scene.registry.problems();
    assert_eq!(problems, [Problem::Forgotten { name: b.name.clone(), address: b.address }]);
    let text =
        "b at 127.0.0.1:2 was forgotten and has been heard again: restart it to take it back";
    assert_eq!(problems[0].to_string(), text);
    scene.add_leaf(&id("b", 6, 2));
    assert_eq!(scene.pass(2.0), listed(&[("a", "alive"), ("b", "alive")]));
}

#[test]
fn silent_and_forgotten_members_are_relayed_to_those_who_join_later() {
    let mut scene = Scene::new("a");
    let (b, c) = (id("b", 5, 2), id("c", 6, 3));
    scene.add_leaf(&b);
    scene.add_leaf(&c);
    scene.pass(1.0);
    assert_eq!(scene.registry.relayed(), Texts::new());
    scene.beating.clear();
    scene.pass(2.0);
    scene.registry.forget(&c.name).expect("silent");
    let forgotten = Texts::from([("f/c".to_owned(), "6".to_owned())]);
    assert_eq!(scene.registry.relayed(), forgotten, "at once");
    scene.pass(61.0);
    let relayed = scene.registry.relayed();
    assert_eq!(relayed.keys().collect::<Vec<_>>(), ["f/c", "s/b"]);
    // Somebody who joins, and still hears of the dead process.
    let mut late = Scene::new("z");
    late.add(&id("a", 1, 1), [relayed, texts(&scene.local, NOW)].into_iter().flatten().collect());
    late.add_leaf(&c);
    late.freeze(&c);
    assert_eq!(late.pass(2.0), listed(&[("a", "alive"), ("b", "silent"), ("z", "alive")]));
    assert_eq!(late.registry.relayed(), Texts::new(), "that is the task of a");
    // The relay dies, and the next one has it all.
    late.beating.clear();
    late.pass(70.0);
    assert_eq!(late.registry.relayed().keys().collect::<Vec<_>>(), ["f/c", "s/a", "s/b"]);
}

#[test]
fn what_is_relayed_is_not_trusted() {
    let mut scene = Scene::new("a");
    let long = "x".repeat(5_000);
    let more = [
        ("f/", "1"),
        ("f/b", "x"),
        ("f/\t", "1"),
        ("s/b", "1"),
        ("s/b", "x\ny\nz"),
        ("s/c", &long),
    ];
    let more = more.map(|(key, text)| (key.to_owned(), text.to_owned()));
    let b = id("b", 1, 2);
    scene.add(&b, texts(&leaf("b", 1), NOW).into_iter().chain(more).collect());
    assert_eq!(scene.pass(2.0), listed(&[("a", "alive"), ("b", "alive")]));
}

#[test]
fn announcements_that_cannot_be_understood_are_named() {
    let mut scene = Scene::new("a");
    let problem = |scene: &mut Scene| {
        scene.pass(0.2);
        let problems = scene.registry.problems();
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems[0].to_string()
    };
    let far = Member { wire_version: WIRE_VERSION + 2, ..leaf("b", 5) };
    let (b, c) = (id("b", 5, 2), id("c\n", 5, 3));
    scene.add(&b, texts(&far, NOW));
    let text = problem(&mut scene);
    assert!(
        text.starts_with("b at 127.0.0.1:2 writes messages of version 3, which is newer"),
        "{text}"
    );
    assert!(text.ends_with("upgrade this process"), "{text}");
    scene.sightings.remove(&b);
    let broken = [(STATIC, "1\tqueen"), (CHANGING, "")];
    scene.add(&b, broken.map(|(key, text)| (key.to_owned(), text.to_owned())).into());
    let expected = "the announcement of b at 127.0.0.1:2 is unreadable: its role is \"queen\"";
    assert_eq!(problem(&mut scene), expected);
    scene.sightings.remove(&b);
    scene.add(&c, texts(&leaf("c", 5), NOW));
    let expected =
        "the announcement of c at 127.0.0.1:3 is unreadable: its name has a control character";
    assert_eq!(problem(&mut scene), expected);
    assert_eq!(scene.registry.members().len(), 1, "none of them is a member");
}

#[test]
fn clocks_that_differ_by_more_than_the_limit_are_a_problem() {
    let mut scene = Scene::new("a");
    let behind = |seconds: i64| Micros(NOW.0 - seconds * Micros::SECOND);
    let (b, c) = (id("b", 5, 2), id("c", 5, 3));
    scene.add(&b, texts(&leaf("b", 5), behind(CLOCK_SKEW_SECONDS)));
    scene.add(&c, texts(&leaf("c", 5), behind(CLOCK_SKEW_SECONDS + 1)));
    scene.pass(1.0);
    let problems = scene.registry.problems();
    let text = "the clock of c is 61 s behind this process's: set the clocks of both machines";
    assert_eq!(problems.iter().map(ToString::to_string).collect::<Vec<_>>(), [text]);
}

#[test]
fn processes_beyond_the_limit_are_ignored_and_counted() {
    let mut scene = Scene::new("a");
    for number in 1..MEMBERS_MAX {
        scene.add_leaf(&id(&format!("b{number}"), 5, 2));
    }
    assert_eq!(scene.pass(0.2).len(), MEMBERS_MAX);
    assert_eq!(scene.registry.problems(), []);
    scene.add_leaf(&id("c", 5, 2));
    assert_eq!(scene.pass(0.2).len(), MEMBERS_MAX);
    assert_eq!(scene.registry.problems(), [Problem::TooMany { ignored: 1 }]);
}
