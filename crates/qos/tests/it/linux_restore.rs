//! After any guard every attribute is what it was before, and what can't be undone is refused beforehand.

use std::panic::{AssertUnwindSafe, catch_unwind};

use gannet_qos::{Effective, LinuxThread, Policy, Profile, QosClass, Request, enter, set};

fn now() -> LinuxThread {
    match Effective::current().unwrap() {
        Effective::Linux(thread) => thread,
        other => panic!("{other:?}"),
    }
}

/// Every request worth making: classes times profiles, with and without a restriction to one CPU.
fn requests() -> Vec<Request> {
    let one = now().cpus.iter().take(1).collect();
    let mut requests = Vec::new();
    for class in QosClass::ALL {
        for profile in [Profile::Reversible, Profile::OneWay] {
            let request = Request::new(class).profile(profile);
            requests.push(request.clone().cpus(std::clone::Clone::clone(&one)));
            requests.push(request);
        }
    }
    requests
}

/// Runs in its own thread, since a failed restore must not spoil other tests.
fn in_own_thread(work: impl FnOnce() + Send) {
    std::thread::scope(|scope| scope.spawn(work).join().unwrap());
}

#[test]
fn a_guard_restores_every_attribute_or_is_refused_before_it_changes_any() {
    in_own_thread(|| {
        for request in requests() {
            let before = now();
            match enter(request.clone()) {
                Ok(guard) => {
                    assert_eq!(guard.applied().after, Effective::Linux(now()));
                    guard.leave().unwrap();
                }
                Err(gannet_qos::Error::Irreversible { .. }) => assert_eq!(request.profile, Profile::OneWay),
                Err(other) => panic!("{request:?}: {other}"),
            }
            assert_eq!(now(), before, "{request:?}");
        }
    });
}

/// Whether the kernel lets this thread undo what the one-way profile does, as `/proc` tells: with `CAP_SYS_NICE` (bit 23)
/// in the initial user namespace, or with an `RLIMIT_NICE` that allows nice 0 again.
fn may_undo() -> bool {
    let read = |path| std::fs::read_to_string(path).unwrap();
    let (status, limits, map) = (read("/proc/thread-self/status"), read("/proc/thread-self/limits"), read("/proc/thread-self/uid_map"));
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap().trim();
    let capable = u64::from_str_radix(effective, 16).unwrap() & 1 << 23 != 0;
    let nice = limits.lines().find_map(|line| line.strip_prefix("Max nice priority")).unwrap();
    let nice = nice.split_whitespace().next().unwrap();
    capable && map.split_whitespace().eq(["0", "0", "4294967295"]) || nice == "unlimited" || nice.parse::<u64>().unwrap() >= 20
}

#[test]
fn only_what_could_not_be_undone_is_refused() {
    in_own_thread(|| {
        for request in requests() {
            let one_way = request.profile == Profile::OneWay && matches!(request.class, QosClass::Background | QosClass::Utility);
            assert_eq!(enter(request.clone()).is_ok(), !one_way || may_undo(), "{request:?}");
        }
    });
}

#[test]
fn guards_restore_from_every_starting_state() {
    // Each pair: a state that was chosen, then a guard within it.
    for start in requests() {
        in_own_thread(move || {
            set(start.clone()).unwrap();
            let before = now();
            for request in requests() {
                if let Ok(guard) = enter(request.clone()) {
                    drop(guard);
                }
                assert_eq!(now(), before, "{start:?} then {request:?}");
            }
        });
    }
}

#[test]
fn a_panic_and_nesting_restore_too() {
    in_own_thread(|| {
        let before = now();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let _outer = enter(QosClass::Utility).unwrap();
            let _inner = enter(QosClass::Background).unwrap();
            std::panic::resume_unwind(Box::new("a panic"));
        }));
        assert!(outcome.is_err());
        assert_eq!(now(), before);
    });
}

#[test]
fn guards_dropped_out_of_order_restore_what_was_before_the_first() {
    in_own_thread(|| {
        let before = now();
        let outer = enter(QosClass::Utility).unwrap();
        let inner = enter(QosClass::Background).unwrap();
        let within = now();
        drop(outer);
        assert_eq!(now(), within);
        drop(inner);
        assert_eq!(now(), before);
    });
}

#[test]
fn classes_differ_as_described() {
    in_own_thread(|| {
        set(QosClass::Background).unwrap();
        assert_eq!(now().policy, Policy::Batch);
        assert_eq!(now().io_priority.to_string(), "idle");
        let applied = set(QosClass::Default).unwrap();
        assert!(applied.changed());
        assert_eq!(now().policy, Policy::Other);
        let again = set(QosClass::Default).unwrap();
        assert!(!again.changed(), "{again:?}");
    });
}

#[test]
fn a_wrong_relative_priority_is_refused() {
    for wrong in [-16, 1, i32::MIN] {
        let message = set(Request::new(QosClass::Utility).relative_priority(wrong)).unwrap_err().to_string();
        assert!(message.contains(&wrong.to_string()), "{message}");
    }
}

#[test]
fn cpus_that_are_not_there_are_refused() {
    let before = now();
    for cpus in [gannet_qos::CpuSet::new(), [60_000].into_iter().collect()] {
        let error = enter(Request::new(QosClass::Utility).cpus(cpus)).unwrap_err();
        assert!(error.to_string().contains("none of them"), "{error}");
    }
    assert_eq!(now(), before);
}
