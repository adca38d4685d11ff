//! Links between the documents: the file must be in the repository, and the anchor one of its
//! headings.

use std::collections::BTreeSet;

use crate::source::{Source, assert_clean, paths, repository};

fn check(sources: &[Source], paths: &[String]) -> Vec<String> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.is_markdown()) {
        let prose = prose(&source.text);
        for (at, target) in targets(&prose) {
            if let Err(reason) = resolve(source, target, sources, paths) {
                findings.push(format!("{}: link `{target}`: {reason}", source.place(at)));
            }
        }
    }
    findings
}

/// The text with code blanked; offsets stay.
pub(crate) fn prose(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let marker = ["```", "~~~"].into_iter().find(|m| line.trim_start().starts_with(m));
        let in_code = fence.is_some() || marker.is_some();
        if marker.is_some() && (fence.is_none() || fence == marker) {
            fence = if fence.is_none() { marker } else { None };
        }
        if in_code {
            prose.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        } else {
            prose.push_str(&without_inline_code(line));
        }
    }
    prose
}

/// Blanks code in backticks. A backtick without a partner on its line is text.
pub(crate) fn without_inline_code(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((code, after)) = after.split_once('`') else { break };
        kept.push_str(before);
        kept.push_str(&" ".repeat(code.len() + 2));
        rest = after;
    }
    kept + rest
}

/// Targets of links, each with its offset: `[…](target)` and `[…]: target`.
fn targets(prose: &str) -> Vec<(usize, &str)> {
    let mut targets = Vec::new();
    for (at, _) in prose.match_indices("](") {
        let rest = &prose[at + 2..];
        let end = rest.find([')', ' ', '\n']).unwrap_or(rest.len());
        targets.push((at + 2, &rest[..end]));
    }
    let mut line_start = 0;
    for line in prose.split_inclusive('\n') {
        if let Some((label, target)) = line.split_once("]: ")
            && label.starts_with('[')
        {
            let target = target.split_whitespace().next().unwrap_or_default();
            targets.push((line_start, target));
        }
        line_start += line.len();
    }
    targets
}

/// Checks one link of `from`; the error gives the reason.
fn resolve(
    from: &Source,
    target: &str,
    sources: &[Source],
    paths: &[String],
) -> Result<(), String> {
    if ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme)) {
        return Ok(());
    }
    let (file, anchor) = match target.split_once('#') {
        Some((file, anchor)) => (file, Some(anchor)),
        None => (target, None),
    };
    let path = if file.is_empty() { from.path.clone() } else { join(&from.path, file)? };
    let folder = if path.is_empty() { String::new() } else { format!("{path}/") };
    if !paths.iter().any(|file| *file == path || file.starts_with(&folder)) {
        return Err(format!("no file or folder `{path}`"));
    }
    let Some(anchor) = anchor else { return Ok(()) };
    let document = sources.iter().find(|source| source.path == path && source.is_markdown());
    let Some(document) = document else {
        return Err(format!("`{path}` is not a document with headings"));
    };
    match anchors(&document.text).contains(anchor) {
        true => Ok(()),
        false => Err(format!("no heading of `{path}` has this anchor")),
    }
}

/// The path of `link` in a document at `from`, from the root.
pub(crate) fn join(from: &str, link: &str) -> Result<String, String> {
    if link.starts_with('/') {
        return Err("write it relative to this document".to_owned());
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop().ok_or("it leads out of the repository")?),
            _ => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

/// The anchors of a document's headings, by GitHub's rule.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for heading in headings(text) {
        let slug = slug(heading);
        let mut anchor = slug.clone();
        let mut repeats = 0;
        while !anchors.insert(anchor) {
            repeats += 1;
            anchor = format!("{slug}-{repeats}");
        }
    }
    anchors
}

fn headings(text: &str) -> Vec<&str> {
    let prose = prose(text);
    let lines = prose.lines().zip(text.lines());
    let headings = lines.filter(|(prose, _)| {
        let level = prose.bytes().take_while(|byte| *byte == b'#').count();
        (1..=6).contains(&level) && prose[level..].starts_with(' ')
    });
    headings.map(|(_, line)| line.trim_start_matches('#').trim()).collect()
}

fn slug(heading: &str) -> String {
    let characters = heading.chars().flat_map(char::to_lowercase);
    let kept = characters.filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_lead_somewhere() {
    assert_clean(&check(&repository(), &paths()));
}

#[test]
fn a_broken_link_is_found() {
    let text = "# A b, `c`!\n\
                [1](b.md) [2](../README.md#top) [3](#a-b-c) [4](https://x.example/y) [5](..)\n\
                [6](gone.md) [7](b.md#gone) `[8](gone.md)` [9](/docs/b.md) [10](../../x)\n\
                ```sh\n[11](gone.md)\n# not a heading\n```\n\
                [12](#not-a-heading) ![13](gone.png \"title\") [14](x.rs#l1)\n\
                \n[15]: gone.md\n[16]: b.md\n";
    let sources = [
        Source::made_up("docs/a.md", text),
        Source::made_up("docs/b.md", "# B\n"),
        Source::made_up("docs/x.rs", ""),
        Source::made_up("README.md", "# Top\n"),
    ];
    let paths: Vec<String> = sources.iter().map(|source| source.path.clone()).collect();
    let findings = check(&sources, &paths);
    let link_targets: Vec<&str> = findings.iter().map(|f| f.split('`').nth(1).unwrap()).collect();
    let broken =
        ["gone.md", "b.md#gone", "/docs/b.md", "../../x", "#not-a-heading", "gone.png", "x.rs#l1"];
    assert_eq!(link_targets[..broken.len()], broken, "{findings:?}");
    assert_eq!(link_targets[broken.len()..], ["gone.md"]);
    assert!(findings[0].starts_with("docs/a.md:3: "));
}

#[test]
fn anchors_are_made_as_github_makes_them() {
    let text = "# Send data\n## 2.1 What's `new`?\n## Ask\n## Ask\n#no heading\n";
    let expected = ["send-data", "21-whats-new", "ask", "ask-1"].map(str::to_owned);
    assert_eq!(anchors(text), BTreeSet::from(expected));
}

#[test]
fn code_over_two_lines_moves_no_heading() {
    let text = "With `a=1\nb=2` and `c` too.\n\n## The end\n";
    assert_eq!(prose(text).len(), text.len());
    assert_eq!(headings(text), ["The end"]);
}
