//! Children start at the class asked for.

use gannet_qos::{Hold, Profile, QosClass, Request, child_command};

/// Policy and nice of a child, from the child's own `stat` (fields 41 and 19 of `proc_pid_stat(5)`).
fn child(request: Request) -> (u32, i32) {
    let mut child = child_command("cat", request, Hold::Hint).unwrap();
    let output = child.command.arg("/proc/self/stat").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let fields: Vec<&str> = text.rsplit_once(") ").unwrap().1.split_whitespace().collect();
    (fields[38].parse().unwrap(), fields[16].parse().unwrap())
}

#[test]
fn a_child_starts_at_its_class() {
    let mine = gannet_qos::Effective::current().unwrap();
    assert_eq!(child(Request::new(QosClass::Default)), (0, 0));
    assert_eq!(child(Request::new(QosClass::Background)), (3, 0));
    // The one-way profile needs no right: what the child can't undo is its own affair.
    assert_eq!(child(Request::new(QosClass::Background).profile(Profile::OneWay)), (5, 0));
    assert_eq!(child(Request::new(QosClass::Utility).profile(Profile::OneWay)), (3, 5));
    assert_eq!(gannet_qos::Effective::current().unwrap(), mine);
}

#[test]
fn there_is_no_clamp_on_linux() {
    let error = child_command("true", QosClass::Background, Hold::Clamp).unwrap_err();
    assert!(error.to_string().contains("clamp"), "{error}");
}
