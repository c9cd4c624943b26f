//! Robust statistics.

use gannet_fit::Error;
use gannet_fit::robust::{AffineTime, Bootstrap, RepeatedMedians, TheilSen, TrimmedMean, changepoint, median};

use crate::assert_digits;
use crate::random::{Random, share};

#[test]
fn theil_sen_stands_wild_points() {
    let x: Vec<f64> = (0..20).map(f64::from).collect();
    let mut y: Vec<f64> = x.iter().map(|x| 3.0 + 2.0 * x).collect();
    for i in [1, 7, 12, 18] {
        y[i] = 1e6;
    }
    let line = TheilSen::fit(&x, &y).unwrap();
    assert_eq!((line.slope(), line.intercept()), (2.0, 3.0));
    for i in [3, 5, 9, 15] {
        y[i] = -1e6;
    }
    let line = RepeatedMedians::fit(&x, &y).unwrap();
    assert_eq!((line.slope(), line.intercept()), (2.0, 3.0));
    assert_eq!(line.predict(10.0), 23.0);
}

/// The example of Sen (1968). Of 5040 orders of 7 values 174 have at most 4 reversals, and 76 at most 3.
#[test]
fn theil_sen_interval_by_hand() {
    let x = [1.0, 2.0, 3.0, 4.0, 10.0, 12.0, 18.0];
    let y = [9.0, 15.0, 19.0, 20.0, 45.0, 55.0, 78.0];
    let line = TheilSen::fit(&x, &y).unwrap();
    assert_eq!(line.slope(), 4.0);
    let (narrow, wide) = (1.0 - 2.0 * 174.0 / 5040.0, 1.0 - 2.0 * 76.0 / 5040.0);
    let interval = line.slope_interval(narrow - 1e-9).unwrap();
    assert_eq!((interval.lower, interval.upper), (15.0 / 4.0, 46.0 / 11.0));
    for level in [narrow + 1e-9, wide - 1e-9] {
        let interval = line.slope_interval(level).unwrap();
        assert_eq!((interval.lower, interval.upper), (26.0 / 7.0, 35.0 / 8.0));
    }
}

#[test]
fn theil_sen_has_no_95_percent_interval_of_four() {
    let x = [1.0, 2.0, 3.0, 4.0, 5.0];
    let y = [1.0, 2.1, 2.9, 4.2, 4.8];
    let four = TheilSen::fit(&x[..4], &y[..4]).unwrap();
    assert_eq!(four.slope_interval(0.95), Err(Error::NoInterval { n: 4, level: 0.95 }));
    assert!(four.slope_interval(0.90).is_ok());
    // Of five: the least and the greatest slope, at 2/120.
    let five = TheilSen::fit(&x, &y).unwrap();
    let interval = five.slope_interval(0.95).unwrap();
    assert_digits("lower", interval.lower, 0.6, 12.0);
    assert_digits("upper", interval.upper, 1.3, 12.0);
    assert_eq!(five.slope_interval(0.98), five.slope_interval(0.95));
    assert!(five.slope_interval(0.99).is_err());
}

/// The level is at least the nominal one, and exact where the distribution offers it.
#[test]
fn theil_sen_covers() {
    // For 6 points 2 P(K <= 1) = 2 · 6/720.
    for (n, level, exact) in [(6usize, 1.0 - 12.0 / 720.0 - 1e-9, 1.0 - 12.0 / 720.0), (5, 0.95, 1.0 - 2.0 / 120.0)] {
        let x: Vec<f64> = (1..=n).map(|i| i as f64).collect();
        let mut random = Random::new(n as u64);
        let covered = share(8_000, |_| {
            let y: Vec<f64> = x.iter().map(|x| 0.5 * x + random.normal()).collect();
            TheilSen::fit(&x, &y).unwrap().slope_interval(level).unwrap().contains(0.5)
        });
        assert!((covered - exact).abs() < 0.005, "{n}: {covered} {exact}");
    }
    // Repeats at three x, and the normal approximation of many points.
    for (n, runs, low) in [(12usize, 4_000, 0.95), (120, 500, 0.94)] {
        let x: Vec<f64> = (0..n).map(|i| if n > 100 { i as f64 } else { (i % 3) as f64 }).collect();
        let mut random = Random::new(9);
        let covered = share(runs, |_| {
            let y: Vec<f64> = x.iter().map(|x| 0.5 * x + random.normal()).collect();
            TheilSen::fit(&x, &y).unwrap().slope_interval(0.95).unwrap().contains(0.5)
        });
        assert!(covered > low - 0.01 && covered < 0.985, "{n}: {covered}");
    }
}

