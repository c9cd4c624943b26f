//! In-core work: its time is proportional to its loops. This measures, so only `.ci/check-qos.sh` runs it.

use gannet_qos::{Probe, Workload};

/// Coefficient of determination of a straight line.
fn r_squared(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (mean_x, mean_y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let sum = |f: &dyn Fn(f64, f64) -> f64| points.iter().map(|&(x, y)| f(x - mean_x, y - mean_y)).sum::<f64>();
    let (xy, xx, yy) = (sum(&|x, y| x * y), sum(&|x, _| x * x), sum(&|_, y| y * y));
    xy * xy / (xx * yy)
}

#[test]
#[ignore = "measures for two minutes on an otherwise quiet machine; .ci/check-qos.sh runs it"]
fn time_is_proportional_to_loops() {
    for workload in Workload::ALL {
        let probe = Probe::new(workload);
        let _ = probe.time(1 << 24);
        let mut points = Vec::new();
        for exponent in (20..=28).step_by(2) {
            // The longest runs of memory take a minute: once is enough there.
            let repeats = if workload == Workload::Memory && exponent >= 26 { 1 } else { 5 };
            let timing = probe.measure(1 << exponent, repeats);
            println!("{workload} 2^{exponent}: {:?}, spread {:.1} %", timing.median(), timing.spread() * 100.0);
            points.push((timing.loops as f64, timing.median().as_secs_f64()));
        }
        let fit = r_squared(&points);
        println!("{workload}: R² {fit:.7}");
        assert!(fit >= 0.9999, "{workload}: {fit}");
    }
}
