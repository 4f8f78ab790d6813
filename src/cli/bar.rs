//! A progress bar on stderr for a search of more than a second.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::plan::Progress;
use crate::plan::report::grouped;

/// What is shorter needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);

/// A bar that comes after a second and goes with its owner; nothing at all where stderr is no terminal.
pub(super) struct Bar {
    latest: Arc<Mutex<Option<Progress>>>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Bar {
    /// A bar that fills until the deadline, where there is one.
    pub fn new(deadline: Option<Duration>) -> Self {
        let latest = Arc::new(Mutex::new(None));
        let (end, ended) = channel();
        let shared = Arc::clone(&latest);
        let draw = move || {
            let started = Instant::now();
            if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = visible(deadline);
            loop {
                let latest = *shared.lock().unwrap_or_else(PoisonError::into_inner);
                bar.set_message(latest.map_or_else(String::new, |progress| describe(&progress)));
                bar.set_position(started.elapsed().as_millis() as u64);
                if ended.recv_timeout(REDRAW) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
            }
            bar.finish_and_clear();
        };
        // Without a thread there is no bar, and nothing else is amiss.
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(draw).ok();
        Bar { latest, end: Some(end), thread }
    }

    /// What the planner calls back.
    pub fn callback(&self) -> impl Fn(Progress) + Send + Sync + 'static {
        let latest = Arc::clone(&self.latest);
        move |progress| *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        // The thread sees its sender go.
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // A bar that panicked is no reason to fail a plan.
            let _ = thread.join();
        }
    }
}

fn visible(deadline: Option<Duration>) -> ProgressBar {
    match deadline {
        Some(deadline) => {
            let template = "{bar:24} {elapsed} {wide_msg}";
            let style =
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(deadline.as_millis() as u64).with_style(style)
        }
        None => {
            let template = "{spinner} {elapsed} {wide_msg}";
            let style =
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::new_spinner().with_style(style)
        }
    }
}

fn describe(progress: &Progress) -> String {
    let (peak, bound) = (progress.best_peak_bytes, progress.lower_bound_bytes);
    let gap = if bound == 0 { 0.0 } else { 100.0 * (peak as f64 / bound as f64 - 1.0) };
    format!("{}: {} bytes, {gap:.3} % above the bound", progress.phase, grouped(peak))
}