#[test]
fn lines_refuse_bad_input() {
    let x = [1.0, 2.0, 3.0];
    assert_eq!(TheilSen::fit(&[], &[]), Err(Error::Empty));
    assert_eq!(TheilSen::fit(&x, &x[..2]), Err(Error::LengthMismatch { what: "y", got: 2, expected: 3 }));
    assert_eq!(TheilSen::fit(&[2.0; 3], &x), Err(Error::ConstantX));
    assert_eq!(RepeatedMedians::fit(&[2.0; 3], &x), Err(Error::ConstantX));
    assert_eq!(TheilSen::fit(&x, &[1.0, f64::INFINITY, 2.0]), Err(Error::NonFinite { what: "y", index: 1 }));
    assert!(matches!(TheilSen::fit(&[1.0], &[1.0]), Err(Error::TooFew { .. })));
    assert_eq!(TheilSen::fit(&x, &[-1e308, 1e308, 0.0]), Err(Error::Range));
    assert!(matches!(TheilSen::fit(&vec![0.0; 5001], &vec![0.0; 5001]), Err(Error::ConstantX)));
    let many: Vec<f64> = (0..5001).map(f64::from).collect();
    assert!(matches!(TheilSen::fit(&many, &many), Err(Error::Setting { .. })));
}

/// By hand: of 10 values two are cut at each end, 6 are left.
#[test]
fn trimmed_mean() {
    let values = [1.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0, 10.0, 30.0, 100.0];
    let t = TrimmedMean::new(&values, 0.2).unwrap();
    assert_digits("mean", t.mean(), 41.0 / 6.0, 15.0);
    assert_eq!((t.cut(), t.n()), (2, 10));
    // 4 4 4 5 6 7 9 10 10 10: mean 6.9, sum of squares about it 62.9.
    assert_digits("se", t.std_error(), (62.9f64 / 30.0).sqrt(), 15.0);
    let interval = t.interval(0.95).unwrap();
    assert_digits("t", (interval.upper - t.mean()) / t.std_error(), 2.570_581_835_636_314, 14.0);
    // Untrimmed it is the mean with its usual error.
    let t = TrimmedMean::new(&[1.0, 2.0, 3.0, 4.0], 0.0).unwrap();
    assert_digits("se", t.std_error(), (5.0f64 / 12.0).sqrt(), 15.0);
    assert_eq!(t.mean(), 2.5);
    assert_eq!(TrimmedMean::new(&[0.0; 30], 0.1).unwrap().cut(), 3);
    assert!(matches!(TrimmedMean::new(&values, 0.5), Err(Error::Setting { .. })));
    assert!(matches!(TrimmedMean::new(&[1.0, 2.0, 3.0], 0.4), Err(Error::TooFew { need: 4, .. })));
    assert_eq!(TrimmedMean::new(&[1e308, 1e308], 0.0).unwrap().mean(), 1e308);
}

#[test]
fn trimmed_mean_covers() {
    for share_cut in [0.0, 0.1, 0.2] {
        let mut random = Random::new(3);
        let covered = share(20_000, |_| {
            let values: Vec<f64> = (0..20).map(|_| random.normal()).collect();
            TrimmedMean::new(&values, share_cut).unwrap().interval(0.95).unwrap().contains(0.0)
        });
        let range = if share_cut == 0.0 { 0.945..0.955 } else { 0.94..0.96 };
        println!("trimmed mean, {share_cut} at each end: {covered}");
        assert!(range.contains(&covered), "{share_cut}: {covered}");
    }
}

const SIZES: [f64; 6] = [2e6, 8e6, 4e7, 2e8, 6e8, 2e9];

/// Times of a disk of 3 ms and 2 GB/s, five of each size, 5 % noise, one in twenty four times as slow.
fn transfers(random: &mut Random, repeats: usize) -> (Vec<f64>, Vec<f64>) {
    let bytes: Vec<f64> = SIZES.iter().flat_map(|&s| vec![s; repeats]).collect();
    let seconds = bytes
        .iter()
        .map(|b| {
            let wild = if random.uniform() < 0.05 { 4.0 } else { 1.0 };
            (0.003 + b / 2e9) * (1.0 + 0.05 * random.normal()) * wild
        })
        .collect();
    (bytes, seconds)
}

