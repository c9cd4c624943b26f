//! Where results may go: looked at before the work, so that nothing but an earlier result is ever replaced.

use std::fs::{self, File, Metadata};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::cli::{Failure, io_text};
use crate::json::{Target, folder_of};

/// What the root element of every page and drawing carries, and tells them from anybody else's.
pub const MARK: &str = "data-generator=\"gannet\"";

/// How far into a page or drawing its mark may stand.
const MARK_WITHIN: u64 = 512;

/// What a file of results is.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Json,
    Page,
}

/// Whether the results can be written: for a look before the work. `pages` are those of `--report` and the like, `used` the
/// files that the program reads or writes besides.
///
/// A file that is there is replaced only if it is empty or an earlier result of the same kind: who takes `--json` for a switch
/// would lose the file named after it.
///
/// # Errors
/// The folder of one is missing or not writable, or its path names a folder, a file in use, a read-only one or somebody's own.
pub fn check_results<'a>(
    json: Option<&Target>,
    pages: impl IntoIterator<Item = &'a Path>,
    used: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    let json = match json {
        Some(Target::File(path)) => Some((path.as_path(), Kind::Json)),
        _ => None,
    };
    let used: Vec<_> = used.into_iter().map(Place::of).collect();
    let mut results: Vec<Place> = Vec::new();
    for (path, kind) in json.into_iter().chain(pages.into_iter().map(|path| (path, Kind::Page))) {
        let refuse = |what: &str| Err(Failure::run(format!("{}: {what}", path.display())));
        let place = Place::of(path);
        if used.iter().any(|other| other.same(&place)) {
            return refuse("is a file of this run, and cannot be where its results go too");
        }
        if results.iter().any(|other| other.same(&place)) {
            return refuse("cannot hold two results");
        }
        match &place.found {
            Some(found) if found.is_dir() => return refuse("is a folder, not a file"),
            // A pipe or a device is written to as it is.
            Some(found) if !found.is_file() => continue,
            Some(found) if found.permissions().readonly() => return refuse("is read-only"),
            Some(found) if found.len() > 0 && !is_earlier(path, kind)? => {
                let option = if kind == Kind::Json { "--json" } else { "a report" };
                return refuse(&format!("is there already and no earlier result of {option}: name another file, or remove it first"));
            }
            _ => {}
        }
        if let Err(error) = tempfile::tempfile_in(folder_of(path)) {
            return refuse(&io_text(&error));
        }
        results.push(place);
    }
    Ok(())
}

/// Whether one of our programs wrote this file.
fn is_earlier(path: &Path, kind: Kind) -> Result<bool, Failure> {
    /// The one field that every document has.
    #[derive(Deserialize)]
    struct Earlier {
        schema: String,
    }
    let unreadable = |error| Failure::run(format!("{}: is there already, and cannot be looked into: {}", path.display(), io_text(&error)));
    let file = File::open(path).map_err(unreadable)?;
    if kind == Kind::Json {
        return match serde_json::from_reader::<_, Earlier>(BufReader::new(file)) {
            Err(error) if error.is_io() => Err(unreadable(error.into())),
            found => Ok(found.is_ok_and(|earlier| earlier.schema.starts_with("gannet/"))),
        };
    }
    let mut head = Vec::new();
    file.take(MARK_WITHIN).read_to_end(&mut head).map_err(unreadable)?;
    Ok(head.windows(MARK.len()).any(|bytes| bytes == MARK.as_bytes()))
}

