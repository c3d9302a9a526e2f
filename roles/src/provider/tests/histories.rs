//! Any history becomes one that every provider takes.
