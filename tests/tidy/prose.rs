//! Maximum lengths of sentences, comments and the texts at the root.

use crate::links;
use crate::ratchet;
use crate::source::{Source, assert_clean, repository};

/// Words of one sentence in a document.
const SENTENCE_WORDS_MAX: usize = 30;
/// The median of a document's sentences, in words, if it has at least ten.
const SENTENCE_WORDS_MEDIAN_MAX: usize = 18;
/// Documents that may have longer sentences, and how many: `path | figure`.
const LONG_SENTENCES: &str = "tests/tidy/long-sentences";
/// Characters of a comment line.
const COMMENT_WIDTH_MAX: usize = 100;
/// Texts with a limit, in bytes.
const TEXT_BYTES_MAX: [(&str, usize); 2] = [("ARCHITECTURE.md", 12 << 10), ("README.md", 6 << 10)];

/// The sentences of a document, each with its offset. Code counts as no word; tables, headings and
/// targets of links are left out. A colon ends a sentence, because an example or list follows.
fn sentences(text: &str) -> Vec<(usize, String)> {
    let prose = links::prose(text);
    let mut sentences = Vec::new();
    let mut current: Option<(usize, String)> = None;
    let mut at = 0;
    for line in prose.split_inclusive('\n') {
        let content = line.trim();
        let is_left_out = content.is_empty() || content.starts_with(['|', '#']);
        if is_left_out || starts_item(content) {
            sentences.extend(current.take());
        }
        let mut position = at;
        for word in line.split_inclusive(char::is_whitespace).filter(|_| !is_left_out) {
            let text = word.trim();
            if !text.is_empty() {
                let (_, sentence) = current.get_or_insert_with(|| (position, String::new()));
                sentence.push_str(text);
                sentence.push(' ');
                if text.trim_end_matches([')', '*', '"', '_']).ends_with(['.', '!', '?', ':']) {
                    sentences.extend(current.take());
                }
            }
            position += word.len();
        }
        at += line.len();
    }
    sentences.extend(current);
    sentences
}

/// Whether a line begins an item of a list.
fn starts_item(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ")
        || line.starts_with("* ")
        || (number.len() < line.len() && number.starts_with(". "))
}

/// Words of a sentence, without the targets of its links.
fn words(sentence: &str) -> usize {
    let texts = sentence.split("](").enumerate().map(|(number, part)| match number {
        0 => part,
        _ => part.split_once(')').map_or("", |(_, after)| after),
    });
    texts
        .flat_map(str::split_whitespace)
        .filter(|word| word.contains(char::is_alphanumeric))
        .count()
}

/// Sentences that are too long, by place.
fn long_sentences(source: &Source) -> Vec<String> {
    let counted = sentences(&source.text).into_iter().map(|(at, text)| (at, words(&text), text));
    let long = counted.filter(|(_, words, _)| *words > SENTENCE_WORDS_MAX);
    long.map(|(at, words, text)| {
        let start: String = text.chars().take(50).collect();
        format!("{}: {words} words: {start}...", source.place(at))
    })
    .collect()
}

/// The median of the words of a document's sentences, if it is too high.
fn high_median(source: &Source) -> Option<String> {
    let mut lengths: Vec<usize> =
        sentences(&source.text).iter().map(|(_, text)| words(text)).collect();
    lengths.sort_unstable();
    let median = *lengths.get(lengths.len() / 2)?;
    let is_high = lengths.len() >= 10 && median > SENTENCE_WORDS_MEDIAN_MAX;
    is_high.then(|| {
        let path = &source.path;
        format!("{path}: a median of {median} words, more than {SENTENCE_WORDS_MEDIAN_MAX}")
    })
}

/// Findings, and how many long sentences each document of the list has.
fn check_sentences(sources: &[Source], list: &str) -> (Vec<String>, Vec<usize>) {
    let entries = match ratchet::entries(LONG_SENTENCES, list, 1) {
        Ok(entries) => entries,
        Err(finding) => return (vec![finding], Vec::new()),
    };
    let mut findings = Vec::new();
    let mut counts = vec![0; entries.len()];
    for source in sources.iter().filter(|source| source.is_markdown()) {
        findings.extend(high_median(source));
        let long = long_sentences(source);
        match entries.iter().position(|entry| entry.fields[0] == source.path) {
            Some(entry) => {
                counts[entry] = long.len();
                findings.extend(entries[entry].excess(&long));
            }
            None => findings
                .extend(long.into_iter().map(|finding| format!("{finding} Split the sentence."))),
        }
    }
    let idle = entries.iter().zip(&counts).filter(|(_, count)| **count == 0);
    findings.extend(idle.map(|(entry, _)| {
        format!("{LONG_SENTENCES}: {} has none any more: take the line out", entry.fields[0])
    }));
    (findings, counts)
}

