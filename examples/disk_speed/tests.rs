use std::time::Duration;

use diskbench::{Direction, Fault, ModelDisk, Plan, Report, Reserve, Runner};
use serde_json::Value;
use support::machine::Facts;

use crate::{Findings, compare, html, json, show};

const MS: Duration = Duration::from_millis(1);

fn run(plan: &Plan, disk: ModelDisk) -> Report {
    let mut runner = Runner::on_model(&plan.clone().reserve(Reserve::Bytes(0)), disk).unwrap();
    for sample in &mut runner {
        sample.unwrap();
    }
    runner.into_report()
}

fn find(plan: &Plan, disk: ModelDisk) -> Findings {
    Findings::new(Facts::detect(), run(plan, disk), Some("quick"), 0.95)
}

fn near(a: f64, b: f64, share: f64) -> bool {
    (a / b - 1.0).abs() <= share
}

#[test]
fn bandwidth_and_latency_of_a_known_disk() {
    let disk = ModelDisk::new(150e6, 300e6).sync_time(3 * MS);
    let found = find(&Plan::quick().block(64 << 20), disk);
    let write = found.write.as_ref().unwrap();
    let line = write.affine.as_ref().unwrap();
    assert!(near(line.bandwidth, 150e6, 1e-6) && near(line.latency, 3e-3, 1e-6), "{line:?}");
    assert!(near(write.theil_sen.unwrap().0, 150e6, 1e-3));
    let (rate, latency) = write.least_squares.unwrap();
    assert!(near(rate, 150e6, 1e-6) && near(latency, 3e-3, 1e-4));
    assert!(write.change.is_none());
    assert!(write.total_rate < 150e6 && write.mean_rate < write.total_rate);
    assert_eq!(write.by_size.len(), 10);
    let read = found.read.as_ref().unwrap();
    assert!(near(read.affine.as_ref().unwrap().bandwidth, 300e6, 1e-6));
    assert!(show::change_line(read).starts_with("No change"));
}

#[test]
fn a_fast_region_is_found_where_it_ends() {
    let block = 8 << 20;
    let disk = ModelDisk::new(200e6, 300e6).sync_time(2 * MS).fast_region(1_500_000_000, 70e6);
    let found = find(&Plan::quick().block(block), disk);
    let change = found.write.as_ref().unwrap().change.as_ref().unwrap();
    assert!(change.after_bytes.abs_diff(1_500_000_000) <= block, "{change:?}");
    assert!(near(change.rate_before, 200e6, 0.03) && near(change.rate_after, 70e6, 0.03), "{change:?}");
    assert!(show::change_line(found.write.as_ref().unwrap()).contains("CHANGED after"));
    assert!(found.read.as_ref().unwrap().change.is_none());
}

#[test]
fn a_change_is_not_denied_where_it_could_not_be_found() {
    let of = |repeats| find(&Plan::sizes([1_000_000]).repeats(repeats), ModelDisk::new(100e6, 100e6).sync_time(MS));
    let few = of(15);
    assert!(show::change_line(few.write.as_ref().unwrap()).contains("15 files are too few to tell"));
    assert!(show::change_line(of(16).write.as_ref().unwrap()).starts_with("No change"));
}

#[test]
fn what_is_no_disk_speed_is_said() {
    let plan = Plan::quick().access(diskbench::Access::Cached).sync(diskbench::SyncPolicy::None);
    let warnings = show::warnings(&find(&plan, ModelDisk::new(100e6, 100e6))).join("\n");
    assert!(warnings.contains("write figures are not the speed of a disk: nothing made the data durable"), "{warnings}");
    assert!(warnings.contains("read figures are not the speed of a disk: the data was in the page cache"), "{warnings}");
    let clean = find(&Plan::quick(), ModelDisk::new(100e6, 100e6));
    assert!(!show::warnings(&clean).join("\n").contains("not the speed"));
}

#[test]
fn a_limit_is_said_and_its_samples_are_kept() {
    let plan = Plan::quick().time_limit(Duration::from_secs(12));
    let found = find(&plan, ModelDisk::new(100e6, 100e6).fault(Fault::Hang(900_000_000)));
    assert!(found.write.is_some() && found.read.is_none());
    let warnings = show::warnings(&found).join("\n");
    assert!(warnings.contains("time limit") && warnings.contains("lives on"), "{warnings}");
}

