//! What a class costs: entering and leaving a guard, and a meter that only counts; each beside the bare calls it is made of.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use qos::{Effective, Meter, Probe, Profile, QosClass, Request, Topology, Workload, enter};

fn guards(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("qos/guard");
    group.bench_function("read back (baseline)", |bencher| bencher.iter(|| black_box(Effective::current())));
    for class in QosClass::ALL {
        group.bench_function(format!("enter and leave {class}"), |bencher| {
            bencher.iter(|| enter(black_box(class)).expect("a reversible class").leave().expect("undone"));
        });
    }
    for class in [QosClass::Background, QosClass::Utility] {
        let one_way = Request::new(class).profile(Profile::OneWay);
        // Where the right to undo it is missing, a guard refuses it and there is nothing to time.
        if enter(one_way.clone()).is_ok() {
            group.bench_function(format!("enter and leave {class}, one-way profile"), |bencher| {
                bencher.iter(|| enter(black_box(one_way.clone())).expect("allowed before").leave().expect("undone"));
            });
        }
    }
    let outer = enter(QosClass::Background).expect("a reversible class");
    group.bench_function("enter and leave utility within background", |bencher| {
        bencher.iter(|| enter(black_box(QosClass::Utility)).expect("a reversible class").leave().expect("undone"));
    });
    outer.leave().expect("undone");
    if let Ok(topology) = Topology::detect()
        && let Some(cpus) = topology.usable.affinity
    {
        let pinned = Request::new(QosClass::Utility).cpus(cpus.iter().take(1).collect());
        group.bench_function("enter and leave utility on one CPU", |bencher| {
            bencher.iter(|| enter(black_box(pinned.clone())).expect("a reversible class").leave().expect("undone"));
        });
    }
    group.finish();
}

fn meters(criterion: &mut Criterion) {
    let Ok(topology) = Topology::detect() else { return };
    let mut group = criterion.benchmark_group("qos/meter");
    group.bench_function("clock twice (baseline)", |bencher| {
        bencher.iter(|| black_box(std::time::Instant::now()).elapsed());
    });
    group.bench_function("start and stop", |bencher| {
        bencher.iter(|| Meter::start(&topology).expect("a meter").stop().expect("an observation"));
    });
    group.finish();
}

fn probes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("qos/probe of 2^16 loops");
    for workload in Workload::ALL {
        let probe = Probe::new(workload);
        group.bench_function(workload.name(), |bencher| bencher.iter(|| black_box(probe.run(1 << 16))));
    }
    group.finish();
}

criterion_group!(benches, guards, meters, probes);
criterion_main!(benches);
