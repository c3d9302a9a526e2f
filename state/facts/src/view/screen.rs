//! Stub.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Screen {
    pub summary: super::summary::Summary,
    #[serde(skip)]
    pub flow: super::all::FlowState,
}
impl Screen {
    pub fn of(_v: &super::all::Views) -> Self {
        Self::default()
    }
}
impl super::View for Screen {
    fn apply(&mut self, _r: &crate::Recorded) {}
}
