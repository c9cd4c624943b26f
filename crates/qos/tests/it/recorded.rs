//! Machines as their systems describe them, written from public descriptions, and recorded states of threads.

use std::fs;
use std::path::Path;

use gannet_qos::{AppleThread, Effective, IoPriority, LinuxThread, Policy, ProcessState, QosClass};
use tempfile::TempDir;

/// Apple M1: 4 + 4.
pub(crate) const M1: &str = "\
hw.ncpu: 8\nhw.logicalcpu: 8\nhw.physicalcpu: 8\nhw.packages: 1\nhw.nperflevels: 2
hw.perflevel0.name: Performance\nhw.perflevel0.physicalcpu: 4\nhw.perflevel0.logicalcpu: 4
hw.perflevel0.l1icachesize: 196608\nhw.perflevel0.l1dcachesize: 131072\nhw.perflevel0.l2cachesize: 12582912\nhw.perflevel0.cpusperl2: 4
hw.perflevel1.name: Efficiency\nhw.perflevel1.physicalcpu: 4\nhw.perflevel1.logicalcpu: 4
hw.perflevel1.l1icachesize: 131072\nhw.perflevel1.l1dcachesize: 65536\nhw.perflevel1.l2cachesize: 4194304\nhw.perflevel1.cpusperl2: 4
";

/// Apple M1 Max: 8 + 2; macOS 12 has no names yet.
pub(crate) const M1_MAX: &str = "\
hw.logicalcpu: 10\nhw.physicalcpu: 10\nhw.packages: 1\nhw.nperflevels: 2
hw.perflevel0.physicalcpu: 8\nhw.perflevel0.logicalcpu: 8\nhw.perflevel0.l2cachesize: 12582912\nhw.perflevel0.cpusperl2: 4
hw.perflevel1.physicalcpu: 2\nhw.perflevel1.logicalcpu: 2\nhw.perflevel1.l2cachesize: 4194304\nhw.perflevel1.cpusperl2: 2
";

/// Apple M3 Pro: 6 + 6.
pub(crate) const M3_PRO: &str = "\
hw.logicalcpu: 12\nhw.physicalcpu: 12\nhw.packages: 1\nhw.nperflevels: 2
hw.perflevel0.name: Performance\nhw.perflevel0.physicalcpu: 6\nhw.perflevel0.logicalcpu: 6\nhw.perflevel0.l2cachesize: 16777216\nhw.perflevel0.cpusperl2: 6
hw.perflevel1.name: Efficiency\nhw.perflevel1.physicalcpu: 6\nhw.perflevel1.logicalcpu: 6\nhw.perflevel1.l2cachesize: 4194304\nhw.perflevel1.cpusperl2: 6
";

/// Apple M4 Pro: 10 + 4.
pub(crate) const M4_PRO: &str = "\
hw.logicalcpu: 14\nhw.physicalcpu: 14\nhw.packages: 1\nhw.nperflevels: 2
hw.perflevel0.name: Performance\nhw.perflevel0.physicalcpu: 10\nhw.perflevel0.logicalcpu: 10\nhw.perflevel0.l2cachesize: 16777216\nhw.perflevel0.cpusperl2: 5
hw.perflevel1.name: Efficiency\nhw.perflevel1.physicalcpu: 4\nhw.perflevel1.logicalcpu: 4\nhw.perflevel1.l2cachesize: 4194304\nhw.perflevel1.cpusperl2: 4
";

/// Apple M5: 4 super and 6 efficiency cores.
pub(crate) const M5: &str = "\
hw.logicalcpu: 10\nhw.physicalcpu: 10\nhw.packages: 1\nhw.nperflevels: 2
hw.perflevel0.name: Super\nhw.perflevel0.physicalcpu: 4\nhw.perflevel0.logicalcpu: 4\nhw.perflevel0.cpusperl2: 4
hw.perflevel1.name: Efficiency\nhw.perflevel1.physicalcpu: 6\nhw.perflevel1.logicalcpu: 6\nhw.perflevel1.cpusperl2: 6
";

