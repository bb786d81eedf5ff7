//! Which paths a source file names: in `use` lines, in code, in attributes and inside macros, with aliases resolved.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree};

/// A path that a file names, from the crate's root (`crate`), from a crate, or from a name nobody knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    /// Its segments. A glob ends in `*`; a macro called by its bare name is that name and `!`.
    pub(crate) path: Vec<String>,
    /// Where.
    pub(crate) line: usize,
    /// Only in test builds.
    pub(crate) test: bool,
}

/// What a file names.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// Every path.
    pub(crate) mentions: Vec<Mention>,
    /// Modules in files of their own that only test builds have.
    pub(crate) test_modules: Vec<Vec<String>>,
    /// The lines of attributes that silence a lint instead of expecting it.
    pub(crate) silenced: Vec<usize>,
    aliases: BTreeMap<String, Vec<String>>,
}

/// Reads a file that is the module `module`, from the crate's root.
pub(crate) fn read(source: &str, module: &[String]) -> Result<Reading, LexError> {
    let mut reading = Reading::default();
    reading.walk(source.parse()?, module, false);
    let aliases = std::mem::take(&mut reading.aliases);
    for mention in &mut reading.mentions {
        resolve(&mut mention.path, &aliases);
    }
    Ok(reading)
}

/// An alias may be of an alias; one of itself (`use uuid;`) ends it.
fn resolve(path: &mut Vec<String>, aliases: &BTreeMap<String, Vec<String>>) {
    for _ in 0..8 {
        let Some(meaning) = path.first().and_then(|first| aliases.get(first)) else { return };
        if meaning.first() == path.first() {
            return;
        }
        path.splice(..1, meaning.iter().cloned());
    }
}

impl Reading {
    fn walk(&mut self, tokens: TokenStream, module: &[String], test: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = tokens.as_slice();
        let mut item_is_test = test;
        while let Some((token, after)) = rest.split_first() {
            rest = after;
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    let attribute = after.iter().find(|next| !is_punct(next, '!'));
                    if let Some(TokenTree::Group(group)) = attribute {
                        item_is_test |= is_cfg_test(group.stream());
                        if group.delimiter() == Delimiter::Bracket && silences(group.stream()) {
                            self.silenced.push(line(token));
                        }
                    }
                }
                TokenTree::Punct(punct) if matches!(punct.as_char(), ';' | ',') => item_is_test = test,
                TokenTree::Group(group) => {
                    self.walk(group.stream(), module, item_is_test);
                    if group.delimiter() == Delimiter::Brace {
                        item_is_test = test;
                    }
                }
                TokenTree::Ident(ident) if ident == "mod" => {
                    let [name @ TokenTree::Ident(_), body, ..] = after else { continue };
                    let inner = [module, &[name.to_string()]].concat();
                    match body {
                        TokenTree::Group(group) => self.walk(group.stream(), &inner, item_is_test),
                        _ if item_is_test => self.test_modules.push(inner),
                        _ => {}
                    }
                    item_is_test = test;
                    rest = after.get(2..).unwrap_or_default();
                }
                TokenTree::Ident(ident) if ident == "use" || (ident == "extern" && is_crate(after)) => {
                    let end = after.iter().position(|next| is_punct(next, ';')).unwrap_or(0);
                    let (tree, remaining) = after.split_at(end);
                    let tree = if ident == "extern" { tree.get(1..).unwrap_or_default() } else { tree };
                    self.use_tree(tree, &[], module, item_is_test);
                    rest = remaining;
                }
                TokenTree::Ident(_) => {
                    let (path, remaining) = path(token, after);
                    let called = matches!(remaining, [bang, TokenTree::Group(_), ..] if is_punct(bang, '!'));
                    if path.len() > 1 {
                        self.mention(rooted(path, module), token, item_is_test);
                    } else if called {
                        self.mention(vec![format!("{}!", path.concat())], token, item_is_test);
                    }
                    rest = remaining;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    /// One tree of a `use`: `a::b`, `a::b as c`, `a::*`, `a::{b, c::d}`.
    fn use_tree(&mut self, tree: &[TokenTree], prefix: &[String], module: &[String], test: bool) {
        let mut path = prefix.to_vec();
        let mut alias = None;
        let mut rest = tree.iter();
        while let Some(token) = rest.next() {
            match token {
                TokenTree::Ident(ident) if ident == "as" => alias = rest.next().map(ToString::to_string),
                TokenTree::Ident(ident) => path.push(ident.to_string()),
                TokenTree::Punct(punct) if punct.as_char() == '*' => {
                    path.push("*".to_owned());
                    return self.mention(rooted(path, module), token, test);
                }
                TokenTree::Group(group) => {
                    let trees: Vec<TokenTree> = group.stream().into_iter().collect();
                    for tree in trees.split(|token| is_punct(token, ',')).filter(|tree| !tree.is_empty()) {
                        self.use_tree(tree, &path, module, test);
                    }
                    return;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let path = rooted(path, module);
        if let (Some(name), Some(token)) = (alias.or_else(|| path.last().cloned()), tree.first()) {
            self.aliases.insert(name, path.clone());
            self.mention(path, token, test);
        }
    }

    fn mention(&mut self, path: Vec<String>, token: &TokenTree, test: bool) {
        self.mentions.push(Mention { path, line: line(token), test });
    }
}

/// The path that starts with `first`, and what follows it.
fn path<'a>(first: &TokenTree, mut rest: &'a [TokenTree]) -> (Vec<String>, &'a [TokenTree]) {
    let mut path = vec![first.to_string()];
    while let [one, two, TokenTree::Ident(next), after @ ..] = rest {
        if !is_punct(one, ':') || !is_punct(two, ':') {
            break;
        }
        path.push(next.to_string());
        rest = after;
    }
    (path, rest)
}

/// The path from the crate's root, where it starts at the root or at the module it stands in.
fn rooted(path: Vec<String>, module: &[String]) -> Vec<String> {
    let ups = path.iter().take_while(|segment| *segment == "super").count();
    let start: &[String] = match path.first().map(String::as_str) {
        Some("crate" | "recall_gate") => &[],
        Some("self") => module,
        Some("super") => module.get(..module.len().saturating_sub(ups)).unwrap_or_default(),
        _ => return path,
    };
    let tail = path.into_iter().skip(ups.max(1));
    std::iter::once("crate".to_owned()).chain(start.iter().cloned()).chain(tail).collect()
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

fn is_crate(tokens: &[TokenTree]) -> bool {
    matches!(tokens.first(), Some(TokenTree::Ident(ident)) if ident == "crate")
}

fn is_cfg_test(attribute: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = attribute.into_iter().collect();
    matches!(tokens.as_slice(), [TokenTree::Ident(cfg), TokenTree::Group(group)]
        if cfg == "cfg" && group.stream().to_string() == "test")
}

fn silences(attribute: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = attribute.into_iter().collect();
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Ident(ident) => ident == "allow" && matches!(tokens.get(at + 1), Some(TokenTree::Group(_))),
        TokenTree::Group(group) => silences(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn line(token: &TokenTree) -> usize {
    token.span().start().line
}
