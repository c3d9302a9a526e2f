//! Flows that are walked by the real program: to their ends, beside one another, and after deaths.

mod arriving;
mod beside;
mod between;
mod canaries;
mod compacting;
mod counted;
mod delivering;
mod ending;
mod files;
mod forked;
mod hurried;
mod imported;
mod killed;
mod knocked_at;
mod limited;
mod looping;
mod models;
mod offered;
mod place;
mod projects;
mod reaching;
mod requested;
mod signalled;
mod spoken_to;
mod steered;
mod whole;
