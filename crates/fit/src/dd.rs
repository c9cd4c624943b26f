//! Double-double arithmetic: a value is the unevaluated sum of two doubles, about 106 bits.
//!
//! Algorithms of Dekker (1971) and Knuth; error bounds in Joldes, Muller and Popescu, "Tight and
//! rigorous error bounds for basic building blocks of double-word arithmetic" (2017).

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// An unevaluated sum `hi + lo` with `|lo| <= ulp(hi) / 2`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Dd {
    pub(crate) hi: f64,
    pub(crate) lo: f64,
}

/// The relative rounding error of a sum or product, rounded up to a power of two; that of a quotient is less than four times as much.
pub(crate) const EPSILON: f64 = 4.930_380_657_631_324e-32; // 2^-104

/// The exact sum of two doubles.
#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> Dd {
    let hi = a + b;
    let bb = hi - a;
    Dd { hi, lo: (a - (hi - bb)) + (b - bb) }
}

/// The exact sum when `|a| >= |b|` or `a == 0`.
#[inline(always)]
fn quick_two_sum(a: f64, b: f64) -> Dd {
    let hi = a + b;
    Dd { hi, lo: b - (hi - a) }
}

/// The exact product of two doubles below 2^996 in size.
#[inline(always)]
pub(crate) fn two_prod(a: f64, b: f64) -> Dd {
    let hi = a * b;
    // Without the instruction `mul_add` is a slow library call.
    if cfg!(target_feature = "fma") || cfg!(target_arch = "aarch64") {
        return Dd { hi, lo: a.mul_add(b, -hi) };
    }
    let (a1, a2) = split(a);
    let (b1, b2) = split(b);
    Dd { hi, lo: ((a1 * b1 - hi) + a1 * b2 + a2 * b1) + a2 * b2 }
}

/// Splits a double into two halves of 26 bits.
#[inline(always)]
fn split(a: f64) -> (f64, f64) {
    let c = 134_217_729.0 * a; // 2^27 + 1
    let hi = c - (c - a);
    (hi, a - hi)
}

impl Dd {
    pub(crate) const ZERO: Dd = Dd { hi: 0.0, lo: 0.0 };
    pub(crate) const ONE: Dd = Dd { hi: 1.0, lo: 0.0 };

    /// The nearest double.
    #[inline(always)]
    pub(crate) fn to_f64(self) -> f64 {
        self.hi + self.lo
    }

    /// The square root; zero for zero.
    #[inline]
    pub(crate) fn sqrt(self) -> Dd {
        if self.hi <= 0.0 {
            return Dd::ZERO;
        }
        let root = self.hi.sqrt();
        let rest = self - two_prod(root, root);
        quick_two_sum(root, rest.hi / (2.0 * root))
    }

    /// The product with a power of two, exact short of overflow and underflow.
    #[inline(always)]
    pub(crate) fn scale(self, power_of_two: f64) -> Dd {
        Dd { hi: self.hi * power_of_two, lo: self.lo * power_of_two }
    }

    /// The square.
    #[inline(always)]
    pub(crate) fn square(self) -> Dd {
        self * self
    }
}

impl From<f64> for Dd {
    #[inline(always)]
    fn from(hi: f64) -> Dd {
        Dd { hi, lo: 0.0 }
    }
}

impl Add for Dd {
    type Output = Dd;
    #[inline(always)]
    fn add(self, other: Dd) -> Dd {
        let s = two_sum(self.hi, other.hi);
        let t = two_sum(self.lo, other.lo);
        let v = quick_two_sum(s.hi, s.lo + t.hi);
        quick_two_sum(v.hi, t.lo + v.lo)
    }
}

impl Add<f64> for Dd {
    type Output = Dd;
    #[inline(always)]
    fn add(self, other: f64) -> Dd {
        let s = two_sum(self.hi, other);
        quick_two_sum(s.hi, s.lo + self.lo)
    }
}

impl Sub for Dd {
    type Output = Dd;
    #[inline(always)]
    fn sub(self, other: Dd) -> Dd {
        self + -other
    }
}

