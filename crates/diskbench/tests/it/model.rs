use std::time::Duration;

use gannet_diskbench::{Access, Caveat, Direction, Ending, Error, Fault, Method, ModelDisk, Plan, ReadBack, Report, Runner, SyncPolicy};

use proptest::prelude::*;

const MS: Duration = Duration::from_millis(1);

fn run(plan: &Plan, disk: ModelDisk) -> Report {
    let mut runner = Runner::on_model(plan, disk).unwrap();
    for sample in &mut runner {
        sample.unwrap();
    }
    runner.into_report()
}

/// The report and the error that ended it.
fn failing(plan: &Plan, disk: ModelDisk) -> (Report, Error) {
    let mut runner = Runner::on_model(plan, disk).unwrap();
    let error = runner.find_map(Result::err).expect("no error");
    assert!(runner.next().is_none());
    (runner.into_report(), error)
}

fn close(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-6
}

#[test]
fn samples_are_exact() {
    let disk = ModelDisk::new(100e6, 400e6).latency(2 * MS).sync_time(3 * MS);
    let plan = super::plan(&[1_000_000, 50_000_000]).block(1 << 20).repeats(1);
    let report = run(&plan, disk);
    assert_eq!(report.ending, Ending::Finished);
    for sample in &report.samples {
        let requests = sample.chunks.len() as f64;
        let expected = match sample.direction {
            Direction::Write => sample.bytes as f64 / 100e6 + requests * 2e-3 + 3e-3,
            Direction::Read => sample.bytes as f64 / 400e6 + requests * 2e-3,
        };
        assert!(close(sample.elapsed().as_secs_f64(), expected), "{sample:?}");
        assert!(sample.is_disk_speed());
    }
    assert_eq!(report.method(Direction::Write), Some(Method::Direct));
}

#[test]
fn a_standard_run_shows_where_it_slows_down() {
    let report = run(&Plan::standard(), ModelDisk::new(2e9, 3e9).fast_region(30_000_000_000, 600e6));
    assert_eq!(report.samples.len(), 320);
    let mut written = 0;
    for sample in report.samples(Direction::Write) {
        let (from, to) = (written, written + sample.bytes);
        written = to;
        let expected = if to <= 30_000_000_000 {
            2e9
        } else if from >= 30_000_000_000 {
            600e6
        } else {
            continue;
        };
        assert!(close(sample.bytes_per_second(), expected), "{from} {sample:?}");
    }
    assert_eq!(written, Plan::standard().write_bytes());
}

#[test]
fn sync_brings_what_is_in_memory_to_the_disk() {
    let plan = super::plan(&[64_000_000]).access(Access::Cached).repeats(1);
    let report = run(&plan, ModelDisk::new(100e6, 100e6));
    let write = &report.samples[0];
    assert!(write.phases.transfer < Duration::from_millis(50));
    assert!(close(write.phases.sync.unwrap().as_secs_f64(), write.bytes as f64 / 100e6));
    // The same without sync is the rate of memory, and labelled.
    let report = run(&plan.sync(SyncPolicy::None), ModelDisk::new(100e6, 100e6));
    assert!(report.samples[0].bytes_per_second() > 1e9);
    assert_eq!(report.caveats(Direction::Write), [Caveat::NotSynced]);
    assert_eq!(report.caveats(Direction::Read), [Caveat::Cached]);
}

#[test]
fn without_direct_io_files_are_evicted_before_reading() {
    let disk = ModelDisk::new(100e6, 200e6).direct(false);
    let plan = super::plan(&[10_000_000]);
    let report = run(&plan, disk.clone());
    assert_eq!(report.method(Direction::Read), Some(Method::WriteBack));
    assert_eq!(report.caveats(Direction::Read), []);
    assert!(close(report.total(Direction::Read).unwrap().bytes_per_second(), 200e6));
    let stubborn = run(&plan, disk.clone().evicts(false));
    assert_eq!(stubborn.caveats(Direction::Read), [Caveat::Cached]);
    let direct = plan.access(Access::Direct);
    assert!(matches!(Runner::on_model(&direct, disk), Err(Error::AccessNotAvailable { .. })));
}

#[test]
fn errors_name_what_was_attempted_and_end_the_run() {
    let disk = || ModelDisk::new(100e6, 100e6);
    let plan = super::plan(&[1 << 20]).block(1 << 18).repeats(4);
    for (fault, action, at, samples) in [
        (Fault::WriteError(5 << 18), "write to", Some(1 << 18), 1),
        (Fault::ReadError(2 << 18), "read", Some(2 << 18), 4),
        (Fault::SyncError(2), "sync a file in", None, 2),
    ] {
        let (report, error) = failing(&plan, disk().fault(fault));
        match error {
            Error::Io { action: got, offset, .. } => assert_eq!((got, offset), (action, at)),
            other => panic!("{other:?}"),
        }
        assert_eq!(report.ending, Ending::Failed);
        assert_eq!(report.samples.len(), samples);
    }
}

