//! Servers that are started for a test: hostile ones of our own, and real ones of others.

mod hostile;
mod real;
mod restarts;
mod stand;
mod web;
