//! Servers that are started for a test: hostile ones of our own, and real ones of others.
//!
//! Names of tests begin with the row of the table of bad inputs that they cover. Tests that need no
//! server are beside the code.
//!
//! | Row | What | Where |
//! |---|---|---|
//! | M01 | servers that a workspace wants | `wanted` |
//! | M03 | definitions that change after their approval | `hostile`, `web`, `definition` |
//! | M05 | descriptions that give orders | `hostile`, `definition` |
//! | M07 | noise, garbage and lines without end | `hostile`, `pipes` |
//! | M09 | no answer, a late one, a client that is gone | `hostile`, `web` |
//! | M11 | what a server asks of us | `hostile` |
//! | M13 | schemas that are traps | `hostile`, `schema` |
//! | M15 | ids of sessions that bring headers | `web`, and beside the client |
//! | M17 | the environment and the folder of a server | `hostile`, `spec`, `process` |
//! | N | addresses, names, redirects, clear text | `web`, `address` |
//! | K03 | secrets that a server repeats | `restarts`, `web` |

mod hostile;
mod real;
mod restarts;
mod stand;
mod web;
