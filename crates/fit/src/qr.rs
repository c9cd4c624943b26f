//! Least squares by modified Gram-Schmidt on `[X | y]` in double-double arithmetic.
//!
//! Modified Gram-Schmidt applied to the augmented matrix is backward stable for least squares
//! (Björck, "Numerical Methods for Least Squares Problems", 2.4), and the orthogonal columns give
//! the leverages without further work. The normal equations are never formed.

use crate::dd::{self, Dd};

/// An upper triangular matrix, stored by rows.
#[derive(Debug, Clone)]
pub(crate) struct Upper {
    p: usize,
    rows: Vec<Dd>,
}

impl Upper {
    pub(crate) fn zero(p: usize) -> Upper {
        Upper { p, rows: vec![Dd::ZERO; p * p] }
    }

    pub(crate) fn size(&self) -> usize {
        self.p
    }

    #[inline]
    pub(crate) fn at(&self, row: usize, column: usize) -> Dd {
        self.rows[row * self.p + column]
    }

    #[inline]
    pub(crate) fn set(&mut self, row: usize, column: usize, value: Dd) {
        self.rows[row * self.p + column] = value;
    }

    /// Solves `R b = z`.
    pub(crate) fn solve(&self, z: &[Dd]) -> Vec<Dd> {
        let mut b = z.to_vec();
        for k in (0..self.p).rev() {
            for j in k + 1..self.p {
                let known = self.at(k, j) * b[j];
                b[k] -= known;
            }
            b[k] = b[k] / self.at(k, k);
        }
        b
    }

    /// `g' (R'R)^-1 g` as the squared length of the solution of `R' v = g`.
    pub(crate) fn quadratic(&self, g: &[Dd]) -> Dd {
        let mut v = g.to_vec();
        let mut sum = Dd::ZERO;
        for k in 0..self.p {
            for j in 0..k {
                let known = self.at(j, k) * v[j];
                v[k] -= known;
            }
            v[k] = v[k] / self.at(k, k);
            sum += v[k].square();
        }
        sum
    }

    /// The inverse, upper triangular too.
    pub(crate) fn inverse(&self) -> Upper {
        let mut inverse = Upper::zero(self.p);
        for j in 0..self.p {
            inverse.set(j, j, Dd::ONE / self.at(j, j));
            for i in (0..j).rev() {
                let mut v = Dd::ZERO;
                for k in i + 1..=j {
                    v -= self.at(i, k) * inverse.at(k, j);
                }
                inverse.set(i, j, v * inverse.at(i, i));
            }
        }
        inverse
    }

    /// The condition number of the matrix with its columns scaled to length one, in the Frobenius
    /// norm over the number of columns: 1 when they are orthogonal.
    pub(crate) fn condition(&self, inverse: &Upper) -> f64 {
        let mut sum = 0.0;
        for k in 0..self.p {
            let squared = |m: &Upper, i: usize, j: usize| m.at(i, j).hi * m.at(i, j).hi;
            let column: f64 = (0..=k).map(|i| squared(self, i, k)).sum();
            let row: f64 = (k..self.p).map(|j| squared(inverse, k, j)).sum();
            sum += column * row;
        }
        (sum / self.p as f64).sqrt()
    }
}

/// The solution of a least-squares problem.
#[derive(Debug)]
pub(crate) struct Solution {
    pub(crate) coefficients: Vec<Dd>,
    pub(crate) r: Upper,
    /// Residuals of the (weighted) rows.
    pub(crate) residuals: Vec<Dd>,
    /// Sum of their squares.
    pub(crate) rss: Dd,
    pub(crate) leverage: Vec<f64>,
}

/// Which column is a combination of those before it.
#[derive(Debug, PartialEq)]
pub(crate) struct Dependent(pub(crate) usize);

/// Minimises `|y - X b|`, the columns of `X` having entries of moderate size.
///
/// A column is dependent when less than `tolerance` of its length is left after those before it
/// are taken out.
pub(crate) fn solve(mut columns: Vec<Vec<Dd>>, mut y: Vec<Dd>, tolerance: f64) -> Result<Solution, Dependent> {
    let p = columns.len();
    let n = y.len();
    let mut r = Upper::zero(p);
    let mut z = Vec::with_capacity(p);
    let lengths: Vec<f64> = columns.iter().map(|c| dot(c, c).sqrt().to_f64()).collect();
    for k in 0..p {
        let length = dot(&columns[k], &columns[k]).sqrt();
        if length.hi <= tolerance.max(n as f64 * dd::EPSILON) * lengths[k] {
            return Err(Dependent(k));
        }
        r.set(k, k, length);
        let inverse = Dd::ONE / length;
        for v in &mut columns[k] {
            *v = *v * inverse;
        }
        let (done, rest) = columns.split_at_mut(k + 1);
        let q = &done[k];
        for (offset, column) in rest.iter_mut().enumerate() {
            let projection = dot(q, column);
            subtract(column, projection, q);
            r.set(k, k + 1 + offset, projection);
        }
        let projection = dot(q, &y);
        subtract(&mut y, projection, q);
        z.push(projection);
    }
    let coefficients = r.solve(&z);
    let leverage = (0..n).map(|i| columns.iter().map(|q| q[i].square()).fold(Dd::ZERO, |a, b| a + b).to_f64().min(1.0)).collect();
    let rss = dot(&y, &y);
    Ok(Solution { coefficients, r, residuals: y, rss, leverage })
}

fn dot(a: &[Dd], b: &[Dd]) -> Dd {
    a.iter().zip(b).fold(Dd::ZERO, |sum, (&a, &b)| sum + a * b)
}

fn subtract(target: &mut [Dd], factor: Dd, q: &[Dd]) {
    for (t, &q) in target.iter_mut().zip(q) {
        *t -= factor * q;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[f64]) -> Vec<Dd> {
        values.iter().map(|&v| Dd::from(v)).collect()
    }

    #[test]
    fn exact_system_leaves_nothing() {
        let x = vec![column(&[1.0; 4]), column(&[1.0, 2.0, 3.0, 4.0])];
        let s = solve(x, column(&[5.0, 7.0, 9.0, 11.0]), 0.0).unwrap();
        assert!((s.coefficients[0].to_f64() - 3.0).abs() < 1e-15);
        assert!((s.coefficients[1].to_f64() - 2.0).abs() < 1e-15);
        assert!(s.rss.to_f64() < 1e-56);
        assert!((s.leverage.iter().sum::<f64>() - 2.0).abs() < 1e-15);
    }

    #[test]
    fn dependent_column_is_named() {
        let x = vec![column(&[1.0, 2.0, 3.0]), column(&[1.0, 0.0, 2.0]), column(&[2.0, 2.0, 5.0])];
        assert_eq!(solve(x, column(&[1.0, 2.0, 3.0]), 0.0).unwrap_err(), Dependent(2));
    }

    #[test]
    fn inverse_and_quadratic_agree() {
        let mut r = Upper::zero(2);
        r.set(0, 0, Dd::from(2.0));
        r.set(0, 1, Dd::from(1.0));
        r.set(1, 1, Dd::from(4.0));
        let inverse = r.inverse();
        assert_eq!(inverse.at(0, 1).to_f64(), -0.125);
        // (R'R)^-1 = R^-1 R^-T, element (0,0).
        let first = inverse.at(0, 0).square() + inverse.at(0, 1).square();
        let quadratic = r.quadratic(&[Dd::ONE, Dd::ZERO]);
        assert!((first - quadratic).to_f64().abs() < 1e-30);
    }
}
