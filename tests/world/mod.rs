//! The real program against programs that others wrote, which the gate installs beside this file.
//!
//! Where they are not installed, each test says NOT MEASURED. What each program is here for is in the
//! README of this folder.

mod aimock;
mod clients;
mod gateway;
mod installed;
mod repository;
mod servers;
mod site;
mod wires;
