//! A whole run: from a source through a [`Line`] to a sink, on the caller's time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::line::Line;
use super::meter::Blocked;
use super::shared::{Deliver, MakeContext, Next, Parts, Released, Work, message};
use super::{Buffers, Meter, Settings};
use crate::error::Error;
use crate::file::Output;
use crate::options::ProgressHook;
use crate::report::{Progress, Stage};

/// What a source's closure may use.
pub(crate) struct Feed<'a> {
    /// The clocks: what the closure reads is timed and counted by itself.
    pub(crate) meter: &'a Meter,
    /// Buffers for jobs that carry bytes.
    pub(crate) buffers: &'a Buffers,
}

/// A source's closure on a thread of its own: the next job, or `None` at the end.
pub(crate) type Pull<'a, J> = Box<dyn FnMut(&Feed<'_>) -> Result<Option<J>, Error> + Send + 'a>;

/// Where jobs come from.
pub(crate) enum Source<'a, J> {
    /// Workers take the next job themselves, under a lock of its own, and read their bytes in `work`.
    Inline(Next<J>),
    /// The closure runs on a thread of its own: for what can only be read in order.
    Thread(Pull<'a, J>),
}

/// A sink's closure: takes the next result.
pub(crate) type Put<'a> = Box<dyn FnMut(&[u8]) -> Result<(), Error> + 'a>;

/// Where results go.
pub(crate) enum Sink<'a> {
    /// Workers write at offsets assigned in order, from 0.
    File(Arc<Output>),
    /// Called on the caller's thread, in order. The engine times it as writing.
    Ordered(Put<'a>),
    /// Dropped.
    Discard,
}

/// Everything a run needs.
pub(crate) struct Run<'a, J, C> {
    pub(crate) settings: Settings,
    /// Bytes of the input, where known: for progress.
    pub(crate) total: Option<u64>,
    pub(crate) source: Source<'a, J>,
    pub(crate) context: MakeContext<C>,
    pub(crate) work: Work<J, C>,
    /// Called in chunk order, before the chunk is written, with its index and output; may refuse it. Under a lock: keep
    /// it short.
    pub(crate) released: Option<Released>,
    pub(crate) sink: Sink<'a>,
    pub(crate) meter: Arc<Meter>,
    pub(crate) progress: Option<ProgressHook>,
}

/// Runs it to the end and returns the number of chunks. On return no worker runs any more.
pub(crate) fn run<J, C>(run: Run<'_, J, C>) -> Result<u64, Error>
where
    J: Send + 'static,
    C: Send + 'static,
{
    let Run { settings, total, source, context, work, released, sink, meter, progress } = run;
    let (next, pull) = match source {
        Source::Inline(next) => (Some(next), None),
        Source::Thread(pull) => (None, Some(pull)),
    };
    let kept = if let Sink::File(output) = &sink { Some(Arc::clone(output)) } else { None };
    let (deliver, mut ordered) = match sink {
        Sink::File(output) => (Deliver::File(Arc::downgrade(&output)), None),
        Sink::Ordered(write) => (Deliver::Pop, Some(write)),
        Sink::Discard => (Deliver::Discard, None),
    };
    let parts = Parts { settings, context, work, next, released, deliver, meter: Arc::clone(&meter) };
    let line = Line::new(parts)?;
    let result = std::thread::scope(|scope| {
        if let Some(mut pull) = pull {
            let (line, meter) = (&line, &*meter);
            let feeder = std::thread::Builder::new().name("stream-read".to_owned());
            if let Err(e) = feeder.spawn_scoped(scope, move || feed(line, meter, &mut pull)) {
                let error = Error::Pool { source: Box::new(e) };
                line.fail(error);
            }
        }
        let report = || match &progress {
            Some(hook) => hook.call(&Progress {
                ingested_bytes: meter.bytes(Stage::Read),
                processed_bytes: meter.bytes(Stage::Process),
                written_bytes: meter.bytes(Stage::Write),
                total_bytes: total,
                elapsed: meter.elapsed(),
            }),
            None => Ok(()),
        };
        let result = match &mut ordered {
            Some(write) => drain(&line, &meter, write, report),
            None => watch(&line, report),
        };
        if result.is_err() {
            // Lets the feeder go.
            line.fail(Error::Cancelled);
        }
        result
    });
    line.settle();
    drop(kept);
    result.map(|()| line.retired())
}

/// Feeds the line until the source ends. On the feeder's thread.
fn feed<J, C>(line: &Line<J, C>, meter: &Meter, pull: &mut Pull<'_, J>)
where
    J: Send + 'static,
    C: Send + 'static,
{
    let feed = Feed { meter, buffers: line.buffers() };
    loop {
        // A reader that panics must not leave the others waiting.
        let job = catch_unwind(AssertUnwindSafe(|| pull(&feed)));
        match job {
            Ok(Ok(Some(job))) => {
                let start = Instant::now();
                let pushed = line.push(job);
                meter.add_blocked(Stage::Read, Blocked::OnRoom, start.elapsed());
                if pushed.is_err() {
                    return;
                }
            }
            Ok(Ok(None)) => return line.end(),
            Ok(Err(error)) => return line.end_with(error),
            Err(payload) => return line.end_with(Error::Panicked { chunk: line.accepted(), message: message(&*payload) }),
        }
    }
}

/// Writes results in order, on the caller's thread.
fn drain<J, C>(
    line: &Line<J, C>,
    meter: &Meter,
    write: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    report: impl Fn() -> Result<(), Error>,
) -> Result<(), Error>
where
    J: Send + 'static,
    C: Send + 'static,
{
    loop {
        let start = Instant::now();
        let popped = line.pop();
        meter.add_blocked(Stage::Write, Blocked::OnInput, start.elapsed());
        let Some(bytes) = popped? else { return Ok(()) };
        meter.time(Stage::Write, || write(&bytes))?;
        meter.add_bytes(Stage::Write, bytes.len() as u64);
        line.give(bytes);
        report()?;
    }
}

/// Watches the workers, which write by themselves.
fn watch<J, C>(line: &Line<J, C>, report: impl Fn() -> Result<(), Error>) -> Result<(), Error>
where
    J: Send + 'static,
    C: Send + 'static,
{
    let mut seen = 0;
    while let Some(retired) = line.wait_progress(seen)? {
        seen = retired;
        report()?;
    }
    // Once at least, and with the last numbers.
    report()
}
