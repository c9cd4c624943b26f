//! Where a thread runs, by sampling (a machine of one kind taken for one of two; this measures, so only `.ci/check-qos.sh`
//! runs it) and by the kernel's count of its moves.

use gannet_qos::{Meter, Probe, Request, Source, Topology, Workload, enter, migrations, thread_id, thread_places};

use crate::recorded::Tree;

#[test]
#[ignore = "measures for a second on an otherwise quiet machine with two CPUs; .ci/check-qos.sh runs it"]
fn a_thread_on_two_cpus_is_found_on_both() {
    let machine = Topology::detect().unwrap();
    let cpus: Vec<usize> = machine.usable.affinity.as_ref().unwrap().iter().take(2).collect();
    let [first, second] = cpus[..] else { return println!("one CPU only: nothing to show") };
    let tree = Tree::new("0-63", "0-63");
    tree.write("sys/devices/cpu_core/cpus", &first.to_string());
    tree.write("sys/devices/cpu_atom/cpus", &second.to_string());
    let topology = Topology::from_linux(tree.path(), None).unwrap();
    let probe = Probe::new(Workload::Integer);
    let loops = probe.loops_for(std::time::Duration::from_millis(250));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let meter = Meter::start(&topology).unwrap();
            // A quarter of the work on the first CPU, the rest on the second.
            for (cpu, times) in [(first, 1), (second, 3)] {
                let guard = enter(Request::default().cpus([cpu].into_iter().collect())).unwrap();
                for _ in 0..times {
                    let _ = probe.run(loops);
                }
                guard.leave().unwrap();
            }
            let observed = meter.stop().unwrap();
            let Source::Sampled { samples, share_error } = observed.source else { panic!("{observed:?}") };
            let share = observed.levels[0].share.unwrap();
            println!("share {share:.3} ± {share_error:.3} by {samples} looks");
            assert!((share - 0.25).abs() < 0.05 + 2.0 * share_error, "{observed:?}");
            // Nearly all of the thread's time is accounted for.
            let seen: f64 = observed.levels.iter().map(|level| level.time.as_secs_f64()).sum();
            assert!((seen / observed.cpu_time.as_secs_f64() - 1.0).abs() < 0.05, "{observed:?}");
        });
    });
}

#[test]
fn every_move_to_another_cpu_is_counted() {
    let cpus: Vec<usize> = Topology::detect().unwrap().usable.affinity.as_ref().unwrap().iter().take(2).collect();
    let [first, second] = cpus[..] else { return println!("one CPU only: nothing to show") };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let me = thread_id().unwrap();
            let look = || thread_places(std::process::id()).unwrap().into_iter().filter(|place| place.thread == me).collect::<Vec<_>>();
            let visit = |cpu: usize| enter(Request::default().cpus([cpu].into_iter().collect())).unwrap().leave().unwrap();
            visit(first);
            let before = look();
            assert_eq!(before.len(), 1);
            for cpu in [second, first, second, first, second] {
                visit(cpu);
            }
            let after = look();
            // The scheduler may have moved the thread in between, too.
            assert!(after[0].migrations.is_none() || migrations(&before, &after) >= 5, "{before:?} {after:?}");
        });
    });
}
