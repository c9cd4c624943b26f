//! The null distribution of Kendall's statistic, exactly.
//!
//! Of the pairs with different x, the number in reversed order is a sum of independent
//! Mann-Whitney statistics: that of each group of equal x against all groups before it. Without
//! equal x these are uniform, which is the usual recursion.

/// The probability of each number of reversed pairs when y does not depend on x, given the
/// sizes of the groups of equal x.
pub(super) fn reversals(groups: &[usize]) -> Vec<f64> {
    let mut total = vec![1.0];
    let mut before = 0;
    for &size in groups {
        if before > 0 {
            total = convolve(&total, &mann_whitney(before, size));
        }
        before += size;
    }
    total
}

/// The distribution of the number of pairs in which one of `m` precedes one of `n`.
fn mann_whitney(m: usize, n: usize) -> Vec<f64> {
    // row[j] is the distribution for (i, j), built up over i.
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]; n + 1];
    for i in 1..=m {
        for j in 1..=n {
            // The last of all is one of the m (after all j of the others) or one of the n.
            let mut next = vec![0.0; i * j + 1];
            let (share, rest) = (i as f64 / (i + j) as f64, j as f64 / (i + j) as f64);
            for (u, p) in row[j].iter().enumerate() {
                next[u + j] += share * p;
            }
            for (u, p) in row[j - 1].iter().enumerate() {
                next[u] += rest * p;
            }
            row[j] = next;
        }
    }
    row.swap_remove(n)
}

fn convolve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; a.len() + b.len() - 1];
    for (i, p) in a.iter().enumerate() {
        for (j, q) in b.iter().enumerate() {
            out[i + j] += p * q;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All orders of y, counted.
    fn counted(groups: &[usize]) -> Vec<f64> {
        let x: Vec<usize> = groups.iter().enumerate().flat_map(|(g, &n)| vec![g; n]).collect();
        let mut y: Vec<usize> = (0..x.len()).collect();
        let mut counts = vec![0.0; x.len() * x.len()];
        let mut orders = 0.0;
        permute(&mut y, 0, &mut |y| {
            let mut reversed = 0;
            for i in 0..x.len() {
                for j in 0..i {
                    reversed += usize::from(x[j] < x[i] && y[j] > y[i]);
                }
            }
            counts[reversed] += 1.0;
            orders += 1.0;
        });
        counts.into_iter().map(|c| c / orders).collect()
    }

    fn permute(y: &mut Vec<usize>, from: usize, visit: &mut dyn FnMut(&[usize])) {
        if from == y.len() {
            return visit(y);
        }
        for k in from..y.len() {
            y.swap(from, k);
            permute(y, from + 1, visit);
            y.swap(from, k);
        }
    }

    #[test]
    fn agrees_with_enumeration() {
        for groups in [&[1, 1, 1, 1, 1][..], &[1; 7], &[2, 3], &[1, 2, 1, 3], &[3, 3, 2], &[7]] {
            let (exact, counted) = (reversals(groups), counted(groups));
            for (u, p) in exact.iter().enumerate() {
                assert!((p - counted[u]).abs() < 1e-14, "{groups:?} {u}");
            }
            assert!((exact.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        }
    }
}
