//! Student's t distribution, accurate in its tails and for many degrees of freedom.
//!
//! The tail is the continued fraction of the incomplete beta function in the form of Didonato and
//! Morris (TOMS 708, 1992), which subtracts no near-equal numbers when the degrees of freedom
//! are many; the centre is the power series, whose terms are all positive. The ratio of gamma
//! functions has its own asymptotic series: three logarithms of gamma would cancel.

use std::f64::consts::{FRAC_PI_2, PI};

use crate::Error;

/// Student's t distribution with a number of degrees of freedom.
///
/// ```
/// let t = gannet_fit::StudentT::new(3.0)?;
/// assert!((t.upper_quantile(0.025) - 3.182446305283709).abs() < 1e-14);
/// assert!((t.sf(3.182446305283709) - 0.025).abs() < 1e-16);
/// # Ok::<(), gannet_fit::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudentT {
    df: f64,
    /// `Γ((df + 1) / 2) / Γ(df / 2)`.
    ratio: f64,
}

impl StudentT {
    /// The distribution with `df` degrees of freedom, which need not be a whole number.
    ///
    /// Checked to at least 12 digits for 1 to 1e9 degrees of freedom.
    ///
    /// # Errors
    /// [`Error::Setting`] unless `df` is finite and positive.
    pub fn new(df: f64) -> Result<StudentT, Error> {
        if !(df > 0.0 && df.is_finite()) {
            return Err(Error::Setting { what: "degrees of freedom", range: "finite and positive" });
        }
        Ok(StudentT { df, ratio: gamma_ratio(df / 2.0) })
    }

    /// The degrees of freedom.
    pub fn df(&self) -> f64 {
        self.df
    }

    /// The probability of a value of at most `t`.
    pub fn cdf(&self, t: f64) -> f64 {
        self.sf(-t)
    }

    /// The probability of a value above `t`, with all its digits however small it is.
    pub fn sf(&self, t: f64) -> f64 {
        if t.is_nan() {
            f64::NAN
        } else if t >= 0.0 {
            self.tail(t)
        } else {
            1.0 - self.tail(-t)
        }
    }

    /// The value that is exceeded with probability `1 - p`.
    ///
    /// Infinite for `p` = 0 and 1, NaN outside. Near `p` = 1 the digits of `1 - p` are already lost:
    /// use [`upper_quantile`](StudentT::upper_quantile) there.
    pub fn quantile(&self, p: f64) -> f64 {
        if p <= 0.5 { -self.upper_quantile(p) } else { self.upper_quantile(1.0 - p) }
    }

    /// The value that is exceeded with probability `q`.
    ///
    /// Infinite for `q` = 0 and 1, NaN outside.
    pub fn upper_quantile(&self, q: f64) -> f64 {
        if !(0.0..=1.0).contains(&q) {
            f64::NAN
        } else if q > 0.5 {
            -self.upper_quantile(1.0 - q)
        } else if q == 0.5 {
            0.0
        } else if q == 0.0 {
            f64::INFINITY
        } else if self.df == 1.0 {
            if q < 0.25 { 1.0 / (PI * q).tan() } else { (PI * (0.5 - q)).tan() }
        } else if self.df == 2.0 {
            (1.0 - 2.0 * q) / (2.0 * q * (1.0 - q)).sqrt()
        } else {
            self.solve(q)
        }
    }

    /// `1 / (1 + t²/df)` and its complement.
    fn split(&self, t: f64) -> (f64, f64) {
        if t > 1e100 {
            let u = self.df / t / t;
            (u / (1.0 + u), 1.0 / (1.0 + u))
        } else {
            let s = t * t;
            (self.df / (self.df + s), s / (self.df + s))
        }
    }

    /// The logarithm of `Γ((df+1)/2) / (Γ(df/2) √π) · (1 + t²/df)^(-df/2) · (t² / (df + t²))^½`.
    fn ln_prefactor(&self, t: f64, y: f64) -> f64 {
        let ln_power = if t > 1e100 { 2.0 * t.ln() - self.df.ln() + (self.df / t / t).ln_1p() } else { (t * t / self.df).ln_1p() };
        (self.ratio / PI.sqrt()).ln() - self.df / 2.0 * ln_power + 0.5 * y.ln()
    }

    fn in_centre(&self, y: f64) -> bool {
        y <= 1.5 / (self.df / 2.0 + 2.5)
    }

    /// The probability of a value above `t >= 0`.
    fn tail(&self, t: f64) -> f64 {
        if self.df == 1.0 {
            return if t > 1.0 { (1.0 / t).atan() / PI } else { (FRAC_PI_2 - t.atan()) / PI };
        }
        let (_, y) = self.split(t);
        if self.in_centre(y) { 0.5 - self.half_centre(t) } else { self.ln_tail(t).exp() }
    }

    /// Half the probability of a value between `-t` and `t`.
    fn half_centre(&self, t: f64) -> f64 {
        if t == 0.0 {
            return 0.0;
        }
        let (_, y) = self.split(t);
        if !self.in_centre(y) {
            return 0.5 - self.ln_tail(t).exp();
        }
        let a = self.df / 2.0;
        let (mut term, mut sum, mut n) = (1.0, 1.0, 0.0);
        while term > sum * 1e-17 {
            term *= (a + 0.5 + n) / (1.5 + n) * y;
            sum += term;
            n += 1.0;
        }
        self.ln_prefactor(t, y).exp() * sum
    }

