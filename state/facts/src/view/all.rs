//! Stub.
use crate::id::RoleInstance;
use std::collections::BTreeMap;
#[derive(Debug, Default)]
pub struct FlowState;
impl FlowState {
    pub fn is_blob_lost(&self, _h: crate::Hash) -> bool {
        false
    }
    pub fn is_paused_for_space(&self) -> bool {
        false
    }
    pub fn write_json(&self, _o: &mut Vec<u8>) {}
    pub fn approx_bytes(&self) -> u64 {
        0
    }
}
#[derive(Debug, Default)]
pub struct Views {
    pub flow: FlowState,
    pub summary: super::summary::Summary,
    pub sessions: BTreeMap<RoleInstance, FlowState>,
    pub feeds: BTreeMap<RoleInstance, FlowState>,
}
#[derive(Debug, Default)]
pub struct Touched {
    pub flow: bool,
}
impl Touched {
    pub fn sessions(&self) -> std::slice::Iter<'_, RoleInstance> {
        [].iter()
    }
    pub fn feeds(&self) -> std::slice::Iter<'_, RoleInstance> {
        [].iter()
    }
}
impl Views {
    pub fn apply(&mut self, _r: &crate::Recorded) -> Touched {
        Touched::default()
    }
}
