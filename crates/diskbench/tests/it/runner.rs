use std::fs::{self, FileTimes};
use std::path::Path;
use std::time::{Duration, SystemTime};

use gannet_diskbench::{Access, Caveat, Direction, Ending, Error, FileMode, Plan, ReadBack, Report, Reserve, Runner, SyncPolicy};

fn run(plan: &Plan, folder: &Path) -> Report {
    let mut runner = Runner::new(plan, folder).unwrap();
    for sample in &mut runner {
        sample.unwrap();
    }
    runner.into_report()
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().count() == 0
}

#[test]
fn every_access_writes_and_reads_what_was_planned() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for access in [Access::Uncached, Access::WriteBack, Access::Cached] {
        for depth in [1, 3] {
            let plan = super::plan(&[1, 100_000, 3_000_000]).access(access).block(65_536).queue_depth(depth).verify(true);
            let report = run(&plan, folder.path());
            assert_eq!(report.ending, Ending::Finished);
            assert_eq!(report.samples.len(), 12);
            let order = |direction| -> Vec<_> { report.samples(direction).map(|s| (s.file, s.repeat, s.size, s.bytes)).collect() };
            assert_eq!(order(Direction::Write), order(Direction::Read));
            for sample in &report.samples {
                assert_eq!(sample.bytes, sample.size.next_multiple_of(16_384));
                assert_eq!(sample.chunks.len() as u64, sample.bytes.div_ceil(65_536));
                assert!(sample.chunks.windows(2).all(|pair| pair[0].begin <= pair[1].begin));
            }
            let total = report.total(Direction::Write).unwrap();
            assert_eq!(total.bytes, plan.write_bytes());
            assert_eq!(report.planned_bytes, plan.write_bytes() + plan.read_bytes());
            assert!(is_empty(folder.path()));
        }
    }
}

#[test]
fn a_plan_is_repeated_exactly_by_its_seed() {
    let folder = tempfile::tempdir().unwrap();
    let order = |seed| -> Vec<u64> {
        let plan = super::plan(&[16_384, 32_768, 49_152, 65_536, 81_920]).repeats(3).seed(seed);
        run(&plan, folder.path()).samples.iter().map(|s| s.size).collect()
    };
    assert_eq!(order(7), order(7));
    assert_ne!(order(7), order(8));
}

#[test]
fn what_is_cached_or_not_synced_is_never_called_disk_speed() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let plan = super::plan(&[4_000_000]).access(Access::Cached).sync(SyncPolicy::None);
    let report = run(&plan, folder.path());
    assert!(report.caveats(Direction::Write).contains(&Caveat::NotSynced));
    let reads = report.caveats(Direction::Read);
    // The folder of the build may be in memory itself.
    assert!(reads.contains(&Caveat::Cached) || reads.contains(&Caveat::Memory), "{reads:?}");
    assert!(report.samples.iter().all(|sample| !sample.is_disk_speed()));
    assert_eq!(report.sync(), Some(SyncPolicy::None));
}

#[test]
fn other_file_modes_run_and_stay_in_the_settings() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for mode in [FileMode::Preallocated, FileMode::Overwrite] {
        let report = run(&super::plan(&[2_000_000]).file_mode(mode).verify(true), folder.path());
        assert_eq!(report.ending, Ending::Finished);
        assert_eq!(report.settings.file_mode, mode);
        assert_eq!(report.total(Direction::Write).unwrap().files, 2);
    }
}

#[test]
fn dropping_and_cancelling_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let plan = super::plan(&[1_000_000, 2_000_000]).repeats(5);
    let mut runner = Runner::new(&plan, folder.path()).unwrap();
    assert!(runner.next().unwrap().is_ok());
    drop(runner);
    assert!(is_empty(folder.path()));

    let mut runner = Runner::new(&plan, folder.path()).unwrap();
    let watch = runner.watch();
    assert_eq!(watch.planned_bytes(), plan.write_bytes() + plan.read_bytes());
    let first = runner.next().unwrap().unwrap();
    assert_eq!(watch.done_bytes(), first.bytes);
    watch.cancel();
    assert!(runner.next().is_none());
    assert!(runner.next().is_none());
    let report = runner.into_report();
    assert_eq!(report.ending, Ending::Cancelled);
    assert!(!report.thread_lingers);
    assert_eq!(report.samples, [first]);
    assert!(is_empty(folder.path()));
}

#[test]
fn unfit_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let plan = super::plan(&[16_384]);
    assert!(matches!(Runner::new(&plan, &file), Err(Error::NotAFolder { .. })));
    let absent = folder.path().join("absent");
    assert!(matches!(Runner::new(&plan, absent), Err(Error::Io { .. })));
    let greedy = plan.reserve(Reserve::Bytes(u64::MAX));
    match Runner::new(&greedy, folder.path()) {
        Err(Error::NotEnoughSpace { needed: 32_768, reserve: u64::MAX, .. }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::read(&file).unwrap(), b"x");
}

#[test]
fn a_folder_of_others_is_read_and_not_changed() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::create_dir(folder.path().join("within")).unwrap();
    let plan = super::plan(&[]).access(Access::Cached);
    assert!(matches!(Runner::over_folder(&plan, folder.path()), Err(Error::NoFiles { .. })));
    let data: Vec<u8> = (0..1_000_003_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(folder.path().join("odd"), &data).unwrap();
    fs::write(folder.path().join("zeros"), vec![0; 500_000]).unwrap();
    let sparse = fs::File::create(folder.path().join("sparse")).unwrap();
    sparse.set_len(700_000).unwrap();
    fs::write(folder.path().join("empty"), "").unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    sparse.set_times(FileTimes::new().set_accessed(long_ago)).unwrap();

    for access in [Access::Uncached, Access::Cached] {
        let plan = super::plan(&[]).access(access).block(65_536);
        let mut runner = Runner::over_folder(&plan, folder.path()).unwrap();
        let samples: Vec<_> = runner.by_ref().map(|sample| sample.unwrap()).collect();
        assert_eq!(samples.len(), 6);
        for sample in samples {
            assert_eq!(sample.direction, Direction::Read);
            let zero = sample.bytes != 1_000_003;
            assert_eq!(sample.caveats.contains(&Caveat::Zeros), zero, "{sample:?}");
            // A file system may store zeros without blocks, and small files within its tables.
            assert!(sample.caveats.contains(&Caveat::Sparse) || sample.bytes != 700_000);
        }
        assert_eq!(runner.into_report().ending, Ending::Finished);
    }
    assert_eq!(fs::read(folder.path().join("odd")).unwrap(), data);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5);
    if cfg!(target_os = "linux") {
        assert_eq!(sparse.metadata().unwrap().accessed().unwrap(), long_ago);
    }
    let endless = super::plan(&[]).repeats(u32::MAX);
    assert!(matches!(Runner::over_folder(&endless, folder.path()), Err(Error::BadPlan { .. })));
    let verify = super::plan(&[]).verify(true);
    assert!(matches!(Runner::over_folder(&verify, folder.path()), Err(Error::BadPlan { .. })));
}

#[test]
fn a_repeat_is_read_back_before_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let plan = super::plan(&[16_384, 32_768]).reads(ReadBack::AfterEachRepeat);
    let order: Vec<_> = run(&plan, folder.path()).samples.iter().map(|s| (s.repeat, s.direction)).collect();
    use Direction::{Read, Write};
    assert_eq!(order, [(0, Write), (0, Write), (0, Read), (0, Read), (1, Write), (1, Write), (1, Read), (1, Read)]);
}
