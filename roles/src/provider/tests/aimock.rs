//! Providers against a server that this project did not write.
