//! Whom a client trusts.
