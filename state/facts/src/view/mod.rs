//! Stub.
pub mod all;
pub mod screen;
pub mod summary;
pub trait View {
    fn apply(&mut self, recorded: &crate::Recorded);
}
