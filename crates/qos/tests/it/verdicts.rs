//! Recorded evidence through the one function that judges.

use std::time::Duration;

use gannet_qos::{
    ClampReason, Counters, Effective, Evidence, LevelCounters, Observed, ProcessState, QosClass, Request, Source, Topology, Unmeasurable,
    Verdict,
};

use crate::recorded::{M1, M4_PRO, M5_PRO, apple_thread, process};

/// A second on a machine, by milliseconds at each level; 4 and 2.5 cycles per nanosecond and so on downwards.
fn observed(topology: &Topology, milliseconds: &[u64], waiting: Option<u64>) -> Observed {
    let cycles = |index: usize, ms: u64| ms * 1_000_000 * [4, 3, 2][index.min(2)];
    let reading = |on: bool| {
        let mut counters = Counters::default();
        for (index, &ms) in milliseconds.iter().enumerate() {
            let ms = if on { ms } else { 0 };
            counters.cpu_ns += ms * 1_000_000;
            let cycles = Some(cycles(index, ms));
            counters.levels.push(LevelCounters::new(ms * 1_000_000, cycles, cycles, Some(ms * 900_000)));
        }
        counters.waiting_ns = waiting.map(|ms| if on { ms * 1_000_000 } else { 0 });
        counters
    };
    Observed::between(&reading(false), &reading(true), Duration::from_secs(1), topology, Source::Kernel)
}

fn judge(class: QosClass, effective: &Effective, process: &ProcessState, observed: &Observed, machine: &str) -> Verdict {
    let topology = Topology::from_sysctl(machine).unwrap();
    let request = Request::new(class);
    Verdict::judge(&Evidence { request: &request, effective, process, observed, topology: &topology })
}

/// The verdict for an application's thread with nothing in its way.
fn free(class: QosClass, machine: &str, milliseconds: &[u64], waiting: Option<u64>) -> Verdict {
    let topology = Topology::from_sysctl(machine).unwrap();
    let observed = observed(&topology, milliseconds, waiting);
    judge(class, &apple_thread(class, class, 63), &process("application"), &observed, machine)
}

#[test]
fn a_class_in_effect_on_its_cores_is_honoured() {
    assert_eq!(free(QosClass::Background, M1, &[0, 980], None), Verdict::Honoured);
    assert_eq!(free(QosClass::Background, M4_PRO, &[20, 960], None), Verdict::Honoured);
    assert_eq!(free(QosClass::UserInitiated, M4_PRO, &[990, 5], None), Verdict::Honoured);
    // Two fast kinds without an efficiency core, and three kinds.
    assert_eq!(free(QosClass::UserInteractive, M5_PRO, &[970, 30], None), Verdict::Honoured);
    assert_eq!(free(QosClass::Background, crate::recorded::THREE_LEVELS, &[0, 10, 980], None), Verdict::Honoured);
    assert_eq!(free(QosClass::Default, crate::recorded::THREE_LEVELS, &[950, 40, 10], None), Verdict::Honoured);
}

#[test]
fn busy_fast_cores_are_contention_not_a_clamp() {
    assert_eq!(free(QosClass::Default, M1, &[500, 480], None), Verdict::Contended);
    assert_eq!(free(QosClass::UserInitiated, M4_PRO, &[899, 101], None), Verdict::Contended);
    // On the right cores, but 30 % of the time in the queue.
    assert_eq!(free(QosClass::UserInitiated, M4_PRO, &[700, 0], Some(300)), Verdict::Contended);
    assert_eq!(free(QosClass::UserInitiated, M4_PRO, &[970, 0], Some(20)), Verdict::Honoured);
    assert_eq!(free(QosClass::Default, crate::recorded::THREE_LEVELS, &[400, 500, 90], None), Verdict::Contended);
}