/// Apple M5 Pro: super and performance cores, no efficiency cores.
pub(crate) const M5_PRO: &str = "\
hw.logicalcpu: 18\nhw.physicalcpu: 18\nhw.packages: 1\nhw.nperflevels: 2
hw.perflevel0.name: Super\nhw.perflevel0.physicalcpu: 6\nhw.perflevel0.logicalcpu: 6\nhw.perflevel0.cpusperl2: 6
hw.perflevel1.name: Performance\nhw.perflevel1.physicalcpu: 12\nhw.perflevel1.logicalcpu: 12\nhw.perflevel1.cpusperl2: 6
";

/// A machine with three kinds of cores, which no maker of such sysctl values sells yet.
pub(crate) const THREE_LEVELS: &str = "\
hw.logicalcpu: 12\nhw.physicalcpu: 12\nhw.nperflevels: 3
hw.perflevel0.name: Super\nhw.perflevel0.physicalcpu: 2\nhw.perflevel0.logicalcpu: 2
hw.perflevel1.name: Performance\nhw.perflevel1.physicalcpu: 6\nhw.perflevel1.logicalcpu: 6
hw.perflevel2.name: Efficiency\nhw.perflevel2.physicalcpu: 4\nhw.perflevel2.logicalcpu: 4
";

/// An Apple thread that asked for one class and has another.
pub(crate) fn apple_thread(asked: QosClass, effective: QosClass, max_priority: i32) -> Effective {
    let base = [4, 20, 31, 37, 46][QosClass::ALL.iter().position(|class| *class == effective).unwrap()];
    Effective::Apple(AppleThread::new(Some(asked), 0, Some(asked), Some(base.min(max_priority)), None, Some(max_priority)))
}

/// A process in a state.
pub(crate) fn process(state: &str) -> ProcessState {
    let mut process = ProcessState::default();
    match state {
        "background" => process.background = true,
        "background-by-other" => process.background_by_other = true,
        "suppressed" => process.suppressed = true,
        "application" => process.application = true,
        _ => {}
    }
    process
}

/// An ordinary Linux thread.
pub(crate) fn linux_thread() -> Effective {
    Effective::Linux(LinuxThread::new(Policy::Other, 0, IoPriority::None, [0, 1].into_iter().collect()))
}

/// A tree of files that goes away with it.
pub(crate) struct Tree(TempDir);

impl Tree {
    pub(crate) fn new(online: &str, present: &str) -> Self {
        let tree = Tree(tempfile::tempdir().unwrap());
        tree.write("sys/devices/system/cpu/online", online);
        tree.write("sys/devices/system/cpu/present", present);
        tree.write("sys/devices/system/cpu/isolated", "");
        tree
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }

    fn cpu(&self, cpu: usize, file: &str, text: &str) {
        self.write(&format!("sys/devices/system/cpu/cpu{cpu}/{file}"), text);
    }

    /// CPUs of one kind: those of a core, of a cluster ("" for unknown), the package.
    fn cores(&self, cpus: std::ops::Range<usize>, per_core: usize, per_cluster: usize, package: i32) -> &Self {
        for cpu in cpus.clone() {
            let group = |size: usize| {
                let first = cpus.start + (cpu - cpus.start) / size * size;
                if size == 1 { first.to_string() } else { format!("{first}-{}", first + size - 1) }
            };
            self.cpu(cpu, "topology/core_cpus_list", &group(per_core));
            self.cpu(cpu, "topology/physical_package_id", &package.to_string());
            if per_cluster == 0 {
                self.cpu(cpu, "topology/cluster_id", "65535");
                self.cpu(cpu, "topology/cluster_cpus_list", &cpu.to_string());
            } else {
                self.cpu(cpu, "topology/cluster_id", &group(per_cluster));
                self.cpu(cpu, "topology/cluster_cpus_list", &group(per_cluster));
            }
        }
        self
    }

    /// A cache that groups of so many CPUs share.
    fn cache(&self, cpus: std::ops::Range<usize>, index: usize, what: (u32, &str, &str), shared: usize) -> &Self {
        let (level, kind, size) = what;
        for cpu in cpus.clone() {
            let first = cpus.start + (cpu - cpus.start) / shared * shared;
            let list = if shared == 1 { first.to_string() } else { format!("{first}-{}", first + shared - 1) };
            for (file, text) in [("level", level.to_string().as_str()), ("type", kind), ("size", size), ("shared_cpu_list", &list)] {
                self.cpu(cpu, &format!("cache/index{index}/{file}"), text);
            }
        }
        self
    }

