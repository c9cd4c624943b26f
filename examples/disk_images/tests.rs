use clap::Parser;
use support::cli::Failure;

use crate::kind::{self, FileSystem, Format, Kind};
use crate::{Args, chosen, command};

#[test]
fn every_kind_has_a_name_of_its_own() {
    let loops =
        [FileSystem::Ext4, FileSystem::Xfs, FileSystem::Btrfs].map(|f| [false, true].map(|direct| Kind::Loop { file_system: f, direct }));
    let others = [Format::ReadWrite, Format::Sparse, Format::SparseBundle]
        .map(|f| [false, true].map(|encrypted| Kind::Hdiutil { format: f, encrypted }));
    let mut names: Vec<&str> = loops.iter().chain(&others).flatten().map(|kind| kind.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 12);
}

#[test]
fn kinds_are_chosen_by_name() {
    let offered = kind::offered();
    let Some(last) = offered.last() else {
        assert!(matches!(chosen(&[]), Err(Failure::Run(_))));
        return;
    };
    assert_eq!(chosen(&[]).unwrap(), offered);
    assert_eq!(chosen(&[last.name().into()]).unwrap(), [*last]);
    match chosen(&["floppy".into()]) {
        Err(Failure::Usage(line)) => assert!(line.contains("floppy") && line.contains(last.name()), "{line}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_tool_that_fails_says_why_on_one_line() {
    let Err(Failure::Run(line)) = command::run("cat", &["/absent/file"], None) else { panic!("cat found it") };
    assert!(line.starts_with("cat: ") && line.contains("/absent/file") && !line.contains('\n'), "{line}");
    assert!(matches!(command::run::<&str>("no-such-tool-here", &[], None), Err(Failure::Run(_))));
    assert_eq!(command::run::<&str>("cat", &[], Some("words")).unwrap(), "words");
}

#[test]
fn arguments() {
    let args = Args::try_parse_from(["disk_images", "d", "--files", "2MB,1KiB", "--kinds", "a,b"]).unwrap();
    assert_eq!(args.files, [2_000_000, 1024]);
    assert_eq!(args.kinds, ["a", "b"]);
    assert!(Args::try_parse_from(["disk_images"]).is_err());
    assert!(Args::try_parse_from(["disk_images", "d", "--wait", "99999"]).is_err());
}
