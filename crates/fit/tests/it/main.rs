//! Integration tests.

mod fast;
mod linear;
mod nist;
mod nist_data;
mod nonlinear;
mod published;
mod random;
mod robust;
mod student;
mod student_data;

/// Correct decimal digits: minus the logarithm of the relative error, at most 16.
fn digits(got: f64, want: f64) -> f64 {
    if got == want {
        return 16.0;
    }
    let scale = if want == 0.0 { 1.0 } else { want.abs() };
    (-((got - want).abs() / scale).log10()).clamp(0.0, 16.0)
}

/// Fails unless `got` has the digits of `want`.
#[track_caller]
fn assert_digits(what: &str, got: f64, want: f64, least: f64) {
    let d = digits(got, want);
    assert!(d >= least, "{what}: {got:e} instead of {want:e}, {d:.1} digits of {least}");
}
