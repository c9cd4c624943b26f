//! Topology of recorded machines.

use gannet_qos::{Error, Limit, Topology};

use crate::recorded::{self, Tree};

/// Name, physical cores, logical CPUs and CPU list of each level.
fn levels(topology: &Topology) -> Vec<(String, usize, usize, String)> {
    let list = |level: &gannet_qos::CoreLevel| level.cpus.as_ref().map_or_else(String::new, ToString::to_string);
    topology.levels.iter().map(|l| (l.name.clone(), l.physical_cores, l.logical_cpus, list(l))).collect()
}

fn linux(tree: &Tree) -> Topology {
    let topology = Topology::from_linux(tree.path(), None).unwrap();
    let indices: Vec<_> = topology.levels.iter().map(|level| level.index).collect();
    assert_eq!(indices, (0..indices.len()).collect::<Vec<_>>());
    topology
}

fn level(name: &str, cores: usize, cpus: usize, list: &str) -> (String, usize, usize, String) {
    (name.to_owned(), cores, cpus, list.to_owned())
}

#[test]
fn alder_lake_has_two_kinds_whatever_its_favoured_cores() {
    let topology = linux(&recorded::alder_lake());
    assert_eq!(levels(&topology), [level("cpu_core", 8, 16, "0-15"), level("cpu_atom", 8, 8, "16-23")]);
    assert_eq!((topology.physical_cores, topology.logical_cpus, topology.packages), (16, 24, Some(1)));
    let (fast, slow) = (&topology.levels[0], &topology.levels[1]);
    assert_eq!((fast.l1d_bytes, fast.l2_bytes, fast.cpus_per_l2), (Some(48 << 10), Some(1280 << 10), Some(2)));
    assert_eq!((slow.l1i_bytes, slow.l2_bytes, slow.cpus_per_l2), (Some(64 << 10), Some(2 << 20), Some(4)));
    assert_eq!((fast.l3_bytes, fast.max_frequency_hz), (Some(30 << 20), Some(5_200_000_000)));
    assert_eq!((fast.capacity, slow.capacity), (Some(1.0), Some(0.6)));
    assert_eq!(topology.clusters.iter().map(ToString::to_string).collect::<Vec<_>>(), ["16-19", "20-23"]);
    // 8 pairs and 8 singles of both kinds of level 1, 8 + 2 of level 2, one of level 3.
    assert_eq!(topology.caches.len(), 2 * 16 + 10 + 1);
    assert_eq!(topology.to_string(), "8 cpu_core (16 threads) + 8 cpu_atom");
    assert_eq!((topology.level_of(3), topology.level_of(23), topology.level_of(24)), (Some(0), Some(1), None));
}

#[test]
fn meteor_lake_has_three_kinds() {
    let topology = linux(&recorded::meteor_lake());
    let expected = [level("cpu_core", 6, 12, "0-11"), level("cpu_atom", 8, 8, "12-19"), level("cpu_lowpower", 2, 2, "20-21")];
    assert_eq!(levels(&topology), expected);
    assert_eq!(topology.levels[2].capacity, Some(441.0 / 1024.0));
}

#[test]
fn small_cores_may_come_first() {
    let topology = linux(&recorded::big_little());
    assert_eq!(levels(&topology), [level("capacity 1024", 2, 2, "4-5"), level("capacity 485", 4, 4, "0-3")]);
    let topology = linux(&recorded::m1_linux());
    assert_eq!(levels(&topology), [level("capacity 1024", 4, 4, "4-7"), level("capacity 459", 4, 4, "0-3")]);
    assert_eq!(topology.levels[0].l2_bytes, Some(12 << 20));
    assert_eq!(topology.clusters.len(), 2);
}

#[test]
fn servers_have_one_kind_in_several_packages() {
    let topology = linux(&recorded::dual_socket());
    assert_eq!(levels(&topology), [level("CPU", 32, 64, "0-63")]);
    assert_eq!(topology.packages, Some(2));
    assert_eq!(topology.caches.iter().map(|cache| cache.bytes).collect::<Vec<_>>(), [24 << 20; 2]);
}

#[test]
fn offline_and_isolated_cpus_are_told_apart() {
    let topology = linux(&recorded::smt_off());
    assert_eq!(levels(&topology), [level("CPU", 8, 8, "0-7")]);
    assert_eq!((topology.offline.to_string(), topology.isolated.to_string()), ("8-15".into(), "6-7".into()));
    // An offline CPU has no topology of its own and counts nowhere.
    let tree = recorded::dual_socket();
    tree.write("sys/devices/system/cpu/online", "0-62");
    let topology = linux(&tree);
    assert_eq!((topology.logical_cpus, topology.physical_cores), (63, 32));
    assert_eq!(topology.offline.to_string(), "63");
}

