//! Integration tests.

mod build;
mod decoder;
mod disks;
mod engine;
mod flips;
mod foreign;
mod memory;
mod outputs;
mod own_files;
mod random_access;
mod stored;
mod streams;
mod support;
