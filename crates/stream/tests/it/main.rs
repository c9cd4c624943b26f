//! Integration tests.

mod own_files;
mod support;