#[test]
fn a_container_with_a_cpuset_and_a_quota() {
    let tree = recorded::dual_socket();
    tree.write("proc/self/cgroup", "0::/app");
    tree.write("proc/self/mountinfo", "30 20 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw");
    tree.write("sys/fs/cgroup/app/cpu.max", "max 100000");
    let read = |cpus: &str| Topology::from_linux(tree.path(), Some(cpus.parse().unwrap())).unwrap().usable;
    assert_eq!((read("0-63").cpus, read("0-63").limit), (64, Limit::Machine));
    assert_eq!((read("4-7").cpus, read("4-7").limit), (4, Limit::Affinity));
    // The limit of a group above counts as well.
    tree.write("sys/fs/cgroup/cpu.max", "250000 100000");
    let usable = read("4-7");
    assert_eq!((usable.cpus, usable.limit, usable.quota), (2, Limit::Quota, Some(2.5)));
    tree.write("sys/fs/cgroup/app/cpu.max", "50000 100000");
    assert_eq!((read("4-7").cpus, read("4-7").quota), (1, Some(0.5)));
    tree.write("sys/fs/cgroup/app/cpu.max", "much");
    let error = Topology::from_linux(tree.path(), None).unwrap_err();
    assert!(error.to_string().contains("cpu.max"), "{error}");
}

#[test]
fn control_groups_of_version_1_and_a_mount_below_the_root() {
    let tree = recorded::dual_socket();
    tree.write("proc/self/cgroup", "12:pids:/docker/abc\n4:cpu,cpuacct:/docker/abc\n0::/");
    let mount = "40 30 0:30 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct";
    tree.write("proc/self/mountinfo", mount);
    tree.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1");
    tree.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
    assert_eq!(linux(&tree).usable.quota, None);
    tree.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000");
    assert_eq!((linux(&tree).usable.quota, linux(&tree).usable.cpus), (Some(3.0), 3));
}

#[test]
fn a_tree_without_cpus_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let error = Topology::from_linux(folder.path(), None).unwrap_err();
    assert!(matches!(error, Error::Read { .. }) && error.to_string().contains("cpu/online"), "{error}");
    let tree = Tree::new("none", "");
    let error = Topology::from_linux(tree.path(), None).unwrap_err();
    assert!(error.to_string().contains("cpu/online"), "{error}");
}

#[test]
fn apple_machines_by_level_and_name() {
    let read = |text| Topology::from_sysctl(text).unwrap();
    let names = |text| levels(&read(text)).into_iter().map(|(name, cores, ..)| (name, cores)).collect::<Vec<_>>();
    let named = |levels: [(&str, usize); 2]| levels.map(|(name, cores)| (name.to_owned(), cores)).to_vec();
    assert_eq!(names(recorded::M1), named([("Performance", 4), ("Efficiency", 4)]));
    assert_eq!(names(recorded::M1_MAX), named([("level 0", 8), ("level 1", 2)]));
    assert_eq!(names(recorded::M3_PRO), named([("Performance", 6), ("Efficiency", 6)]));
    assert_eq!(names(recorded::M4_PRO), named([("Performance", 10), ("Efficiency", 4)]));
    assert_eq!(names(recorded::M5), named([("Super", 4), ("Efficiency", 6)]));
    assert_eq!(names(recorded::M5_PRO), named([("Super", 6), ("Performance", 12)]));
    assert_eq!(read(recorded::THREE_LEVELS).levels.len(), 3);
    let m1 = read(recorded::M1);
    assert_eq!((m1.levels[0].l1d_bytes, m1.levels[1].l2_bytes), (Some(128 << 10), Some(4 << 20)));
    assert_eq!((m1.usable.cpus, m1.online), (8, None));
    assert_eq!(read(recorded::M4_PRO).to_string(), "10 Performance + 4 Efficiency");
}

#[test]
fn apple_machines_without_levels_and_wrong_values() {
    let virtual_machine = Topology::from_sysctl("hw.logicalcpu: 4\nhw.physicalcpu: 4\nhw.l2cachesize: 4194304\n").unwrap();
    assert_eq!(levels(&virtual_machine), [level("CPU", 4, 4, "")]);
    for wrong in ["", "hw.logicalcpu: many\n", "nonsense"] {
        let error = Topology::from_sysctl(wrong).unwrap_err();
        assert!(error.to_string().contains("hw.logicalcpu"), "{error}");
    }
    // A kernel that promises more levels than it describes.
    let cut = "hw.logicalcpu: 8\nhw.nperflevels: 9\nhw.perflevel0.logicalcpu: 8\nhw.perflevel0.physicalcpu: 8\n";
    assert_eq!(Topology::from_sysctl(cut).unwrap().levels.len(), 1);
}

#[test]
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn this_machine_agrees_with_the_standard_library() {
    let topology = Topology::detect().unwrap();
    assert_eq!(topology.usable.cpus, std::thread::available_parallelism().unwrap().get());
    assert_eq!(topology.levels.iter().map(|level| level.logical_cpus).sum::<usize>(), topology.logical_cpus);
    assert_eq!(topology.levels.iter().map(|level| level.physical_cores).sum::<usize>(), topology.physical_cores);
}