#[test]
fn affine_recovers_exact_and_sets_wild_aside() {
    let bytes = [1e6, 1e6, 1e7, 1e7, 1e8, 1e8, 1e9, 1e9];
    let mut seconds: Vec<f64> = bytes.iter().map(|b| 0.002 + b / 1e9).collect();
    seconds[7] *= 8.0;
    seconds[0] *= 3.0;
    let fit = AffineTime::fit(&bytes, &seconds).unwrap();
    assert_digits("latency", fit.latency(), 0.002, 9.0);
    assert_digits("bandwidth", fit.bytes_per_second(), 1e9, 9.0);
    assert_digits("half rate", fit.half_rate_bytes(), 2e6, 9.0);
    assert!(!fit.latency_at_bound());
    assert_eq!((fit.weights()[7], fit.weights()[0]), (0.0, 0.0));
    assert!(fit.weights()[2] > 0.9);
    assert!((fit.relative_residuals()[7] - 7.0).abs() < 1e-6);
}

#[test]
fn affine_latency_is_never_negative() {
    let bytes = [1e6, 2e6, 4e6, 8e6, 1e7, 1e8, 1e9];
    // Small transfers are faster than the line: a cache.
    let seconds: Vec<f64> = bytes.iter().map(|b| b / 1e9 * if *b < 1.5e6 { 0.5 } else { 1.0 } - 1e-4).collect();
    let fit = AffineTime::fit(&bytes, &seconds).unwrap();
    assert!(fit.latency_at_bound());
    assert_eq!(fit.latency(), 0.0);
    assert!((fit.bytes_per_second() / 1e9 - 1.0).abs() < 0.1);
}

#[test]
fn affine_refuses_nonsense() {
    let bytes = [1e6, 1e7, 1e8, 1e9];
    let e = AffineTime::fit(&bytes, &[4.0, 3.0, 2.0, 1.0]).unwrap_err();
    assert_eq!(e, Error::NotIdentified { parameter: "bandwidth".into() });
    assert_eq!(AffineTime::fit(&bytes, &[1.0, 0.0, 2.0, 1.0]), Err(Error::NonPositive { what: "seconds", index: 1 }));
    assert_eq!(AffineTime::fit(&[1e6; 4], &[1.0; 4]), Err(Error::ConstantX));
    assert!(matches!(AffineTime::fit(&bytes[..2], &[1.0, 2.0]), Err(Error::TooFew { .. })));
}

#[test]
fn affine_intervals_cover() {
    let mut random = Random::new(11);
    let (mut latency, mut bandwidth) = (0.0, 0.0);
    let runs = 400;
    for run in 0..runs {
        let (bytes, seconds) = transfers(&mut random, 5);
        let fit = AffineTime::fit(&bytes, &seconds).unwrap();
        let bootstrap = Bootstrap::default().replicates(199).seed(run);
        let intervals = fit.intervals(0.95, &bootstrap).unwrap();
        latency += f64::from(u8::from(intervals.latency.contains(0.003)));
        bandwidth += f64::from(u8::from(intervals.bytes_per_second.contains(2e9)));
    }
    for covered in [latency / runs as f64, bandwidth / runs as f64] {
        println!("latency, then bandwidth: {covered}");
        assert!((0.90..=0.97).contains(&covered), "latency {latency}, bandwidth {bandwidth} of {runs}");
    }
}

#[test]
fn bootstrap_is_reproducible_and_stratified() {
    let values: Vec<f64> = (0..40).map(|i| f64::from(i % 2) * 100.0 + f64::from(i)).collect();
    let strata: Vec<u64> = (0..40).map(|i| i % 2).collect();
    let mean = |chosen: &[usize]| {
        let odd = chosen.iter().filter(|&&i| i % 2 == 1).count();
        assert!(odd == 19 || chosen.len() != 38, "a draw is not of the strata");
        Some(vec![chosen.iter().map(|&i| values[i]).sum::<f64>() / chosen.len() as f64])
    };
    let a = Bootstrap::default().seed(5).run(&strata, mean).unwrap();
    assert_eq!(a, Bootstrap::default().seed(5).run(&strata, mean).unwrap());
    assert_ne!(a, Bootstrap::default().seed(6).run(&strata, mean).unwrap());
    // Two strata of variance 140 (20 values 2 apart): the standard error of their joint mean.
    assert!((a.std_error(0) / (140.0f64 / 40.0).sqrt() - 1.0).abs() < 0.06, "{}", a.std_error(0));
    let (p, b) = (a.percentile(0, 0.9).unwrap(), a.bca(0, 0.9).unwrap());
    assert!(p.contains(a.estimates()[0]) && b.contains(a.estimates()[0]));
    assert!((p.lower - b.lower).abs() < 0.3 && (p.upper - b.upper).abs() < 0.3);
    assert_eq!(a.percentile(0, 1.0), Err(Error::Level(1.0)));
}