#[test]
fn the_unexplained_is_not_called_honoured() {
    assert_eq!(free(QosClass::Background, M1, &[600, 400], None), Verdict::NotHonoured);
    assert_eq!(free(QosClass::Utility, M1, &[300, 700], None), Verdict::NotPromised);
}

#[test]
fn every_clamp_has_its_reason() {
    let topology = Topology::from_sysctl(M1).unwrap();
    let slow = observed(&topology, &[0, 990], None);
    let clamped = |asked, effective: &Effective, state: &str| judge(asked, effective, &process(state), &slow, M1);
    let (default, background) = (QosClass::Default, QosClass::Background);
    let low = apple_thread(default, background, 63);
    assert_eq!(clamped(default, &low, "background"), Verdict::Clamped(ClampReason::ProcessBackground));
    assert_eq!(clamped(default, &low, "background-by-other"), Verdict::Clamped(ClampReason::BackgroundByOther));
    assert_eq!(clamped(default, &low, "suppressed"), Verdict::Clamped(ClampReason::AppNap));
    assert_eq!(clamped(default, &low, "none"), Verdict::Clamped(ClampReason::StartedClamped));
    // App Nap caps the highest priority and leaves the class alone.
    let napping = apple_thread(default, default, 4);
    assert_eq!(clamped(default, &napping, "application"), Verdict::Clamped(ClampReason::AppNap));
    let interactive = QosClass::UserInteractive;
    let ceiling = apple_thread(interactive, QosClass::UserInitiated, 63);
    assert_eq!(clamped(interactive, &ceiling, "none"), Verdict::Clamped(ClampReason::NotAnApplication));
    assert_eq!(clamped(interactive, &ceiling, "application"), Verdict::Clamped(ClampReason::StartedClamped));
    // A background request in a background process is in effect as asked.
    assert_eq!(clamped(background, &apple_thread(background, background, 4), "background"), Verdict::Honoured);
}

#[test]
fn a_stripped_thread_is_seen_although_its_class_still_reads() {
    let mut effective = apple_thread(QosClass::Utility, QosClass::Default, 63);
    if let Effective::Apple(thread) = &mut effective {
        thread.kernel_class = None;
    }
    let topology = Topology::from_sysctl(M1).unwrap();
    let observed = observed(&topology, &[900, 0], None);
    let verdict = judge(QosClass::Utility, &effective, &process("none"), &observed, M1);
    assert_eq!(verdict, Verdict::Clamped(ClampReason::Stripped));
}

#[test]
fn what_cannot_be_told_says_why() {
    let class = QosClass::UserInitiated;
    let effective = apple_thread(class, class, 63);
    let topology = Topology::from_sysctl(M1).unwrap();
    // A virtual machine: time passes, counters stand still.
    let counters = |ns| Counters::new(ns, vec![LevelCounters::new(ns, Some(0), Some(0), Some(0))]);
    let second = Duration::from_secs(1);
    let machine = "hw.logicalcpu: 4\nhw.nperflevels: 1\nhw.perflevel0.logicalcpu: 4\nhw.perflevel0.physicalcpu: 4\n";
    let one = Topology::from_sysctl(machine).unwrap();
    let observed_vm = Observed::between(&counters(0), &counters(900_000_000), second, &one, Source::Kernel);
    let verdict = judge(class, &effective, &process("none"), &observed_vm, machine);
    assert_eq!(verdict, Verdict::NotMeasurable(Unmeasurable::VirtualMachine));
    let short = observed(&topology, &[0, 0], None);
    let verdict = judge(class, &effective, &process("none"), &short, M1);
    assert_eq!(verdict, Verdict::NotMeasurable(Unmeasurable::TooShort));
    let old = Source::NotAvailable { reason: "macOS before 13 counts nothing per core level" };
    let unknown = Observed::between(&counters(0), &counters(900_000_000), second, &topology, old);
    let verdict = judge(class, &effective, &process("none"), &unknown, M1);
    assert!(matches!(verdict, Verdict::NotMeasurable(Unmeasurable::NoCounters(_))), "{verdict:?}");
    assert!(verdict.to_string().contains("before 13"), "{verdict}");
}

