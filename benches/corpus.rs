//! Seeded data for the benches.
