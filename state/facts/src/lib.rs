//! What is true: ids, facts, views and legality.
