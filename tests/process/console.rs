//! Console blocks of a Markdown document, and what differs from run to run in their output.
//!
//! A block that is to be run has `<!-- run: NAME -->` on the line before it (blank lines may stand between). In it a
//! line that begins with `$ ` is a command. It goes on while a quote is open, after a `\`, and to the end of a here
//! document, with or without `> ` in front. What follows is its output, in which a line `...` stands for any lines.

use regex::Regex;

/// A block that is to be run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) name: String,
    /// Line of its first command, from 1.
    pub(crate) line: usize,
    pub(crate) steps: Vec<Step>,
}

/// A command and the output that the document promises.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) command: String,
    pub(crate) output: Vec<String>,
}

/// The blocks that are to be run, in order.
pub(crate) fn blocks(document: &str) -> Vec<Block> {
    let mark = Regex::new(r"^<!-- run: ([a-z0-9-]+) -->$").unwrap();
    let mut blocks = Vec::new();
    let mut name: Option<String> = None;
    let mut lines = document.lines().enumerate();
    while let Some((place, line)) = lines.next() {
        if let Some(found) = mark.captures(line) {
            assert!(name.is_none(), "line {}: a mark follows a mark", place + 1);
            name = Some(found[1].to_owned());
        } else if line.starts_with("```") {
            let inside: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim_end() != "```").collect();
            if let Some(name) = name.take() {
                assert_eq!(line.trim_end(), "```console", "line {}: `{name}` is to be run", place + 1);
                blocks.push(Block { name, line: place + 2, steps: steps(&inside) });
            }
        } else if !line.trim().is_empty() {
            assert!(name.is_none(), "line {}: no block follows the mark {name:?}", place + 1);
        }
    }
    assert!(name.is_none(), "no block follows the mark {name:?}");
    blocks
}

fn steps(lines: &[&str]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in lines {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (_, Some(step)) if step.output.is_empty() && goes_on(&step.command) => {
                step.command.push('\n');
                step.command.push_str(line.strip_prefix("> ").unwrap_or(line));
            }
            (Some(command), _) => steps.push(Step { command: command.to_owned(), output: Vec::new() }),
            (None, Some(step)) => step.output.push((*line).to_owned()),
            (None, None) => panic!("a block that is to be run begins with a command, not with {line:?}"),
        }
    }
    assert!(!steps.is_empty(), "a block that is to be run holds no command");
    steps
}

