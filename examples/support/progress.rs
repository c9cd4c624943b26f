//! Progress on a terminal, silence otherwise.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Does `work` while `tick` is called ten times a second, in a thread of its own.
pub fn ticking<R>(tick: impl Fn() + Send, work: impl FnOnce() -> R) -> R {
    let (done, running) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // Ends when the sender goes, with the work or with its panic.
            while running.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
                tick();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// A bar over bytes with rate and remaining time. It is drawn on standard error and only if that is a terminal.
#[derive(Debug)]
pub struct Progress(ProgressBar);

/// Moves a [`Progress`] from elsewhere, such as a callback.
#[derive(Debug, Clone)]
pub struct Handle(ProgressBar);

impl Handle {
    /// How much is done in all.
    pub fn set(&self, done: u64) {
        self.0.set_position(done);
    }
}

impl Progress {
    /// A bar for `total` bytes.
    #[must_use]
    pub fn bytes(total: u64) -> Self {
        let style = "{msg:28} {wide_bar} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta} left";
        Self::styled(ProgressBar::new(total), style)
    }

    /// A spinner for bytes whose total is not known.
    #[must_use]
    pub fn unknown() -> Self {
        Self::styled(ProgressBar::no_length(), "{msg:28} {spinner} {decimal_bytes} {decimal_bytes_per_sec}")
    }

    /// A bar for `total` steps.
    #[must_use]
    pub fn steps(total: u64) -> Self {
        Self::styled(ProgressBar::new(total), "{msg:28} {wide_bar} {pos}/{len} {eta} left")
    }

    fn styled(bar: ProgressBar, style: &str) -> Self {
        // Hidden by itself where standard error is no terminal.
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        bar.set_style(ProgressStyle::with_template(style).expect("the template is a constant").progress_chars("━╸ "));
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Self(bar)
    }

    /// What is being done now.
    pub fn message(&self, text: impl Into<String>) {
        self.0.set_message(text.into());
    }

    /// How much is done in all.
    pub fn set(&self, done: u64) {
        self.0.set_position(done);
    }

    /// How much more is done.
    pub fn add(&self, more: u64) {
        self.0.inc(more);
    }

    /// How much is done in all.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.0.position()
    }

    /// Something to move the bar with from a callback. It does not keep the bar alive on the screen.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle(self.0.clone())
    }

    /// Changes the total.
    pub fn set_total(&self, total: u64) {
        self.0.set_length(total);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