/// A path without links and dots; of what is not there the folder's at least.
#[must_use]
pub fn real_path(path: &Path) -> PathBuf {
    let beside = || Some(fs::canonicalize(folder_of(path)).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(beside).unwrap_or_else(|| path.to_path_buf())
}

/// A file, or where one would be.
struct Place {
    path: PathBuf,
    found: Option<Metadata>,
}

impl Place {
    fn of(path: &Path) -> Self {
        Self { path: real_path(path), found: fs::metadata(path).ok() }
    }

    fn same(&self, other: &Self) -> bool {
        // A device or pipe may well be named twice.
        let is_special = |place: &Self| place.found.as_ref().is_some_and(|found| !found.is_file());
        if is_special(self) || is_special(other) {
            return false;
        }
        #[cfg(unix)]
        if let (Some(a), Some(b)) = (&self.found, &other.found) {
            use std::os::unix::fs::MetadataExt as _;
            return (a.dev(), a.ino()) == (b.dev(), b.ino());
        }
        self.path == other.path
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::document;
    use crate::page::Page;

    fn check(json: &Path, report: &Path) -> [Result<(), Failure>; 2] {
        [check_results(Some(&Target::File(json.into())), [], []), check_results(None, [report], [])]
    }

    #[test]
    fn a_missing_folder_and_a_folder_are_refused_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        for bad in [folder.path().join("no/a.json"), folder.path().into()] {
            assert!(check(&bad, &bad).iter().all(Result::is_err));
        }
        let good = folder.path().join("a.json");
        assert!(check(&good, &good).iter().all(Result::is_ok));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_an_earlier_result_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let result = document("gannet/test/1", json!({"schema": 5}), json!({}), vec![("aaa", json!([1, 2]))]);
        let page = Page::new(&"title ".repeat(200)).html();
        let [spaced, tight] = [serde_json::to_string_pretty(&result).unwrap(), result.to_string()];
        for (content, [as_json, as_page]) in [
            ("", [true, true]),
            (spaced.as_str(), [true, false]),
            (tight.as_str(), [true, false]),
            (page.as_str(), [false, true]),
            ("some text", [false, false]),
            ("null", [false, false]),
            ("{\"name\": \"a package\", \"version\": 1}", [false, false]),
            ("{\"schema\": \"https://example.org/schema\"}", [false, false]),
            ("{\"nested\": {\"schema\": \"gannet/test/1\"}}", [false, false]),
            (&spaced[..spaced.len() - 2], [false, false]),
            ("<!DOCTYPE html>\n<html lang=\"en\"><title>mine</title></html>", [false, false]),
        ] {
            fs::write(&path, content).unwrap();
            let [json, report] = check(&path, &path);
            assert_eq!([json.is_ok(), report.is_ok()], [as_json, as_page], "{content}");
            for refused in [json, report] {
                let Err(Failure::Run(message)) = refused else { continue };
                assert!(message.starts_with(&path.display().to_string()) && message.contains("remove it first"), "{message}");
            }
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
    }

    #[test]
    fn a_read_only_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "{\"schema\": \"gannet/test/1\"}").unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        assert!(check_results(Some(&Target::File(path)), [], []).is_err());
    }

    #[test]
    fn no_file_has_two_uses() {
        let folder = tempfile::tempdir().unwrap();
        let (here, there) = (folder.path().join("here"), folder.path().join("there"));
        fs::write(&here, "{\"schema\": \"gannet/test/1\"}").unwrap();
        let dotted = folder.path().join("./here");
        for path in [&here, &dotted, &there] {
            let target = Target::File(path.clone());
            assert!(check_results(Some(&target), [], [here.as_path(), &there]).is_err());
            assert!(check_results(Some(&target), [path.as_path()], []).is_err());
            assert!(check_results(None, [path.as_path(), path], []).is_err());
        }
        check_results(Some(&Target::File(here)), [there.as_path()], []).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_are_seen_through_and_devices_are_not_looked_into() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a"), "").unwrap();
        fs::hard_link(path("a"), path("hard")).unwrap();
        std::os::unix::fs::symlink("a", path("soft")).unwrap();
        for name in ["hard", "soft"] {
            assert!(check_results(Some(&Target::File(path(name))), [], [path("a").as_path()]).is_err(), "{name}");
        }
        let null = Path::new("/dev/null");
        check_results(Some(&Target::File(null.into())), [null], [null]).unwrap();
    }
}
