use gannet_diskbench::{Error, ModelDisk, Plan, ReadBack, Runner};

#[test]
fn the_standard_plan_writes_and_reads_53_gb() {
    let plan = Plan::standard();
    // 5.33 GB a repeat, each file rounded up by less than 16 KiB.
    let nominal = 53_300_000_000;
    assert!(plan.write_bytes() >= nominal && plan.write_bytes() < nominal + 160 * 16_384);
    assert_eq!(plan.read_bytes(), plan.write_bytes());
    assert_eq!(plan.space_needed(), plan.write_bytes());
}

#[test]
fn room_depends_on_when_files_are_read() {
    let sizes = [16_384, 32_768, 65_536];
    let plan = Plan::sizes(sizes).repeats(4);
    let one_repeat = sizes.iter().sum::<u64>();
    assert_eq!(plan.space_needed(), 4 * one_repeat);
    assert_eq!(plan.clone().reads(ReadBack::AfterEachRepeat).space_needed(), one_repeat);
    let never = plan.reads(ReadBack::Never);
    assert_eq!(never.space_needed(), 65_536);
    assert_eq!(never.read_bytes(), 0);
}

#[test]
fn bad_plans_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let good = || super::plan(&[16_384]);
    for (plan, word) in [
        (super::plan(&[]), "no sizes"),
        (super::plan(&[0]), "0 bytes"),
        (super::plan(&[u64::MAX]), "larger than any file"),
        (super::plan(&[1 << 61]).repeats(8), "larger together"),
        (good().repeats(0), "no repeats"),
        (good().repeats(u32::MAX), "files"),
        (good().block(0), "block"),
        (good().block(1000), "block"),
        (good().block(1 << 40), "block"),
        (good().queue_depth(0), "queue depth"),
        (good().queue_depth(1000), "queue depth"),
        (Plan::random_sizes(0, 1, 2), "no sizes"),
        (Plan::random_sizes(3, 9, 2), "smallest"),
    ] {
        match Runner::new(&plan, folder.path()) {
            Err(Error::BadPlan { what }) => assert!(what.contains(word), "{what:?} lacks {word:?}"),
            other => panic!("{plan:?} gave {other:?}"),
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let huge = Plan::sizes([1 << 62]);
    assert_eq!((huge.write_bytes(), huge.space_needed()), (u64::MAX, u64::MAX));
}

#[test]
fn random_sizes_come_from_the_seed_and_fill_their_range() {
    let (low, high) = (1_000_000, 100_000_000);
    let sizes = |plan: &Plan| -> Vec<u64> {
        let runner = Runner::on_model(plan, ModelDisk::new(1e9, 1e9)).unwrap();
        runner.map(|sample| sample.unwrap().size).collect()
    };
    let plan = Plan::random_sizes(50, low, high).repeats(4).reads(ReadBack::Never);
    let drawn = sizes(&plan);
    assert_eq!(drawn.len(), 200);
    assert!(drawn.iter().all(|size| (low..=high).contains(size)));
    // Evenly in the logarithm: half of them below the geometric mean, give or take five standard deviations.
    let below = drawn.iter().filter(|size| **size < 10_000_000).count();
    assert!((65..=135).contains(&below), "{below}");
    assert_ne!(drawn[..50], drawn[50..100]);
    assert_eq!(drawn, sizes(&plan));
    assert_ne!(drawn, sizes(&plan.clone().seed(2)));
    assert_eq!(plan.write_bytes(), drawn.iter().map(|size| size.next_multiple_of(16_384)).sum::<u64>());
    assert_eq!(sizes(&Plan::random_sizes(2, low, low).repeats(1).reads(ReadBack::Never)), [low, low]);
}
