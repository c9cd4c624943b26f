//! Thread pools: what each worker got can be learnt.

use gannet_qos::{QosClass, Workers, spawn};

#[test]
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn every_worker_reports_what_it_got() {
    let workers = Workers::new(QosClass::Utility).unwrap();
    let handler = workers.start_handler();
    std::thread::scope(|scope| {
        for index in 0..4 {
            let handler = &handler;
            scope.spawn(move || handler(index));
        }
    });
    let mut indices: Vec<usize> = workers
        .take_outcomes()
        .into_iter()
        .map(|outcome| {
            assert_eq!(outcome.result.unwrap().request.class, QosClass::Utility);
            outcome.index
        })
        .collect();
    indices.sort_unstable();
    assert_eq!(indices, [0, 1, 2, 3]);
    assert!(workers.take_outcomes().is_empty());
}

#[test]
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn a_spawned_thread_runs_at_its_class() {
    let builder = std::thread::Builder::new().name("exporter".to_owned());
    let (thread, applied) = spawn(builder, QosClass::Background, || gannet_qos::Effective::current().unwrap()).unwrap();
    assert_eq!(thread.thread().name(), Some("exporter"));
    assert_eq!(thread.join().unwrap(), applied.after);
}

#[test]
fn a_wrong_request_starts_no_thread() {
    let request = gannet_qos::Request::new(QosClass::Default).relative_priority(3);
    assert!(spawn(std::thread::Builder::new(), request.clone(), || ()).is_err());
    assert!(Workers::new(request).is_err());
}
