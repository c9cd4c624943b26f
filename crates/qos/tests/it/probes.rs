//! In-core work: its time is proportional to its loops. This measures, so only `.ci/check-qos.sh` runs it.

use gannet_qos::{Probe, Timing, Workload};

/// Coefficient of determination of a straight line.
fn r_squared(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (mean_x, mean_y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let sum = |f: &dyn Fn(f64, f64) -> f64| points.iter().map(|&(x, y)| f(x - mean_x, y - mean_y)).sum::<f64>();
    let (xy, xx, yy) = (sum(&|x, y| x * y), sum(&|x, _| x * x), sum(&|_, y| y * y));
    xy * xy / (xx * yy)
}

#[test]
#[ignore = "measures for half a minute on an otherwise quiet machine; .ci/check-qos.sh runs it"]
fn time_is_proportional_to_loops() {
    for workload in Workload::ALL {
        let probe = Probe::new(workload);
        let _ = probe.time(1 << 24);
        let mut timings = [20, 22, 24, 26, 28].map(|exponent| Timing::new(1 << exponent, Vec::new()));
        // Up and down in turns, so that a machine that gets slower does so for all counts.
        for place in [0, 1, 2, 3, 4, 3, 2, 1, 0].repeat(6) {
            let timing = &mut timings[place];
            timing.times.push(probe.time(timing.loops));
        }
        for timing in &timings {
            println!("{workload} {}: {:?}, spread {:.1} %", timing.loops, timing.median(), timing.spread() * 100.0);
        }
        let points: Vec<(f64, f64)> = timings.iter().map(|timing| (timing.loops as f64, timing.median().as_secs_f64())).collect();
        let fit = r_squared(&points);
        println!("{workload}: R² {fit:.7}");
        assert!(fit >= 0.9999, "{workload}: {fit}");
    }
}
