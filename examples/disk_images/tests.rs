use clap::Parser;
use diskbench::{ModelDisk, Plan, Report, Reserve, Runner};
use serde_json::Value;
use support::cli::Failure;
use support::machine::Facts;

use crate::kind::{self, FileSystem, Format, Kind};
use crate::measure::Outcome;
use crate::{Args, chosen, command, show};

fn report() -> Report {
    let plan = Plan::sizes([1_000_000]).repeats(2).reserve(Reserve::Bytes(0));
    let mut runner = Runner::on_model(&plan, ModelDisk::new(100e6, 200e6)).unwrap();
    assert!(runner.all(|sample| sample.is_ok()));
    runner.into_report()
}

fn outcome(kind: Kind) -> Outcome {
    Outcome { kind, write: report(), read: report(), empty_bytes: 1_000_000, filled_bytes: 4_000_000, file_bytes: 2_000_000 }
}

/// Every field that `docs/json.md` names for this schema, and no other; what cannot be told is marked.
#[test]
fn the_results_are_as_described() {
    let args = Args::try_parse_from(["disk_images", "d"]).unwrap();
    let results = [
        outcome(Kind::Loop { file_system: FileSystem::Ext4, direct: true }),
        outcome(Kind::Hdiutil { format: Format::Sparse, encrypted: true }),
    ];
    let document = show::document(&args, &Facts::detect(), &results);
    let described = include_str!("../../docs/json.md");
    let section = described.split("## `gannet/disk_images/1`").nth(1).expect("a section of this schema").split("\n## ").next().unwrap();
    let word = |name: &str| section.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name);
    let image = &document["images"][0];
    for value in [&document["settings"], image, &image["write"], &image["read"]] {
        for name in value.as_object().unwrap().keys() {
            assert!(word(name), "{name} is not described");
        }
    }
    assert_eq!(document["settings"]["qos"], "default");
    let caveats = |at: usize, side: &str| document["images"][at][side]["caveats"].clone();
    assert_eq!([caveats(0, "write"), caveats(0, "read"), caveats(1, "write")], [0, 1, 2].map(|_| Value::Array(vec![])));
    assert_eq!(caveats(1, "read"), serde_json::json!(["cache_unknown"]));
    let page = show::page(&args, &Facts::detect(), &results).unwrap().html();
    assert_eq!(page.matches("<svg").count(), 1);
    assert_eq!(page.matches("200 MB/s *</td>").count(), 1);
}

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
