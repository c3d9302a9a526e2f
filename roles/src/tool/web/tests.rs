//! The web of a test: servers on this machine, under names that only the test knows.