#[test]
fn random_sizes_are_fitted_and_shown_by_ranges() {
    let plan = Plan::random_sizes(20, 1_000_000, 400_000_000).repeats(2).block(64 << 20);
    let found = find(&plan, ModelDisk::new(150e6, 300e6).sync_time(3 * MS));
    let write = found.write.as_ref().unwrap();
    let line = write.affine.as_ref().unwrap();
    assert!(near(line.bandwidth, 150e6, 1e-3) && line.bandwidth_interval.is_some(), "{line:?}");
    assert_eq!(write.by_size.len(), 40);
    let ranges = write.by_range.as_ref().unwrap();
    assert_eq!(ranges.iter().map(|range| range.n).sum::<usize>(), 40);
    let begins: Vec<u64> = ranges.iter().map(|range| range.bytes / 1_000_000).collect();
    assert!(begins.iter().all(|begin| [1, 2, 5, 10, 20, 50, 100, 200].contains(begin)), "{begins:?}");
    assert_eq!(show::size_rows(write).len(), ranges.len());
    assert!(find(&Plan::quick(), ModelDisk::new(1e8, 1e8)).write.unwrap().by_range.is_none());
}

#[test]
fn the_way_of_measuring_is_told() {
    let plan = Plan::quick().file_mode(diskbench::FileMode::Preallocated);
    let lines = show::setting_lines(&find(&plan, ModelDisk::new(100e6, 100e6)));
    let of = |label: &str| lines.iter().find(|(name, _)| name == label).map(|(_, value)| value.as_str()).unwrap_or_default();
    assert!(of("files").contains("allocated before"), "{lines:?}");
    assert!(of("time").contains("outside the timed windows"), "{lines:?}");
}

/// Every field that `docs/json.md` names for this schema, and no other.
#[test]
fn the_document_has_the_described_fields() {
    let found = find(&Plan::quick(), ModelDisk::new(100e6, 200e6));
    let document = json::document(&found);
    let described = include_str!("../../docs/json.md");
    let section = described.split("## `gannet/disk_speed/1`").nth(1).expect("a section of this schema").split("\n## ").next().unwrap();
    let check = |value: &Value, what: &str| {
        for name in value.as_object().unwrap().keys() {
            assert!(section.contains(&format!("`{name}`")), "{what}: {name} is not described");
        }
    };
    check(&document["settings"], "settings");
    check(&document["samples"][0], "samples");
    check(&document["summary"]["write"], "summary");
    for name in document.as_object().unwrap().keys() {
        assert!(["schema", "machine"].contains(&name.as_str()) || section.contains(&format!("`{name}`")), "{name} is not described");
    }
    for name in ["bandwidth_bytes_per_second", "latency_seconds", "mean_rate", "trimmed_mean_rate", "theil_sen_rate", "total_rate"] {
        assert!(document["summary"]["read"][name].is_f64(), "{name}");
    }
    assert!(document["summary"]["write"]["changepoint"].is_null());
    assert_eq!(document["settings"]["access_achieved"]["write"], "direct");
    assert_eq!(document["samples"].as_array().unwrap().len(), 60);
}

#[test]
fn a_page_has_its_three_plots() {
    let page = html::page(&find(&Plan::quick(), ModelDisk::new(100e6, 200e6))).unwrap().html();
    assert_eq!(page.matches("<svg").count(), 3);
    // A run that a limit cut off before its first file has a page too.
    let empty = find(&Plan::quick().time_limit(Duration::from_nanos(1)), ModelDisk::new(100e6, 200e6).sync_time(MS));
    assert!(html::page(&empty).is_ok());
}

#[test]
fn only_like_runs_are_compared() {
    let plan = Plan::quick();
    let document = |plan: &Plan, rate: f64| json::document(&find(plan, ModelDisk::new(rate, 100e6).sync_time(MS)));
    let (a, b) = (document(&plan, 100e6), document(&plan, 150e6));
    assert_eq!(compare::difference(&a, &b), None);
    let ratios = compare::ratios(&a, &b);
    assert!(near(ratios[0].ratio, 1.5, 1e-3) && ratios[0].verdict() == "B is faster", "{ratios:?}");
    assert!(near(ratios[1].ratio, 1.0, 1e-3) && ratios[1].verdict() == "equal within 3 %", "{ratios:?}");
    for (other, word) in [
        (plan.clone().block(1 << 20), "block"),
        (plan.clone().seed(2), "seed"),
        (plan.clone().queue_depth(2), "queue"),
        (plan.clone().repeats(2), "files"),
        (plan.clone().access(diskbench::Access::WriteBack), "access"),
        (plan.clone().sync(diskbench::SyncPolicy::Fdatasync), "sync"),
    ] {
        let reason = compare::difference(&a, &document(&other, 100e6)).expect(word);
        assert!(reason.contains(word), "{reason}");
    }
}

#[test]
fn a_direction_without_files_has_no_summary() {
    let found = find(&Plan::quick().reads(diskbench::ReadBack::Never), ModelDisk::new(100e6, 100e6));
    assert!(found.read.is_none() && found.report.total(Direction::Read).is_none());
    assert!(json::document(&found)["summary"]["read"].is_null());
}
