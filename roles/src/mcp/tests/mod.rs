//! Servers that are started for a test: real ones and hostile ones.
