//! `--json` and `--report`: looked at before the work, written after it.

use std::path::PathBuf;

use serde_json::Value;

use crate::cli::Failure;
use crate::json::Target;
use crate::page::Page;
use crate::print::Printer;
use crate::results::check_results;

/// Where results go beside standard output.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Outputs {
    /// Write the result as JSON (`-` for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<Target>,
    /// Write a page with the tables and plots
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

impl Outputs {
    /// The printer that goes with them.
    ///
    /// # Errors
    /// One of the files could not be written: better said now than after minutes of work.
    pub fn open(&self) -> Result<Printer, Failure> {
        check_results(self.json.as_ref(), self.report.as_deref(), [])?;
        Ok(Printer::new(self.json.as_ref()))
    }

    /// Makes and writes those that are wanted.
    ///
    /// # Errors
    /// A file cannot be written, or the page cannot be made.
    pub fn write(&self, document: impl FnOnce() -> Value, page: impl FnOnce() -> Result<Page, Failure>) -> Result<(), Failure> {
        if let Some(target) = &self.json {
            target.write(&document())?;
        }
        if let Some(path) = &self.report {
            page()?.write(path)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_is_said_before_and_the_rest_is_made_on_demand() {
        let folder = tempfile::tempdir().unwrap();
        let outputs = |json: &str| Outputs { json: Some(Target::File(folder.path().join(json))), report: None };
        assert!(outputs("no/a.json").open().is_err());
        let wanted = outputs("a.json");
        wanted.open().unwrap();
        wanted.write(|| Value::Null, || panic!("no page is wanted")).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("a.json")).unwrap(), "null\n");
    }
}
