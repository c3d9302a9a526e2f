//! What a role said, as people read it.

/// A text of a role without the block that ends its turn, which is for the program.
#[must_use]
pub fn before_its_end(text: &str) -> &str {
    match text.rfind("```handoff\n") {
        Some(at) if at == 0 || text[..at].ends_with('\n') => &text[..at],
        Some(_) | None => text,
    }
}
