//! Skills: folders with a `SKILL.md`, of which a role's prompt holds name, description and path, and
//! which the role reads when it needs them; found, imported, written and removed.

mod edit;
mod import;
mod limits;
mod parse;
mod store;

#[cfg(test)]
mod tests;

pub use edit::{NewSkill, Sight, SkillEditFault, look, plan, put, remove, told};
pub use import::import;
pub use parse::SkillFault;
#[cfg(test)]
use parse::heading;
#[cfg(test)]
pub(crate) use store::FoundSkills;
pub use store::found;