    /// The logarithm of the probability of a value above `t`, outside of the centre.
    fn ln_tail(&self, t: f64) -> f64 {
        if t == f64::INFINITY {
            return f64::NEG_INFINITY;
        }
        let (x, y) = self.split(t);
        let (a, b) = (self.df / 2.0, 0.5);
        // λ = a - (a + b) x, without the subtraction of large numbers.
        let lambda = a * y - b * x;
        let beta = |n: f64| {
            let middle = if n == 0.0 { 0.0 } else { n * (b - n) * x / (a + 2.0 * n - 1.0) };
            n + middle + (a + n) / (a + 2.0 * n + 1.0) * (lambda + 1.0 + n * (1.0 + y))
        };
        let mut f = beta(0.0);
        let (mut c, mut d) = (f, 0.0);
        for k in 1..100_000 {
            let n = f64::from(k);
            let root = x / (a + 2.0 * n - 1.0);
            let alpha = (a + n - 1.0) * root * (a + b + n - 1.0) * root * n * (b - n);
            let bn = beta(n);
            d = 1.0 / (bn + alpha * d);
            c = bn + alpha / c;
            let step = c * d;
            f *= step;
            if (step - 1.0).abs() < 1e-16 {
                break;
            }
        }
        // I_x(a, 1/2) / 2, of which the prefactor holds all but the fraction.
        self.ln_prefactor(t, y) - (2.0 * f).ln()
    }

    /// Newton's method on the logarithm of the probability against that of `t`, which is concave,
    /// so that it converges from anywhere.
    fn solve(&self, q: f64) -> f64 {
        let mut t = self.start(q);
        let centre = q > 0.2;
        let target = if centre { 0.5 - q } else { q.ln() };
        let mut last = f64::INFINITY;
        for _ in 0..100 {
            let density = self.density(t);
            let step = if centre {
                let p = self.half_centre(t);
                (target / p).ln() * p / (t * density)
            } else {
                let (_, y) = self.split(t);
                let ln_p = if self.in_centre(y) { (0.5 - self.half_centre(t)).ln() } else { self.ln_tail(t) };
                // The density over the tail, both of which may underflow.
                (ln_p - target) / (t * (self.ln_density(t) - ln_p).exp())
            };
            if !step.is_finite() {
                break;
            }
            t *= step.clamp(-5.0, 5.0).exp();
            let size = step.abs();
            if size < 2e-16 || (size < 1e-9 && size >= last / 2.0) {
                break;
            }
            last = size;
        }
        t
    }

    /// A first value: the normal quantile (Abramowitz and Stegun 26.2.23) stretched after Wallace
    /// (1959), or the power law of the far tail.
    fn start(&self, q: f64) -> f64 {
        let w = (-2.0 * q.ln()).sqrt();
        let z = w - (2.515_517 + w * (0.802_853 + w * 0.010_328)) / (1.0 + w * (1.432_788 + w * (0.189_269 + w * 0.001_308)));
        let stretch = z.max(1e-300) * (8.0 * self.df + 3.0) / (8.0 * self.df + 1.0);
        let exponent = stretch * stretch / self.df;
        if exponent < 30.0 {
            (self.df * exponent.exp_m1()).sqrt().max((0.5 - q) * 0.1)
        } else {
            let ln_c = (self.ratio / PI.sqrt() / self.df).ln() + self.df / 2.0 * self.df.ln();
            ((ln_c - q.ln()) / self.df).exp()
        }
    }

    fn ln_density(&self, t: f64) -> f64 {
        let ln_power = if t > 1e100 { 2.0 * t.ln() - self.df.ln() + (self.df / t / t).ln_1p() } else { (t * t / self.df).ln_1p() };
        (self.ratio / (PI * self.df).sqrt()).ln() - (self.df + 1.0) / 2.0 * ln_power
    }

    fn density(&self, t: f64) -> f64 {
        self.ln_density(t).exp()
    }
}

/// The half-width factor of a two-sided interval.
pub(crate) fn two_sided(level: f64, df: usize) -> Result<f64, Error> {
    if !(level > 0.0 && level < 1.0) {
        return Err(Error::Level(level));
    }
    Ok(StudentT::new(df as f64)?.upper_quantile((1.0 - level) / 2.0))
}

/// Degrees of freedom with which the distribution is the normal one, to all digits.
pub(crate) const NORMAL: f64 = 1e30;

/// The value a standard normal variable exceeds with probability `q`.
pub(crate) fn normal_upper_quantile(q: f64) -> f64 {
    StudentT { df: NORMAL, ratio: gamma_ratio(NORMAL / 2.0) }.upper_quantile(q)
}

/// `Γ(a + ½) / Γ(a)`, by the asymptotic series in `(a - ¼)^-2`.
fn gamma_ratio(a: f64) -> f64 {
    let (mut a, mut factor) = (a, 1.0);
    while a < 20.0 {
        factor *= a / (a + 0.5);
        a += 1.0;
    }
    let w = a - 0.25;
    let v = 1.0 / (w * w);
    let series = 1.0
        + v * (1.0 / 64.0
            + v * (-19.0 / 8192.0 + v * (631.0 / 524_288.0 + v * (-174_317.0 / 134_217_728.0 + v * (20_491_783.0 / 8_589_934_592.0)))));
    factor * w.sqrt() * series
}
