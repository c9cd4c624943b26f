#![doc = include_str!("../README.md")]

mod check;
mod compare;
mod dd;
mod error;
mod fitted;
mod line;
mod linear;
mod model;
mod power;
mod qr;
pub mod robust;
mod student;

pub use compare::{Envelope, Rank, compare, envelope};
pub use error::Error;
pub use linear::{Design, LinearFit};
pub use model::{Arithmetic, Diagnostics, Errors, Interval, Model, Options, Param, Prediction, RSquared};
pub use power::PowerLaw;
pub use student::StudentT;