/// Whether the shell would ask for another line.
fn goes_on(command: &str) -> bool {
    let here = Regex::new(r#"<<-?\s*["']?([A-Za-z_]+)"#).unwrap();
    if let Some(word) = here.captures(command).map(|found| found[1].to_owned()) {
        return !command.lines().skip(1).any(|line| line.trim() == word);
    }
    let (mut quote, mut escaped) = (None, false);
    for c in command.chars() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    quote.is_some() || escaped
}

/// What differs from run to run, replaced by what it is.
pub(crate) fn masked(text: &str) -> String {
    let masks = [
        (r"\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+", "<token>"),
        (UUID, "<id>"),
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", "<time>"),
        (r"\b[0-9a-f]{64}\b", "<hash>"),
        (r"\b127\.0\.0\.1:\d+\b", "127.0.0.1:7437"),
    ];
    let replace = |text: String, (pattern, mask): (&str, &str)| {
        Regex::new(pattern).unwrap().replace_all(&text, mask).into_owned()
    };
    let text = masks.into_iter().fold(text.to_owned(), replace);
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

const UUID: &str = r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b";

/// The ids of a text, in order.
pub(crate) fn ids(text: &str) -> Vec<String> {
    Regex::new(UUID).unwrap().find_iter(text).map(|found| found.as_str().to_owned()).collect()
}

/// Whether the output is what was promised, both masked.
pub(crate) fn is_as_promised(promised: &str, output: &str) -> bool {
    let (promised, output) = (masked(promised), masked(output));
    let (promised, output): (Vec<&str>, Vec<&str>) = (promised.lines().collect(), output.lines().collect());
    matches(&promised, &output)
}

fn matches(promised: &[&str], output: &[&str]) -> bool {
    match promised.split_first() {
        None => output.is_empty(),
        Some((first, rest)) if first.trim() == "..." => (0..=output.len()).any(|skip| matches(rest, &output[skip..])),
        Some((first, rest)) => output.first() == Some(first) && matches(rest, &output[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marked_blocks_are_run_and_each_output_belongs_to_its_command() {
        let document = "# T\n\n```console\n$ not this\n```\n\n<!-- run: first -->\n\n```console\n$ one\na\nb\n$ two\n```\n\
                        ```sh\nnor this\n```\n<!-- run: second-2 -->\n```console\n$ three\n```\n";
        let blocks = blocks(document);
        let step = |command: &str, output: &[&str]| Step {
            command: command.to_owned(),
            output: output.iter().map(ToString::to_string).collect(),
        };
        let first =
            Block { name: "first".to_owned(), line: 10, steps: vec![step("one", &["a", "b"]), step("two", &[])] };
        let second = Block { name: "second-2".to_owned(), line: 20, steps: vec![step("three", &[])] };
        assert_eq!(blocks, [first, second]);
    }

    #[test]
    fn a_command_goes_on_while_the_shell_would_ask_for_more() {
        let lines = [
            "$ one \\",
            "  more",
            "out",
            "$ two '{",
            "  \"a\": 1",
            "}' rest",
            "$ three <<EOF",
            "text",
            "EOF",
            "$ four",
            "> not more",
            "$ five \"it's\"",
            "out",
        ];
        let steps = steps(&lines);
        let commands: Vec<&str> = steps.iter().map(|step| step.command.as_str()).collect();
        assert_eq!(
            commands,
            ["one \\\n  more", "two '{\n  \"a\": 1\n}' rest", "three <<EOF\ntext\nEOF", "four", "five \"it's\""]
        );
        assert_eq!(steps[3].output, ["> not more"]);
    }

    #[test]
    #[should_panic(expected = "no block follows the mark")]
    fn a_mark_without_a_block_is_a_fault() {
        blocks("<!-- run: lost -->\n\ntext\n\n```console\n$ x\n```\n");
    }

    #[test]
    #[should_panic(expected = "begins with a command")]
    fn a_block_that_does_not_begin_with_a_command_is_a_fault() {
        blocks("<!-- run: x -->\n```console\nout\n```\n");
    }

    #[test]
    fn what_differs_from_run_to_run_is_masked_and_nothing_else() {
        let text = "id 01a2290b-fe9f-714c-94df-87b67a17c95c at 2026-11-29T20:43:03.123456Z or 2026-11-29T20:43:03+02:00 \n\
                    hash e363625295c5dc0a0effcf2e1919b9bfe9e310a24aaf5fe64414a70d98e99415, 127.0.0.1:41234, version 7\n\
                    eyJhbGciOi.eyJpc3Mi.c2ln\n\n";
        assert_eq!(masked(text), "id <id> at <time> or <time>\nhash <hash>, 127.0.0.1:7437, version 7\n<token>");
    }

    #[test]
    fn output_is_compared_line_by_line_and_three_dots_stand_for_any_lines() {
        assert!(is_as_promised("a\n127.0.0.1:7437", "a\n127.0.0.1:9\n"));
        assert!(!is_as_promised("a\nb", "a\nb\nc"));
        assert!(!is_as_promised("a\nb", "a"));
        assert!(!is_as_promised("\"version\": 1", "\"version\": 2"));
        assert!(is_as_promised("a\n...\nd", "a\nb\nc\nd"));
        assert!(is_as_promised("a\n  ...", "a"));
        assert!(!is_as_promised("a\n...\nd", "a\nb\nc"));
    }
}
