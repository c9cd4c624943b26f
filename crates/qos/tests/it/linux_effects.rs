//! What the profiles do to the share of a contended CPU. These measure, so only `.ci/check-qos.sh` runs them.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gannet_qos::{Effective, Evidence, Meter, Probe, ProcessState, Profile, QosClass, Request, Topology, Verdict, Workload, set};

/// The share of one CPU that a thread with this request gets beside a default one, and the verdict on it.
fn share(request: Request) -> (f64, Verdict) {
    let topology = Topology::detect().unwrap();
    let cpu = topology.usable.affinity.clone().unwrap().iter().take(1).collect::<gannet_qos::CpuSet>();
    let (start, stop) = (Barrier::new(2), AtomicBool::new(false));
    let (start, stop, topology) = (&start, &stop, &topology);
    let spin = move |request: Request| {
        set(request.clone()).unwrap();
        let probe = Probe::new(Workload::Integer);
        start.wait();
        let meter = Meter::start(topology).unwrap();
        while !stop.load(Ordering::Relaxed) {
            let _ = probe.run(10_000);
        }
        let observed = meter.stop().unwrap();
        let (effective, process) = (Effective::current().unwrap(), ProcessState::current().unwrap());
        let evidence = Evidence { request: &request, effective: &effective, process: &process, observed: &observed, topology };
        (observed.cpu_time.as_secs_f64(), Verdict::judge(&evidence))
    };
    std::thread::scope(|scope| {
        let (mine, theirs) = (request.cpus(cpu.clone()), Request::new(QosClass::Default).cpus(cpu));
        let mine = scope.spawn(move || spin(mine));
        let theirs = scope.spawn(move || spin(theirs));
        // Long enough for slices of 100 ms to even out.
        std::thread::sleep(Duration::from_secs(5));
        stop.store(true, Ordering::Relaxed);
        let ((mine, verdict), (theirs, _)) = (mine.join().unwrap(), theirs.join().unwrap());
        (mine / (mine + theirs), verdict)
    })
}

#[test]
#[ignore = "measures for 20 s on an otherwise quiet machine; .ci/check-qos.sh runs it"]
fn shares_of_a_contended_cpu_are_as_theory_says() {
    // Weights by the kernel's table: nice 0 1024, nice 5 335, SCHED_IDLE 3.
    for (class, profile, expected, tolerance) in [
        (QosClass::Background, Profile::Reversible, 0.50, 0.02),
        (QosClass::Utility, Profile::Reversible, 0.50, 0.02),
        (QosClass::Utility, Profile::OneWay, 335.0 / 1359.0, 0.02),
        (QosClass::Background, Profile::OneWay, 3.0 / 1027.0, 0.017),
    ] {
        let (share, verdict) = share(Request::new(class).profile(profile));
        println!("{class} {profile:?}: share {share:.4}, theory {expected:.4}; {verdict}");
        assert!((share - expected).abs() <= tolerance, "{class} {profile:?}: {share}");
        let one_level = Topology::detect().unwrap().levels.len() == 1;
        assert!(!one_level || verdict == Verdict::NoDistinction, "{verdict}");
    }
}

/// The share of the time ready to run that each of so many threads waited for a CPU, and their times.
fn waiting(threads: usize, loops: u64) -> Vec<(f64, f64)> {
    let topology = Topology::detect().unwrap();
    let start = Barrier::new(threads);
    let run = || {
        let probe = Probe::new(Workload::Integer);
        start.wait();
        let meter = Meter::start(&topology).unwrap();
        let _ = probe.run(loops);
        let observed = meter.stop().unwrap();
        let waited = observed.waiting.unwrap().as_secs_f64();
        (waited / (waited + observed.cpu_time.as_secs_f64()), observed.wall.as_secs_f64())
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    })
}

#[test]
#[ignore = "measures for 15 s on an otherwise quiet machine; .ci/check-qos.sh runs it"]
fn waiting_tells_a_contended_thread_from_one_that_is_alone() {
    let loops = Probe::new(Workload::Integer).loops_for(Duration::from_millis(500));
    let (mut alone, mut times): (Vec<f64>, Vec<f64>) = (0..20).flat_map(|_| waiting(1, loops)).unzip();
    alone.sort_unstable_by(f64::total_cmp);
    times.sort_unstable_by(f64::total_cmp);
    let spread = (times[19] - times[0]) / times[10];
    println!("alone: waiting {:.4}, {:.4} at most; times differ by {:.1} %", alone[10], alone[19], spread * 100.0);
    // A verdict calls a thread contended from 0.05 on.
    assert!(alone[18] < 0.05, "{alone:?}");
    let cpus = Topology::detect().unwrap().usable.cpus;
    let contended: Vec<f64> = (0..5).flat_map(|_| waiting(cpus + 1, loops)).map(|(share, _)| share).collect();
    let mean = contended.iter().sum::<f64>() / contended.len() as f64;
    println!("{} threads on {cpus} CPUs: waiting {mean:.3}", cpus + 1);
    // Threads that end leave the CPU to the others, so somewhat less than one part in so many threads.
    let theory = 1.0 / (cpus + 1) as f64;
    assert!((0.5..1.2).contains(&(mean / theory)), "{mean} {contended:?}");
}