/// Lines of comments that are too wide, by place. Tables, links and directives
/// cannot be wrapped.
fn wide_comments(sources: &[Source]) -> Vec<String> {
    let mut wide = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust() || source.is_typescript()) {
        for (number, line) in source.text.lines().enumerate() {
            let is_comment = line.trim_start().starts_with("//");
            let text = line.trim_start_matches(['/', '!', ' ']);
            let is_fixed =
                line.contains("://") || text.starts_with('|') || text.starts_with("biome-ignore");
            if is_comment && !is_fixed && line.chars().count() > COMMENT_WIDTH_MAX {
                let place = format!("{}:{}", source.path, number + 1);
                wide.push(format!("{place}: a comment wider than {COMMENT_WIDTH_MAX} columns"));
            }
        }
    }
    wide
}

fn large_texts(sources: &[Source]) -> Vec<String> {
    let mut findings = Vec::new();
    for (path, bytes_max) in TEXT_BYTES_MAX {
        match sources.iter().find(|source| source.path == path) {
            Some(source) if source.text.len() > bytes_max => {
                let bytes = source.text.len();
                findings.push(format!(
                    "{path}: {bytes} bytes, more than {bytes_max}: move details to docs/"
                ));
            }
            Some(_) => {}
            None => findings.push(format!("{path} is missing")),
        }
    }
    findings
}

#[test]
fn sentences_of_documents_are_short() {
    let sources = repository();
    let list = sources.iter().find(|source| source.path == LONG_SENTENCES).unwrap();
    let (findings, counts) = check_sentences(&sources, &list.text);
    ratchet::lower(LONG_SENTENCES, &list.text, &counts);
    assert_clean(&findings);
}

#[test]
fn a_long_sentence_is_found() {
    let sentence = |words: usize| format!("{}word.", "word ".repeat(words - 1));
    let just = sentence(SENTENCE_WORDS_MAX);
    let long = sentence(SENTENCE_WORDS_MAX + 1);
    let fine = format!(
        "# {long}\n\n{just} {just}\n\n| {long} |\n|---|\n\n```sh\n{long}\n```\n- {}\n- {} (`{long}`)\n\
         1. [{}]({long}) word.\n",
        "word ".repeat(20),
        "word ".repeat(20),
        "word ".repeat(20),
    );
    let document = |path: &str, text: &str| Source::made_up(path, text);
    let sources = [document("a.md", &fine), document("b.md", &format!("Fine.\n\nA: {long}\n"))];
    let (findings, _) = check_sentences(&sources, "# a list\n");
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].starts_with("b.md:3: 31 words: word word"), "{findings:?}");
    assert_eq!(check_sentences(&sources, "b.md | 1\n"), (vec![], vec![1]));
    assert_eq!(check_sentences(&sources, "b.md | 0\n").0.len(), 2);
    assert_eq!(check_sentences(&sources, "a.md | 3\nb.md | 1\n").0.len(), 1, "idle");
}

#[test]
fn a_high_median_is_found() {
    let sentence = |words: usize| format!("{}word. ", "word ".repeat(words - 1));
    let short = sentence(SENTENCE_WORDS_MEDIAN_MAX);
    let long = sentence(SENTENCE_WORDS_MEDIAN_MAX + 1);
    let document = |text: String| Source::made_up("a.md", &text);
    assert_eq!(high_median(&document(short.repeat(6) + &long.repeat(5))), None);
    assert_eq!(high_median(&document(long.repeat(9))), None, "too few to tell");
    assert!(high_median(&document(short.repeat(5) + &long.repeat(6))).is_some());
}

#[test]
fn comments_fit_the_screen() {
    assert_clean(&wide_comments(&repository()));
}

#[test]
fn a_wide_comment_is_found() {
    let comment = |width: usize| format!("    /// {}\n", "x".repeat(width - 8));
    let just = comment(COMMENT_WIDTH_MAX);
    let wide = comment(COMMENT_WIDTH_MAX + 1);
    let url = format!("// https://x.example/{wide}// | {wide} |\n// biome-ignore {wide}\n");
    let sources =
        [Source::made_up("a.rs", &format!("{just}{wide}")), Source::made_up("b.ts", &url)];
    assert_eq!(wide_comments(&sources), ["a.rs:2: a comment wider than 100 columns"]);
}

#[test]
fn the_texts_at_the_root_are_short() {
    assert_clean(&large_texts(&repository()));
}

#[test]
fn a_large_text_is_found() {
    let text = |bytes: usize| "x".repeat(bytes);
    let sources = [
        Source::made_up("ARCHITECTURE.md", &text(12 << 10)),
        Source::made_up("README.md", &text((6 << 10) + 1)),
    ];
    assert_eq!(large_texts(&sources).len(), 1);
    assert_eq!(large_texts(&sources[1..]).len(), 2);
}
