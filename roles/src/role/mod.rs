//! What a role is told: who it is, and what lies before it.
