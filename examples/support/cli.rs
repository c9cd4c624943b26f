//! The frame of every program: arguments in, one line for an error, an exit status.
//!
//! Status 0: done. 1: it could not be done. 2: the arguments are wrong. 130: interrupted.

use std::io::{self, Write as _};
use std::process::ExitCode;

use crate::interrupt;

/// Why a program stops early.
#[derive(Debug)]
pub enum Failure {
    /// The arguments don't fit each other or the machine: status 2.
    Usage(String),
    /// What was asked for could not be done: status 1.
    Run(String),
    /// The user or the system asked the program to stop: status 130.
    Interrupted,
}

impl Failure {
    /// A failure to do something, from the words that say what.
    pub fn run(message: impl Into<String>) -> Self {
        Self::Run(message.into())
    }

    /// The message with what was being done in front.
    #[must_use]
    pub fn context(self, doing: &str) -> Self {
        match self {
            Self::Run(message) => Self::Run(format!("{doing}: {message}")),
            other => other,
        }
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Run(chain(&error))
    }
}

/// What went wrong, without the path that `tempfile` adds: of a file that the user never named.
#[must_use]
pub fn io_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" at path \"").next().unwrap_or(&text).to_string()
}

/// An error and its sources on one line.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        // Some libraries repeat their source in their own words.
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    one_line(&text)
}

/// Parses the arguments, watches for interruption, runs `program` and turns its outcome into an exit status.
pub fn main<A: clap::Parser>(program: impl FnOnce(A) -> Result<(), Failure>) -> ExitCode {
    main_unwatched(|arguments| {
        interrupt::watch().map_err(|error| Failure::run(format!("cannot watch for signals: {error}")))?;
        program(arguments)
    })
}

/// [`main`] for a program that computes for long and has nothing to tidy up until it writes its results: ^C ends it at once. It calls
/// [`interrupt::watch`] when it starts to write.
pub fn main_unwatched<A: clap::Parser>(program: impl FnOnce(A) -> Result<(), Failure>) -> ExitCode {
    let name = A::command().get_name().to_string();
    let arguments = match A::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if !error.use_stderr() => {
            // --help and --version; a closed pipe is no failure of ours.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            say(&format!("{name}: {}", usage_line(&error)));
            return ExitCode::from(2);
        }
    };
    match program(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let (message, status) = match failure {
                _ if interrupt::requested() => ("interrupted; nothing is left behind".to_string(), 130),
                Failure::Usage(message) => (message, 2),
                Failure::Run(message) => (message, 1),
                Failure::Interrupted => ("interrupted; nothing is left behind".to_string(), 130),
            };
            say(&format!("{name}: {}", one_line(&message)));
            ExitCode::from(status)
        }
    }
}

/// A line on standard error. If nobody reads that, the exit status says enough.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// What clap says, without its usage block, on one line.
fn usage_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let said: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    let said = said.join(" ");
    format!("{} (try --help)", said.strip_prefix("error: ").unwrap_or(&said))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Demo {
        #[arg(long, value_parser = |t: &str| crate::args::count(t, 4))]
        n: usize,
        file: String,
    }

    #[test]
    fn a_bad_argument_is_one_line_with_the_option() {
        let line = usage_line(&Demo::try_parse_from(["demo", "--n", "9", "f"]).unwrap_err());
        assert!(line.contains("--n") && line.contains("1 to 4") && !line.contains('\n'), "{line}");
        let line = usage_line(&Demo::try_parse_from(["demo", "--n", "1"]).unwrap_err());
        assert!(line.contains("<FILE>") && !line.contains('\n'), "{line}");
    }

    #[test]
    fn sources_follow_once() {
        let inner = std::io::Error::other("no space");
        assert_eq!(chain(&inner), "no space");
    }
}
