//! T2: the power fails, or the process dies, after every operation of every use.
