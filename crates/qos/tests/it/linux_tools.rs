//! Read-back agrees with what other tools read.

use std::process::Command;

use gannet_qos::{Effective, LinuxThread, Profile, QosClass, Request, enter, thread_id};

fn now() -> LinuxThread {
    match Effective::current().unwrap() {
        Effective::Linux(thread) => thread,
        other => panic!("{other:?}"),
    }
}

#[test]
fn read_back_agrees_with_proc() {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for class in QosClass::ALL {
                let _guard = enter(class).unwrap();
                let text = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
                let fields: Vec<&str> = text.rsplit_once(") ").unwrap().1.split_whitespace().collect();
                assert_eq!(fields[38], now().policy.to_raw().to_string());
                assert_eq!(fields[16], now().nice.to_string());
                let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
                let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
                assert_eq!(allowed.trim().parse::<gannet_qos::CpuSet>().unwrap(), now().cpus);
            }
        });
    });
}

#[test]
#[ignore = "needs chrt, ionice and taskset of util-linux; .ci/check-qos.sh runs it"]
fn read_back_agrees_with_chrt_ionice_and_taskset() {
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().unwrap();
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let id = thread_id().unwrap().to_string();
            let one = now().cpus.iter().take(1).collect();
            for class in QosClass::ALL {
                for profile in [Profile::Reversible, Profile::OneWay] {
                    let request = Request::new(class).profile(profile).cpus(std::clone::Clone::clone(&one));
                    let Ok(_guard) = enter(request) else { continue };
                    let chrt = run("chrt", &["-p", &id]);
                    assert!(chrt.contains(&now().policy.to_string()), "{chrt}");
                    let affinity = run("taskset", &["-cp", &id]);
                    assert!(affinity.trim_end().ends_with(&format!(": {}", now().cpus)), "{affinity}");
                    let ionice = run("ionice", &["-p", &id]);
                    let expected = match now().io_priority {
                        gannet_qos::IoPriority::Idle => "idle".to_owned(),
                        gannet_qos::IoPriority::BestEffort(level) => format!("best-effort: prio {level}"),
                        _ => "none".to_owned(),
                    };
                    assert!(ionice.contains(&expected), "{ionice} {expected}");
                }
            }
        });
    });
}
