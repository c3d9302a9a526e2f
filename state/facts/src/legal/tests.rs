//! Legality, by examples and by taking a whole flow apart.