#[test]
fn on_linux_only_a_restriction_can_be_honoured() {
    let tree = crate::recorded::alder_lake();
    let topology = Topology::from_linux(tree.path(), None).unwrap();
    let fast = topology.levels[0].cpus.clone().unwrap();
    let linux = crate::recorded::linux_thread();
    let process = ProcessState::default();
    let ran = |milliseconds: &[u64]| observed(&topology, milliseconds, None);
    let judge = |request: &Request, observed: &Observed| {
        Verdict::judge(&Evidence { request, effective: &linux, process: &process, observed, topology: &topology })
    };
    let hinted = Request::new(QosClass::Background);
    assert_eq!(judge(&hinted, &ran(&[0, 900])), Verdict::NotPromised);
    let restricted = hinted.clone().cpus(fast);
    assert_eq!(judge(&restricted, &ran(&[900, 0])), Verdict::Honoured);
    assert_eq!(judge(&restricted, &ran(&[900, 60])), Verdict::NotHonoured);
    let everywhere = hinted.clone().cpus(topology.online.clone().unwrap());
    assert_eq!(judge(&everywhere, &ran(&[900, 0])), Verdict::NotPromised);
    // On its CPUs, but after others: whatever the class.
    let waited = |ms| observed(&topology, &[900, 0], Some(ms));
    assert_eq!(judge(&restricted, &waited(20)), Verdict::Honoured);
    assert_eq!(judge(&restricted, &waited(60)), Verdict::Contended);
    assert_eq!(judge(&hinted, &waited(60)), Verdict::NotPromised);
}

#[test]
fn what_was_sampled_is_judged_within_its_error() {
    let tree = crate::recorded::alder_lake();
    let topology = Topology::from_linux(tree.path(), None).unwrap();
    let (linux, process) = (crate::recorded::linux_thread(), ProcessState::default());
    let request = Request::new(QosClass::Default).cpus(topology.levels[0].cpus.clone().unwrap());
    let judge = |milliseconds: &[u64], share_error: f64| {
        let mut observed = observed(&topology, milliseconds, None);
        observed.source = Source::Sampled { samples: 1000, share_error };
        Verdict::judge(&Evidence { request: &request, effective: &linux, process: &process, observed: &observed, topology: &topology })
    };
    assert_eq!(judge(&[970, 30], 0.005), Verdict::NotHonoured);
    assert_eq!(judge(&[970, 30], 0.015), Verdict::Honoured);
    assert_eq!(judge(&[1000, 0], 0.024), Verdict::Honoured);
    assert_eq!(judge(&[1000, 0], 0.026), Verdict::NotMeasurable(Unmeasurable::FewSamples));
    assert_eq!(judge(&[500, 500], 0.3), Verdict::NotMeasurable(Unmeasurable::FewSamples));
    // Few looks are enough to see that it is not so.
    assert_eq!(judge(&[500, 500], 0.1), Verdict::NotHonoured);
}

#[test]
fn identical_cores_are_no_distinction() {
    let topology = Topology::from_linux(crate::recorded::dual_socket().path(), None).unwrap();
    let counters = |ns| Counters::new(ns, vec![LevelCounters::new(ns, None, None, None)]);
    let observed = Observed::between(&counters(0), &counters(900_000_000), Duration::from_secs(1), &topology, Source::OneLevel);
    for class in QosClass::ALL {
        let request = Request::new(class).cpus([0].into_iter().collect());
        let (effective, process) = (crate::recorded::linux_thread(), ProcessState::default());
        let evidence = Evidence { request: &request, effective: &effective, process: &process, observed: &observed, topology: &topology };
        assert_eq!(Verdict::judge(&evidence), Verdict::NoDistinction);
    }
}
