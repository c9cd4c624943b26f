#![doc = include_str!("../README.md")]

mod capped;
mod check;
mod compare;
mod custom;
mod dd;
mod error;
mod fitted;
mod formula;
mod levenberg;
mod line;
mod linear;
mod model;
mod power;
mod qr;
pub mod robust;
mod scaling;
mod student;

pub use capped::Capped;
pub use compare::{Candidate, Envelope, Rank, candidates, compare, envelope};
pub use custom::Nonlinear;
pub use error::Error;
pub use linear::{Design, LinearFit};
pub use model::{Arithmetic, Diagnostics, Errors, Interval, Model, Options, Param, Prediction, RSquared, Response};
pub use power::PowerLaw;
pub use scaling::{Amdahl, RateLine, Saturating, TwoClass, Usl};
pub use student::StudentT;
