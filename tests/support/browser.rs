//! A browser for tests: serves pages on loopback, opens one in headless Chromium, waits for what it posts.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// What the server hands out: files of folders, and texts or bytes made up for the test.
#[derive(Default)]
pub struct Site {
    /// First path component (empty for the root) and the folder behind it.
    pub folders: Vec<(&'static str, PathBuf)>,
    pub made: BTreeMap<String, Vec<u8>>,
}

impl Site {
    fn find(&self, path: &str) -> Option<Vec<u8>> {
        let path = path.split('?').next().unwrap_or("").trim_start_matches('/');
        if let Some(bytes) = self.made.get(path) {
            return Some(bytes.clone());
        }
        if path.split('/').any(|part| part == "..") {
            return None;
        }
        let inside = |(prefix, folder): &(&str, PathBuf)| {
            let rest = path.strip_prefix(prefix)?.trim_start_matches('/');
            std::fs::read(folder.join(rest)).ok()
        };
        self.folders.iter().find_map(inside)
    }
}

/// A site that is served until the test process ends.
pub struct Server {
    port: u16,
    posted: Receiver<Post>,
}

/// What a page sends somewhere.
struct Post {
    path: String,
    body: Vec<u8>,
}

/// What a page has to say: its answer, posted to `result` at the end, and what it posted elsewhere before.
pub struct Posted {
    pub answer: String,
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Server {
    pub fn start(site: Site) -> Server {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let (sender, posted) = channel();
        std::thread::spawn(move || {
            let site = &site;
            std::thread::scope(|scope| {
                // A browser opens connections ahead of need; none may hold up the others.
                for stream in listener.incoming().flatten() {
                    let sender = sender.clone();
                    scope.spawn(move || answer(stream, site, &sender));
                }
            });
        });
        Server { port, posted }
    }

    /// Opens `page` in headless Chromium and returns what it posts.
    pub fn ask(&self, page: &str, limit: Duration) -> Posted {
        let browser = Browser::open(&format!("http://127.0.0.1:{}/{page}", self.port));
        let end = Instant::now() + limit;
        let mut files = BTreeMap::new();
        let answer = loop {
            match self.posted.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(post) if post.path == "result" => break post.body,
                Ok(post) => files.insert(post.path, post.body),
                Err(_) => panic!("{page} posted no result within {limit:?}"),
            };
        };
        drop(browser);
        Posted { answer: String::from_utf8_lossy(&answer).into_owned(), files }
    }
}

fn answer(stream: TcpStream, site: &Site, posted: &Sender<Post>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    if method == "POST" {
        let path = path.trim_start_matches('/').to_owned();
        posted.send(Post { path, body }).ok()?;
        return respond(stream, "200 OK", "text/plain", b"");
    }
    match site.find(&path) {
        Some(bytes) => respond(stream, "200 OK", mime(&path), &bytes),
        None => respond(stream, "404 Not Found", "text/plain", b"not here"),
    }
}

fn respond(mut stream: TcpStream, status: &str, mime: &str, body: &[u8]) -> Option<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {mime}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body).ok()
}

fn mime(path: &str) -> &'static str {
    match path.split('?').next().and_then(|p| p.rsplit('.').next()) {
        Some("html") => "text/html",
        Some("js") => "text/javascript",
        Some("json") => "application/json",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}

/// A running Chromium with a profile of its own; both are gone when it is dropped.
struct Browser {
    process: Child,
    profile: PathBuf,
}

impl Browser {
    fn open(url: &str) -> Browser {
        let program = find_chromium().expect("Chromium is installed (or named by SUBLET_CHROMIUM)");
        let unique = url.rsplit(':').next().unwrap_or("").replace(|c: char| !c.is_alphanumeric(), "_");
        let profile = std::env::temp_dir().join(format!("sublet-browser-{}-{unique}", std::process::id()));
        let process = Command::new(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--enable-unsafe-webgpu",
                "--use-webgpu-adapter=swiftshader",
            ])
            // Nothing that would reach for the network.
            .args(["--disable-quic", "--no-first-run", "--disable-background-networking"])
            .args(["--disable-component-update", "--disable-sync", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("Chromium starts");
        Browser { process, profile }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its helpers end with it; a profile that is still being written to is left to the system.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

fn find_chromium() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("SUBLET_CHROMIUM") {
        return Some(PathBuf::from(named));
    }
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    found.into_iter().find(|path: &PathBuf| Path::is_file(path))
}
