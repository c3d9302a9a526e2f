//! Stub.
pub fn legal(_s: &crate::view::all::FlowState, _f: &crate::Fact) -> Result<(), String> {
    Ok(())
}