    fn each(&self, cpus: std::ops::Range<usize>, file: &str, text: &str) -> &Self {
        cpus.for_each(|cpu| self.cpu(cpu, file, text));
        self
    }
}

/// Intel Core i9-12900K: 8 cores with two threads, 8 small ones in clusters of four.
pub(crate) fn alder_lake() -> Tree {
    let tree = Tree::new("0-23", "0-23");
    tree.cores(0..16, 2, 0, 0).cores(16..24, 1, 4, 0);
    tree.each(0..16, "cpufreq/cpuinfo_max_freq", "5100000").each(16..24, "cpufreq/cpuinfo_max_freq", "3900000");
    tree.each(0..16, "acpi_cppc/highest_perf", "68").each(16..24, "acpi_cppc/highest_perf", "42");
    // Two favoured cores of the same kind.
    tree.each(8..12, "acpi_cppc/highest_perf", "70");
    tree.each(8..12, "cpufreq/cpuinfo_max_freq", "5200000");
    tree.cache(0..16, 0, (1, "Data", "48K"), 2).cache(16..24, 0, (1, "Data", "32K"), 1);
    tree.cache(0..16, 1, (1, "Instruction", "32K"), 2).cache(16..24, 1, (1, "Instruction", "64K"), 1);
    tree.cache(0..16, 2, (2, "Unified", "1280K"), 2).cache(16..24, 2, (2, "Unified", "2048K"), 4);
    tree.cache(0..24, 3, (3, "Unified", "30720K"), 24);
    tree.write("sys/devices/cpu_core/cpus", "0-15");
    tree.write("sys/devices/cpu_atom/cpus", "16-23");
    tree
}

/// Intel Core Ultra 7 155H: 6 cores with two threads, 8 small ones, 2 small ones on low power.
pub(crate) fn meteor_lake() -> Tree {
    let tree = Tree::new("0-21", "0-21");
    tree.cores(0..12, 2, 0, 0).cores(12..20, 1, 4, 0).cores(20..22, 1, 2, 0);
    tree.each(0..12, "cpu_capacity", "1024").each(12..20, "cpu_capacity", "671").each(20..22, "cpu_capacity", "441");
    tree.write("sys/devices/cpu_core/cpus", "0-11");
    tree.write("sys/devices/cpu_atom/cpus", "12-19");
    tree.write("sys/devices/cpu_lowpower/cpus", "20-21");
    tree
}

/// Rockchip RK3399: 4 small, then 2 big cores.
pub(crate) fn big_little() -> Tree {
    let tree = Tree::new("0-5", "0-5");
    tree.cores(0..4, 1, 4, 0).cores(4..6, 1, 2, 0);
    tree.each(0..4, "cpu_capacity", "485").each(4..6, "cpu_capacity", "1024");
    tree.each(0..4, "cpufreq/cpuinfo_max_freq", "1416000").each(4..6, "cpufreq/cpuinfo_max_freq", "1800000");
    tree
}

/// Apple M1 under Linux: efficiency cores first.
pub(crate) fn m1_linux() -> Tree {
    let tree = Tree::new("0-7", "0-7");
    tree.cores(0..4, 1, 4, 0).cores(4..8, 1, 4, 0);
    tree.each(0..4, "cpu_capacity", "459").each(4..8, "cpu_capacity", "1024");
    tree.cache(0..4, 0, (2, "Unified", "4096K"), 4).cache(4..8, 0, (2, "Unified", "12288K"), 4);
    tree
}

/// Two sockets of 16 cores with two threads each.
pub(crate) fn dual_socket() -> Tree {
    let tree = Tree::new("0-63", "0-63");
    tree.cores(0..32, 2, 0, 0).cores(32..64, 2, 0, 1);
    tree.cache(0..32, 0, (3, "Unified", "24M"), 32).cache(32..64, 0, (3, "Unified", "24M"), 32);
    tree
}

/// Eight cores whose second threads were switched off (`nosmt`): 0-7 online, 8-15 not.
pub(crate) fn smt_off() -> Tree {
    let tree = Tree::new("0-7", "0-15");
    tree.cores(0..8, 1, 0, 0);
    tree.write("sys/devices/system/cpu/isolated", "6-7");
    tree
}