impl Neg for Dd {
    type Output = Dd;
    #[inline(always)]
    fn neg(self) -> Dd {
        Dd { hi: -self.hi, lo: -self.lo }
    }
}

impl Mul for Dd {
    type Output = Dd;
    #[inline(always)]
    fn mul(self, other: Dd) -> Dd {
        let p = two_prod(self.hi, other.hi);
        quick_two_sum(p.hi, p.lo + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Mul<f64> for Dd {
    type Output = Dd;
    #[inline(always)]
    fn mul(self, other: f64) -> Dd {
        let p = two_prod(self.hi, other);
        quick_two_sum(p.hi, p.lo + self.lo * other)
    }
}

impl Div for Dd {
    type Output = Dd;
    #[inline(always)]
    fn div(self, other: Dd) -> Dd {
        let q1 = self.hi / other.hi;
        let rest = self - other * q1;
        quick_two_sum(q1, rest.hi / other.hi)
    }
}

impl Div<f64> for Dd {
    type Output = Dd;
    #[inline(always)]
    fn div(self, other: f64) -> Dd {
        let q = self.hi / other;
        let p = two_prod(q, other);
        quick_two_sum(q, ((self.hi - p.hi) - p.lo + self.lo) / other)
    }
}

impl AddAssign for Dd {
    #[inline(always)]
    fn add_assign(&mut self, other: Dd) {
        *self = *self + other;
    }
}

impl SubAssign for Dd {
    #[inline(always)]
    fn sub_assign(&mut self, other: Dd) {
        *self = *self - other;
    }
}

/// `2^e`; zero or infinity outside the range of a double.
#[inline]
pub(crate) fn pow2(e: i32) -> f64 {
    if (-1022..=1023).contains(&e) { f64::from_bits(((e + 1023) as u64) << 52) } else { 2f64.powi(e) }
}

/// `value * 2^e`, without overflow on the way.
pub(crate) fn ldexp(value: f64, e: i32) -> f64 {
    let half = e.clamp(-2000, 2000) / 2;
    value * pow2(half) * pow2(e.clamp(-2000, 2000) - half)
}

/// The exponent `e` with `2^e <= largest < 2^(e+1)` over the magnitudes; 0 when all are zero.
pub(crate) fn exponent<'a>(values: impl IntoIterator<Item = &'a f64>) -> i32 {
    let largest = values.into_iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if largest == 0.0 {
        return 0;
    }
    let field = ((largest.to_bits() >> 52) & 0x7ff) as i32;
    if field == 0 { -1022 } else { field - 1023 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn third_times_three_is_one() {
        let third = Dd::ONE / Dd::from(3.0);
        let back = third * 3.0;
        assert!((back - Dd::ONE).to_f64().abs() < EPSILON);
        assert_ne!(third.lo, 0.0);
    }

    #[test]
    fn root_squared_returns() {
        for v in [2.0, 3.0, 1e-200, 7e200, 0.1] {
            let d = (Dd::from(v).sqrt().square() - Dd::from(v)).to_f64().abs();
            assert!(d <= 4.0 * EPSILON * v, "{v}: {d}");
        }
        assert_eq!(Dd::ZERO.sqrt(), Dd::ZERO);
    }

    #[test]
    fn product_is_exact() {
        // 2^53 + 1 is not a double: (2^27 - 1)(2^27 + 1) = 2^54 - 1 needs 54 bits.
        let p = two_prod(134_217_727.0, 134_217_729.0);
        assert_eq!((p.hi, p.lo), (18_014_398_509_481_984.0, -1.0));
    }

    #[test]
    fn scaling_by_powers_of_two() {
        assert_eq!(pow2(-3), 0.125);
        assert_eq!(exponent(&[0.0, -6.0, 3.0]), 2);
        assert_eq!(exponent(&[0.0]), 0);
        assert_eq!(exponent(&[f64::MIN_POSITIVE / 4.0]), -1022);
        assert_eq!(ldexp(1.5, 1023), 1.5 * pow2(1023));
        assert_eq!(ldexp(pow2(-1000), 2000), pow2(1000));
    }
}
