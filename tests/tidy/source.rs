//! The files of the repository, and a lexer just good enough to tell Rust code from comments, strings and
//! tests.

use std::fs;
use std::path::Path;

/// One text file.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Path from the repository's root, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
}

impl SourceFile {
    /// A file of these contents, for negative controls.
    pub fn new(path: &str, text: &str) -> Self {
        SourceFile { path: path.into(), text: text.into() }
    }

    /// Whether its name ends in one of these.
    pub fn ends_with(&self, endings: &[&str]) -> bool {
        endings.iter().any(|e| self.path.ends_with(e))
    }

    /// Whether it lies in one of these folders of the root.
    pub fn is_under(&self, folders: &[&str]) -> bool {
        folders.iter().any(|f| self.path.starts_with(&format!("{f}/")))
    }

    /// The text with comments and the contents of strings blanked; line numbers and columns stay.
    pub fn code(&self) -> String {
        blank_comments_and_strings(&self.text)
    }

    /// As [`SourceFile::code`], with items under `#[cfg(test)]` blanked; nothing in a file of unit tests.
    pub fn code_without_tests(&self) -> String {
        let is_test = self.path.ends_with("/tests.rs") || self.path.contains("/tests/");
        if is_test { String::new() } else { blank_test_items(&self.code()) }
    }

    /// `path:line: what`, where `at` is a byte position in the text.
    pub fn finding(&self, at: usize, what: &str) -> String {
        let line = self.text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
        format!("{}:{line}: {what}", self.path)
    }
}

/// Every text file of the repository, sorted by path; build output, git's own folder and design data are
/// skipped.
pub fn repository() -> Vec<SourceFile> {
    let mut files = Vec::new();
    walk(Path::new(env!("CARGO_MANIFEST_DIR")), "", &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn walk(folder: &Path, prefix: &str, files: &mut Vec<SourceFile>) {
    for entry in fs::read_dir(folder).expect("the repository is readable") {
        let entry = entry.expect("the repository is readable");
        let name = entry.file_name().into_string().expect("file names are UTF-8");
        let kind = entry.file_type().expect("the repository is readable");
        let path = format!("{prefix}{name}");
        // A crate in a folder of its own may have its build output beside it. In a linked worktree .git is
        // a file.
        if name == "target" || [".git", "shared"].contains(&path.as_str()) {
            continue;
        }
        if kind.is_dir() {
            walk(&entry.path(), &format!("{path}/"), files);
        } else if kind.is_file() {
            // What is not UTF-8 is no text: models, arrays.
            if let Ok(text) = fs::read_to_string(entry.path()) {
                files.push(SourceFile { path, text });
            }
        }
    }
}

/// Byte positions at which `word` stands as a whole identifier in `code`.
pub fn words(code: &str, word: &str) -> Vec<usize> {
    let is_ident = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let bytes = code.as_bytes();
    code.match_indices(word)
        .map(|(at, _)| at)
        .filter(|at| !is_ident(at.checked_sub(1).and_then(|before| bytes.get(before))))
        .filter(|at| !is_ident(bytes.get(at + word.len())))
        .collect()
}

fn blank_comments_and_strings(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match token_at(bytes, at) {
            Token::Code => at + 1,
            Token::Blank { end } => {
                for b in &mut out[at..end] {
                    if *b != b'\n' {
                        *b = b' ';
                    }
                }
                end
            }
        };
        at = end;
    }
    String::from_utf8(out).expect("whole characters were replaced by spaces")
}

enum Token {
    Code,
    Blank { end: usize },
}

fn token_at(bytes: &[u8], at: usize) -> Token {
    let rest = &bytes[at..];
    let blank = |len: usize| Token::Blank { end: at + len };
    let follows_ident = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    match rest {
        [b'/', b'/', ..] => blank(find(rest, b"\n", 0).unwrap_or(rest.len())),
        [b'/', b'*', ..] => blank(block_comment_len(rest)),
        [b'"', ..] => blank(string_len(rest)),
        [b'r', b'"' | b'#', ..] if !follows_ident => raw_string_len(rest, 1).map_or(Token::Code, blank),
        [b'b', b'r', b'"' | b'#', ..] if !follows_ident => raw_string_len(rest, 2).map_or(Token::Code, blank),
        [b'\'', b'\\', ..] => blank(find(rest, b"'", 3).map_or(rest.len(), |e| e + 1)),
        // A character of up to four bytes; what has no closing quote there is a lifetime.
        [b'\'', first, ..] => {
            let len = 2 + char_len(*first);
            if rest.get(len - 1) == Some(&b'\'') { blank(len) } else { Token::Code }
        }
        _ => Token::Code,
    }
}

fn char_len(first: u8) -> usize {
    match first {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}

fn find(bytes: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    (from..bytes.len()).find(|at| bytes[*at..].starts_with(needle))
}

fn block_comment_len(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest[at..].starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

fn string_len(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

fn raw_string_len(rest: &[u8], prefix: usize) -> Option<usize> {
    let hashes = rest[prefix..].iter().take_while(|b| **b == b'#').count();
    if rest.get(prefix + hashes) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let end = find(rest, &close, prefix + hashes + 1);
    Some(end.map_or(rest.len(), |e| e + close.len()))
}

fn blank_test_items(code: &str) -> String {
    let mut out = code.as_bytes().to_vec();
    for marker in ["#[cfg(test)]", "#[cfg(all(test"] {
        for (start, _) in code.match_indices(marker) {
            for b in &mut out[start..item_end(code.as_bytes(), start)] {
                if *b != b'\n' {
                    *b = b' ';
                }
            }
        }
    }
    String::from_utf8(out).expect("whole characters were replaced by spaces")
}

/// End of the item that starts at `start`: its first `;` outside braces, or the brace that closes its first
/// one.
fn item_end(code: &[u8], start: usize) -> usize {
    let mut depth = 0;
    for (at, b) in code.iter().enumerate().skip(start) {
        match b {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at + 1,
            b'}' => depth -= 1,
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

#[test]
fn comments_strings_and_tests_are_blanked() {
    let text = concat!(
        "let a = 'x'; let c: &'static str = \"p // q\"; // unsafe {\n",
        "/* one /* two */ */ let d = r#\"he said \"hi\"\"#; let e = '\\''; let f = 'é'; call(b\"x\\\"y\");\n",
        "#[cfg(test)]\nmod tests { fn f() { g(); } }\nfn after() {}\n",
    );
    let file = SourceFile::new("src/a.rs", text);
    let code = file.code();
    assert_eq!(code.len(), text.len());
    assert_eq!(code.lines().count(), text.lines().count());
    for gone in ["unsafe", "one", "two", "said", "hi", " q", "é", "y"] {
        assert!(!code.contains(gone), "{gone} is still there: {code}");
    }
    for kept in ["let a", "'static str", "let d", "let e", "let f", "call", "g();"] {
        assert!(code.contains(kept), "{kept} is gone: {code}");
    }
    let product = file.code_without_tests();
    assert!(!product.contains("g();") && product.contains("fn after()") && product.contains("let d"));
    assert!(SourceFile::new("src/plan/tests.rs", text).code_without_tests().is_empty());
    assert_eq!(file.finding(code.find("let d").unwrap(), "x"), "src/a.rs:2: x");
}

#[test]
fn words_are_whole() {
    assert_eq!(words("wgpu wgpu_hal a.wgpu::x mywgpu", "wgpu"), [0, 16]);
}
