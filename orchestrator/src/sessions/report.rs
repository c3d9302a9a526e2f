//! What is reported of a run: the same on the command line, over HTTP and to a role.

use serde::Serialize;

use super::send::RunState;

/// How far a run is, for those who wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It was answered.
    Ok,
    /// It ended without an answer.
    Error,
    /// It goes on, and its sender does not wait.
    Accepted,
    /// It goes on, and the time to wait is over.
    Timeout,
}

/// The report of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunReport {
    /// The name of the run.
    pub run_id: String,
    /// How far it is.
    pub status: RunStatus,
    /// The answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl RunReport {
    /// The report of a run that was waited for or not. A run that goes on is reported with how to hear of it later.
    pub(super) fn new(run_id: String, state: RunState, waits: bool, later: &str) -> Self {
        let (status, reply, error) = match state {
            RunState::Answered(text) => (RunStatus::Ok, Some(text), None),
            RunState::Failed(why) => (RunStatus::Error, None, Some(why)),
            RunState::Unknown | RunState::GoesOn { .. } if !waits => {
                (RunStatus::Accepted, None, None)
            }
            RunState::Unknown => (RunStatus::Timeout, None, Some(goes_on(None, later))),
            RunState::GoesOn { needs } => (RunStatus::Timeout, None, Some(goes_on(needs, later))),
        };
        Self {
            run_id,
            status,
            reply,
            error,
        }
    }
}

fn goes_on(needs: Option<String>, later: &str) -> String {
    let waits = needs.map(|needs| format!(", and waits for {needs}"));
    format!("the run goes on{}; {later}", waits.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_reported_with_its_answer_or_with_why_there_is_none_and_how_to_hear_of_it_later() {
        let needs = Some("a budget".to_owned());
        for (state, waits, said) in [
            (
                RunState::Answered("Blue.".to_owned()),
                true,
                r#"{"runId":"a:b","status":"ok","reply":"Blue."}"#,
            ),
            (
                RunState::Failed("no key".to_owned()),
                false,
                r#"{"runId":"a:b","status":"error","error":"no key"}"#,
            ),
            (
                RunState::GoesOn { needs: None },
                false,
                r#"{"runId":"a:b","status":"accepted"}"#,
            ),
            (
                RunState::Unknown,
                true,
                r#"{"runId":"a:b","status":"timeout","error":"the run goes on; ask later"}"#,
            ),
            (
                RunState::GoesOn { needs },
                true,
                r#"{"runId":"a:b","status":"timeout","error":"the run goes on, and waits for a budget; ask later"}"#,
            ),
        ] {
            let report = RunReport::new("a:b".to_owned(), state, waits, "ask later");
            assert_eq!(serde_json::to_string(&report).unwrap(), said);
        }
    }
}
