//! The values of the demo's string columns, each generated once and picked by weight.

use hadal_random::{Random, mix};

use super::weighted::Weighted;
use super::words::{
    ACTIONS, APPS, COUNTRIES, DATACENTERS, FRAME_LAYERS, FRAME_NOUNS, FRAME_VERBS, MAKERS,
    RESOURCES, SERVICES, TAG_GROUPS, words,
};

/// The number of countries.
const COUNTRY_COUNT: usize = 200;
/// The number of hosts; each is in one datacenter.
const HOSTS: usize = 5_000;
/// The number of device models.
const DEVICES: usize = 400;
/// The number of tags.
const TAGS: usize = 500;
/// The number of different functions in stack traces.
const FRAMES: u64 = 3_000;
/// The number of different stack traces.
const STACKS: u64 = 4_000;
/// The maximum number of calls in one stack trace.
const STACK_FRAMES_MAX: u64 = 20;

/// Items with the frequency of each.
pub(crate) struct Choice<T> {
    pub(crate) items: Vec<T>,
    weights: Weighted,
}

impl<T> Choice<T> {
    fn zipf(items: Vec<T>, exponent: f64) -> Self {
        let weights = Weighted::zipf(items.len(), exponent);
        Self { items, weights }
    }

    /// Picks the index of an item.
    pub(crate) fn pick(&self, random: &mut Random) -> usize {
        self.weights.pick(random)
    }

    /// Picks an item.
    pub(crate) fn item(&self, random: &mut Random) -> &T {
        &self.items[self.pick(random)]
    }
}

/// One endpoint of a service.
pub(crate) struct Endpoint {
    pub(crate) path: String,
    /// One of this many requests is kept while it is recent: 1, 10 or 100.
    pub(crate) sample_rate: i64,
}

/// All values of which rows consist.
pub(crate) struct Vocabulary {
    pub(crate) services: Choice<&'static str>,
    /// By service.
    pub(crate) endpoints: Vec<Choice<Endpoint>>,
    pub(crate) datacenters: Vec<&'static str>,
    /// Host h is in datacenter h modulo their number.
    pub(crate) hosts: Choice<String>,
    pub(crate) countries: Choice<&'static str>,
    pub(crate) apps: Choice<&'static str>,
    pub(crate) devices: Choice<String>,
    pub(crate) tags: Choice<String>,
    pub(crate) stacks: Choice<Vec<String>>,
}

impl Vocabulary {
    /// The same for every seed: seeds change rows, not names.
    pub(crate) fn new() -> Self {
        let services = words(SERVICES);
        let datacenters = words(DATACENTERS);
        let host = |index: usize| {
            format!("node-{index:04}.{}.shop.example", datacenters[index % datacenters.len()])
        };
        let mut countries = words(COUNTRIES);
        countries.truncate(COUNTRY_COUNT);
        Self {
            endpoints: services.iter().map(|service| endpoints(service)).collect(),
            hosts: Choice::zipf((0..HOSTS).map(host).collect(), 0.3),
            countries: Choice::zipf(countries, 1.1),
            apps: Choice::zipf(words(APPS), 0.7),
            devices: Choice::zipf(numbered(&words(MAKERS), " ", DEVICES), 1.0),
            tags: Choice::zipf(numbered(&words(TAG_GROUPS), ":", TAGS), 1.0),
            stacks: Choice::zipf((0..STACKS).map(stack).collect(), 0.9),
            services: Choice::zipf(services, 1.0),
            datacenters,
        }
    }
}

/// A service's endpoints. The busiest ones are sampled most, as is usual.
fn endpoints(service: &str) -> Choice<Endpoint> {
    let mut endpoints = Vec::new();
    for (rank, resource) in words(RESOURCES).into_iter().enumerate() {
        for action in words(ACTIONS) {
            let path = format!("/api/v{}/{service}/{resource}/{action}", 1 + rank % 3);
            let sample_rate = match endpoints.len() {
                0..=3 => 100,
                4..=15 => 10,
                _ => 1,
            };
            endpoints.push(Endpoint { path, sample_rate });
        }
    }
    Choice::zipf(endpoints, 1.0)
}

/// `length` names of a prefix and a number, with the prefixes in turn.
fn numbered(prefixes: &[&str], between: &str, length: usize) -> Vec<String> {
    let name = |index: usize| {
        let prefix = prefixes[index % prefixes.len()];
        format!("{prefix}{between}{}", 1 + index / prefixes.len())
    };
    (0..length).map(name).collect()
}

/// Stack trace number `index`, outermost call first. Many traces share their first calls, because
/// every call has few callees.
fn stack(index: u64) -> Vec<String> {
    let mut random = Random::new(0, index);
    let callee = Weighted::zipf(3, 1.5);
    let mut node = 0;
    (0..3 + random.below(STACK_FRAMES_MAX - 2))
        .map(|depth| {
            let name = frame(node % FRAMES, depth);
            node = mix(node ^ (callee.pick(&mut random) as u64 + 1));
            name
        })
        .collect()
}

fn frame(node: u64, depth: u64) -> String {
    let (verbs, nouns) = (words(FRAME_VERBS), words(FRAME_NOUNS));
    let pick = |length: usize, salt: u64| {
        usize::try_from(mix(node ^ (salt << 32)) % length as u64).unwrap_or_default()
    };
    let layer = usize::try_from(depth / 3).unwrap_or_default().min(FRAME_LAYERS.len() - 1);
    let (verb, noun) = (verbs[pick(verbs.len(), 1)], nouns[pick(nouns.len(), 2)]);
    format!("{}::{verb}_{noun}", FRAME_LAYERS[layer])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_distinct_and_as_many_as_promised() {
        let vocabulary = Vocabulary::new();
        let distinct = |items: &[String]| items.iter().collect::<BTreeSet<_>>().len();
        assert_eq!(distinct(&vocabulary.hosts.items), HOSTS);
        assert_eq!(distinct(&vocabulary.devices.items), DEVICES);
        assert_eq!(distinct(&vocabulary.tags.items), TAGS);
        let paths: BTreeSet<&str> = vocabulary
            .endpoints
            .iter()
            .flat_map(|choice| &choice.items)
            .map(|endpoint| endpoint.path.as_str())
            .collect();
        assert_eq!(paths.len(), 60 * 33);
    }

    #[test]
    fn stacks_share_their_beginnings() {
        let stacks = Vocabulary::new().stacks.items;
        assert!(stacks.iter().all(|stack| (3..=20).contains(&stack.len())));
        assert!(stacks.iter().all(|stack| stack[0] == stacks[0][0]));
        let beginnings: BTreeSet<&[String]> = stacks.iter().map(|stack| &stack[..3]).collect();
        assert!((2..20).contains(&beginnings.len()), "{}", beginnings.len());
    }
}
