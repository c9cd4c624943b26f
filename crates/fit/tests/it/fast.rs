//! The straight line in doubles.

use gannet_fit::{Arithmetic, Design, Error, LinearFit, Model, Options};

use crate::assert_digits;
use crate::random::Random;

/// The fast path finds out afterwards what the exact one checks beforehand, and says the same.
#[test]
fn fast_path_refuses_the_same() {
    let (x, y) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 2.0, 3.5, 4.0, 4.5, 7.0]);
    let with = |v: [f64; 6], i: usize, bad: f64| {
        let mut v = v;
        v[i] = bad;
        v
    };
    let fast = Options::default().arithmetic(Arithmetic::Double);
    let mut cases = vec![(vec![], vec![]), (x[..2].to_vec(), y[..2].to_vec()), (x.to_vec(), y[..5].to_vec()), (vec![0.1; 6], y.to_vec())];
    for i in 0..6 {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            cases.push((with(x, i, bad).to_vec(), y.to_vec()));
            cases.push((x.to_vec(), with(y, i, bad).to_vec()));
        }
    }
    for (x, y) in cases {
        let exact = LinearFit::ols(&x, &y).unwrap_err();
        assert_eq!(LinearFit::fit(Design::Line(&x), &y, &fast).unwrap_err(), exact, "{x:?} {y:?}");
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let w = with([1.0; 6], 4, bad);
        let fit = LinearFit::fit(Design::Line(&x), &y, &fast.weights(&w));
        assert_eq!(fit.unwrap_err(), Error::Weight { index: 4 });
    }
    // Without the scaling of the exact path, squares may overflow or vanish.
    for size in [1e200, 1e-200] {
        assert_eq!(LinearFit::fit(Design::Line(&x.map(|x| x * size)), &y, &fast).unwrap_err(), Error::Range);
    }
}

/// A first value far from all others, and offsets that leave few digits: where one pass would fail.
#[test]
fn fast_path_stands_offsets() {
    let fast = Options::default().arithmetic(Arithmetic::Double);
    for (first, offset) in [(0.0, 0.0), (1e6, 0.0), (0.0, 1e6), (-1e5, 1e6)] {
        let x: Vec<f64> = (0..5000).map(|i| if i == 0 { first } else { offset + f64::from(i % 100) }).collect();
        let mut random = Random::new(8);
        let y: Vec<f64> = x.iter().map(|x| 3.0 - 0.25 * x + 0.5 * random.normal()).collect();
        let w: Vec<f64> = x.iter().map(|_| 0.5 + random.uniform()).collect();
        for options in [fast, fast.weights(&w)] {
            let fit = LinearFit::fit(Design::Line(&x), &y, &options).unwrap();
            let exact = LinearFit::fit(Design::Line(&x), &y, &options.arithmetic(Arithmetic::DoubleDouble)).unwrap();
            for (a, b) in fit.params().iter().zip(exact.params()) {
                assert_digits(&a.name, a.std_error.unwrap(), b.std_error.unwrap(), 12.0);
                assert!((a.estimate - b.estimate).abs() < 1e-9 * b.std_error.unwrap(), "{first} {offset}: {a:?} {b:?}");
            }
            assert_digits("s", fit.residual_std_dev(), exact.residual_std_dev(), 12.0);
            assert_digits("R2", fit.r_squared().unwrap(), exact.r_squared().unwrap(), 12.0);
        }
    }
}
