//! The system's own tools.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Stdio};

use support::cli::Failure;

/// Runs a tool to its end. What it says on standard error becomes the error.
pub(crate) fn run<S: AsRef<OsStr>>(program: &str, arguments: &[S], input: Option<&str>) -> Result<String, Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::run(format!("{program}: {e}"));
    let mut command = Command::new(program);
    // ^C is for this program, which then undoes what the tool did; the tool must not end half-way.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| failed(&e))?;
    if let (Some(mut pipe), Some(text)) = (child.stdin.take(), input) {
        // A tool that ends early says why itself.
        let _ = pipe.write_all(text.as_bytes());
    }
    let output = child.wait_with_output().map_err(|e| failed(&e))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    Err(failed(&format!("{} ({})", last.trim().trim_start_matches(&format!("{program}: ")), output.status)))
}

/// On Linux, runs this program again in a space of mounts of its own, so that its mounts end with it, even when it is killed. Where that
/// cannot be had, it goes on as it is, and undoes its mounts itself.
#[cfg(target_os = "linux")]
pub(crate) fn apart() {
    use std::os::unix::process::CommandExt;
    const MARK: &str = "GANNET_DISK_IMAGES_APART";
    if std::env::var_os(MARK).is_some() {
        return;
    }
    let possible = Command::new("unshare").args(["--mount", "--propagation", "private", "true"]).stderr(Stdio::null()).status();
    let (true, Ok(program)) = (possible.is_ok_and(|status| status.success()), std::env::current_exe()) else { return };
    let arguments = std::env::args_os().skip(1);
    // Returns only if it fails.
    let _ = Command::new("unshare").args(["--mount", "--propagation", "private", "--"]).arg(program).args(arguments).env(MARK, "1").exec();
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn apart() {}
