//! The wires against what the real ones send and accept.
