//! What the operator reads about a role: `feed.json`, a plain array of items.

mod fold;
mod item;
mod phrase;
mod plain;
mod wording;

pub use fold::{FeedBounds, FeedView};
pub use item::{ConsentItem, DeliveredItem, FeedItem, ItemKind};
