//! Stub.
#[derive(Debug, Default, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Summary {
    pub title: String,
    pub updated_at: crate::At,
}
impl Summary {
    pub fn is_over(&self) -> bool {
        false
    }
}