/// The interval of a variance must reach further up than down: the correction sees to it.
#[test]
fn correction_of_a_skewed_statistic() {
    let (mut covered, mut shift) = (0, 0.0);
    let runs = 200;
    let mut random = Random::new(21);
    for run in 0..runs {
        let values: Vec<f64> = (0..25).map(|_| random.normal()).collect();
        let strata = vec![0; values.len()];
        let r = Bootstrap::default()
            .replicates(599)
            .seed(run)
            .run(&strata, |chosen| {
                let n = chosen.len() as f64;
                let mean = chosen.iter().map(|&i| values[i]).sum::<f64>() / n;
                Some(vec![chosen.iter().map(|&i| (values[i] - mean).powi(2)).sum::<f64>() / (n - 1.0)])
            })
            .unwrap();
        let (plain, corrected) = (r.percentile(0, 0.9).unwrap(), r.bca(0, 0.9).unwrap());
        covered += i32::from(corrected.contains(1.0));
        assert!(corrected.upper > plain.upper && corrected.lower > plain.lower);
        shift += corrected.upper / plain.upper - 1.0;
    }
    assert!((0.80..0.95).contains(&(f64::from(covered) / runs as f64)), "{covered} of {runs}");
    assert!(shift / runs as f64 > 0.05, "{shift}");
}

#[test]
fn bootstrap_refuses() {
    let none = |_: &[usize]| -> Option<Vec<f64>> { None };
    assert_eq!(Bootstrap::default().run(&[], none), Err(Error::Empty));
    assert!(matches!(Bootstrap::default().run(&[1, 2, 3], none), Err(Error::TooFew { n: 1, .. })));
    assert!(matches!(Bootstrap::default().replicates(5).run(&[1, 1], none), Err(Error::Setting { .. })));
    let mut calls = 0;
    let later = |_: &[usize]| {
        calls += 1;
        (calls == 1).then(|| vec![1.0])
    };
    let failed = Bootstrap::default().replicates(100).run(&[1, 1], later);
    assert_eq!(failed, Err(Error::Resamples { failed: 100, of: 100 }));
}

#[test]
fn changepoint_finds_the_place_and_both_regimes() {
    let mut random = Random::new(2);
    let values: Vec<f64> = (0..60).map(|i| if i < 23 { 6.0 } else { 2.0 } + 0.1 * random.normal()).collect();
    let change = changepoint(&values).unwrap();
    assert_eq!(change.index, 23);
    assert!(change.p_value < 1e-6);
    assert_eq!(change.before, median(&values[..23]).unwrap());
    assert_eq!(change.after, median(&values[23..]).unwrap());
    assert!((change.ratio() - 1.0 / 3.0).abs() < 0.05);
    // Pettitt's statistic of 1..=8 is that of a complete order, 4 · 4.
    assert_eq!(changepoint(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).unwrap().statistic, 16.0);
    assert_eq!(changepoint(&[3.0; 9]).unwrap().p_value, 1.0);
    assert!(matches!(changepoint(&[1.0; 4]), Err(Error::TooFew { need: 5, .. })));
}

#[test]
fn changepoint_seldom_cries_wolf() {
    for n in [8, 20, 60, 160] {
        let mut random = Random::new(n as u64);
        let alarms = share(4_000, |_| {
            // Heavy tails now and then.
            let values: Vec<f64> = (0..n).map(|_| random.normal() / random.uniform().sqrt()).collect();
            changepoint(&values).unwrap().p_value < 0.01
        });
        println!("false alarms of {n} values: {alarms}");
        assert!(alarms <= 0.01, "{n}: {alarms}");
    }
}