#[test]
fn a_full_disk_is_told() {
    let plan = super::plan(&[1 << 20]).block(1 << 18).repeats(4);
    let (report, error) = failing(&plan, ModelDisk::new(1e8, 1e8).fault(Fault::Full((2 << 20) + 100)));
    assert!(matches!(error, Error::Full { written: 2_097_152, .. }), "{error:?}");
    assert_eq!(report.samples.len(), 2);
    // Room that is known to be missing is told before anything is written.
    let small = ModelDisk::new(1e8, 1e8).capacity(4 << 20);
    assert!(Runner::on_model(&plan, small.clone()).is_ok());
    let more = plan.repeats(5);
    match Runner::on_model(&more, small.clone()) {
        Err(Error::NotEnoughSpace { needed, available, .. }) => assert_eq!((needed, available), (5 << 20, 4 << 20)),
        other => panic!("{other:?}"),
    }
    assert_eq!(run(&more.reads(ReadBack::AfterEachRepeat), small).samples.len(), 10);
}

#[test]
fn short_requests_are_continued() {
    let disk = ModelDisk::new(1e8, 1e8).fault(Fault::Short(10_000)).keeps_data(true);
    let report = run(&super::plan(&[1 << 20]).block(1 << 18).verify(true), disk);
    assert_eq!(report.ending, Ending::Finished);
}

#[test]
fn a_flipped_bit_is_found() {
    let disk = ModelDisk::new(1e8, 1e8).keeps_data(true);
    let plan = super::plan(&[1 << 20]).block(1 << 18);
    for depth in [1, 4] {
        let plan = plan.clone().queue_depth(depth);
        let flipped = disk.clone().fault(Fault::FlippedBit((1 << 20) + 300_000));
        assert_eq!(run(&plan, flipped.clone()).ending, Ending::Finished);
        let (_, error) = failing(&plan.clone().verify(true), flipped);
        assert!(matches!(error, Error::Verify { file: 1, .. }), "{error:?}");
        assert_eq!(run(&plan.verify(true), disk.clone()).ending, Ending::Finished);
    }
}

#[test]
fn the_time_limit_keeps_what_is_done() {
    let plan = super::plan(&[10_000_000]).repeats(100).time_limit(Duration::from_secs(1));
    let report = run(&plan, ModelDisk::new(100e6, 100e6));
    assert_eq!(report.ending, Ending::TimeLimit);
    assert!(!report.thread_lingers);
    // The limit is looked at before each block: the tenth file of two blocks and 0.1 s begins its second in time.
    assert_eq!(report.samples.len(), 10);
    assert_eq!(report.samples(Direction::Read).count(), 0);
}

#[test]
fn a_blocked_write_does_not_hold_the_run() {
    let plan = super::plan(&[10_000_000]).repeats(5).time_limit(Duration::from_secs(60));
    let disk = ModelDisk::new(100e6, 100e6).fault(Fault::Hang(25_000_000));
    let report = run(&plan, disk.clone());
    assert_eq!(report.ending, Ending::TimeLimit);
    assert!(report.thread_lingers);
    assert_eq!(report.samples.len(), 2);

    let mut runner = Runner::on_model(&super::plan(&[10_000_000]).repeats(5), disk).unwrap();
    assert!(runner.next().unwrap().is_ok());
    assert!(runner.next().unwrap().is_ok());
    let watch = runner.watch();
    std::thread::scope(|scope| {
        scope.spawn(|| watch.cancel());
        assert!(runner.next().is_none());
    });
    let report = runner.into_report();
    assert_eq!(report.ending, Ending::Cancelled);
}

#[test]
fn several_requests_under_way_are_all_timed() {
    let plan = super::plan(&[20_000_000]).block(1 << 20).queue_depth(4);
    let report = run(&plan, ModelDisk::new(100e6, 100e6));
    for sample in &report.samples {
        assert_eq!(sample.chunks.len(), 20);
        assert!(close(sample.bytes_per_second(), 100e6), "{}", sample.bytes_per_second());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever the sizes, blocks and requests under way: what is read is what was written, in the planned order, and all of it.
    #[test]
    fn every_plan_is_done_and_verified(
        sizes in proptest::collection::vec(1..300_000_u64, 1..5),
        (units, depth, repeats) in (1..20_u64, 1..5_u32, 1..4_u32),
        (seed, short) in (any::<u64>(), 1_000..70_000_u64),
        reads in prop_oneof![Just(ReadBack::AfterAll), Just(ReadBack::AfterEachRepeat)],
    ) {
        let plan = super::plan(&sizes).repeats(repeats).block(units * 4096).queue_depth(depth).seed(seed).reads(reads).verify(true);
        let disk = ModelDisk::new(1e8, 2e8).keeps_data(true).fault(Fault::Short(short));
        let report = run(&plan, disk.capacity(plan.space_needed()));
        prop_assert_eq!(report.ending, Ending::Finished);
        let files = |direction| report.samples(direction).map(|s| (s.file, s.repeat, s.size, s.bytes)).collect::<Vec<_>>();
        prop_assert_eq!(files(Direction::Write), files(Direction::Read));
        prop_assert_eq!(report.total(Direction::Write).unwrap().bytes, plan.write_bytes());
        for repeat in 0..repeats {
            let mut of_repeat: Vec<u64> = report.samples(Direction::Write).filter(|s| s.repeat == repeat).map(|s| s.size).collect();
            of_repeat.sort_unstable();
            let mut planned = sizes.clone();
            planned.sort_unstable();
            prop_assert_eq!(of_repeat, planned);
        }
        for sample in &report.samples {
            prop_assert_eq!(sample.chunks.iter().map(|chunk| chunk.bytes).sum::<u64>(), sample.bytes);
            prop_assert!(sample.bytes >= sample.size && sample.bytes < sample.size + 16_384);
        }
    }
}
