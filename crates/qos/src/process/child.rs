use std::ffi::OsStr;
use std::process::Command;

use crate::{Error, Request};

/// How firmly a child process is held at a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Hold {
    /// The child starts so, and may change it.
    Hint,
    /// The child and all its children can't rise above it.
    Clamp,
}

/// A command that starts a process at a class.
#[derive(Debug)]
#[non_exhaustive]
pub struct ChildCommand {
    /// The command: add arguments, redirect and start it as usual.
    pub command: Command,
    /// How firmly the child will be held.
    pub hold: Hold,
}

/// Prepares a command that starts `program` at the class requested.
///
/// - Apple: background as a hint (the child puts itself into the background before it runs the program); background and
///   utility as a clamp, through the system's `taskpolicy -c`. A child can't be started above the default class: it has
///   to ask in its own threads.
/// - Linux: a hint: the attributes of the request, which children inherit. Both profiles work; what the one-way profile
///   does, an unprivileged child can't undo.
///
/// # Errors
/// When the system has no such way to start a child.
pub fn child_command(program: impl AsRef<OsStr>, request: impl Into<Request>, hold: Hold) -> Result<ChildCommand, Error> {
    let request = request.into();
    request.check()?;
    prepare(program.as_ref(), &request, hold).map(|command| ChildCommand { command, hold })
}

#[cfg(target_vendor = "apple")]
fn prepare(program: &OsStr, request: &Request, hold: Hold) -> Result<Command, Error> {
    use crate::QosClass;
    let refused = |reason| Err(Error::NotAvailable { what: "a child at this class", reason });
    match (request.class, hold) {
        (QosClass::Default, Hold::Hint) => Ok(Command::new(program)),
        (QosClass::Background, Hold::Hint) => {
            let mut command = Command::new(program);
            crate::sys::apple::background_before_exec(&mut command);
            Ok(command)
        }
        (QosClass::Background | QosClass::Utility, Hold::Clamp) => {
            let mut command = Command::new("/usr/sbin/taskpolicy");
            command.arg("-c").arg(request.class.name()).arg(program);
            Ok(command)
        }
        (QosClass::Utility, Hold::Hint) => refused("a process can be hinted to the background only; clamp it instead"),
        (_, Hold::Clamp) => refused("a process can be clamped to background and utility only"),
        (QosClass::UserInitiated | QosClass::UserInteractive, Hold::Hint) => {
            refused("a process starts at the default class at most and raises its threads itself")
        }
    }
}

#[cfg(target_os = "linux")]
fn prepare(program: &OsStr, request: &Request, hold: Hold) -> Result<Command, Error> {
    if hold == Hold::Clamp {
        let reason = "Linux lets a thread return to its class, except by the one-way profile";
        return Err(Error::NotAvailable { what: "a clamp on a child", reason });
    }
    let mut command = Command::new(program);
    crate::thread::request_before_exec(&mut command, request)?;
    Ok(command)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn prepare(_program: &OsStr, _request: &Request, _hold: Hold) -> Result<Command, Error> {
    let reason = "this system has no backend yet; macOS and Linux have";
    Err(Error::NotAvailable { what: "a child at a class", reason })
}
