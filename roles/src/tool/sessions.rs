//! Tools that look at other sessions: which there are, the messages of one, and a message to one.

use std::sync::Arc;

use a_society_base::stop::StopSignal;
use a_society_facts::fact::turn::{CallEnd, Effect};
use a_society_facts::id::CallId;

use super::arguments::SendAsked;
use super::deed::{Deed, SessionReading};
use super::output::ToolOutput;
use super::plan::CallPlan;
use super::refusal::{CallRefusal, RefusalKind};
use super::session_reader::ReadSessions;
use super::toolbox::{ConsentNeeds, Toolbox};

impl Toolbox {
    pub(super) fn plan_sessions(
        &self,
        reading: SessionReading,
        raw: &str,
    ) -> Result<CallPlan, CallRefusal> {
        self.reader()?;
        let (tool, summary) = match &reading {
            SessionReading::List(_) => ("sessions_list", "list sessions".to_owned()),
            SessionReading::History(asked) => (
                "sessions_history",
                format!("read the session {}", asked.session_key),
            ),
        };
        let ask = self.ask(tool, raw, ConsentNeeds::default());
        let deed = Deed::Sessions(Box::new(reading));
        Ok(self.planned(tool, Effect::Pure, summary, ask, deed))
    }

    pub(super) fn sessions(
        &self,
        reading: &SessionReading,
    ) -> Result<(CallEnd, ToolOutput), CallRefusal> {
        let reader = self.reader()?;
        let read = match reading {
            SessionReading::List(asked) => reader.list(asked),
            SessionReading::History(asked) => reader.history(asked),
        };
        match read {
            Ok(text) => Ok((CallEnd::Done, ToolOutput::of(text + "\n"))),
            Err(why) => Err(CallRefusal::new(RefusalKind::NotPossible, why)),
        }
    }

    /// The receiver counts the message once under the name of its call, so that a call that a crash cut off may be made
    /// again, and then only fetches the answer.
    pub(super) fn plan_send(&self, asked: SendAsked, raw: &str) -> Result<CallPlan, CallRefusal> {
        self.reader()?;
        let summary = format!("send to the session {}", asked.session_key);
        let ask = self.ask("sessions_send", raw, ConsentNeeds::default());
        let deed = Deed::Send(Box::new(asked));
        Ok(self.planned("sessions_send", Effect::Idempotent, summary, ask, deed))
    }

    pub(super) fn send(
        &self,
        asked: &SendAsked,
        call: &CallId,
        stop: &StopSignal,
    ) -> Result<(CallEnd, ToolOutput), CallRefusal> {
        let role = &self.0.setting.owner.role;
        match self.reader()?.send(asked, role, call, stop) {
            Ok(text) => Ok((CallEnd::Done, ToolOutput::of(text + "\n"))),
            Err(why) => Err(CallRefusal::new(RefusalKind::NotPossible, why)),
        }
    }

    fn reader(&self) -> Result<&Arc<dyn ReadSessions>, CallRefusal> {
        let none = || {
            let text = "No session can be read here.";
            CallRefusal::new(RefusalKind::NotPossible, text)
        };
        self.0.setting.sessions.as_ref().ok_or_else(none)
    }
}

#[cfg(test)]
mod tests {
    use a_society_facts::id::RoleInstance;
    use serde_json::json;

    use super::*;
    use crate::tool::arguments::{HistoryAsked, SessionsAsked};
    use crate::tool::tests::stage::{Stage, done, output, plan};

    #[derive(Debug)]
    struct OneSession;

    impl ReadSessions for OneSession {
        fn list(&self, asked: &SessionsAsked) -> Result<String, String> {
            Ok(format!("{:?} {:?}", asked.kinds, asked.message_limit))
        }

        fn history(&self, asked: &HistoryAsked) -> Result<String, String> {
            match asked.session_key.as_str() {
                "here" => Ok(format!("sk-secret-1 {}", asked.include_tools)),
                other => Err(format!("There is no session {other}.")),
            }
        }

        fn send(
            &self,
            asked: &SendAsked,
            role: &RoleInstance,
            _call: &CallId,
            _stop: &StopSignal,
        ) -> Result<String, String> {
            Ok(format!(
                "{role}: {} {:?}",
                asked.message, asked.timeout_seconds
            ))
        }
    }

    #[test]
    fn sessions_are_read_where_there_is_a_reader_and_secrets_are_withheld() {
        let stage = Stage::new();
        let without = stage.toolbox();
        let names = |tools: &Toolbox| -> Vec<String> {
            let tools = tools.definitions().iter();
            tools.map(|tool| tool.name.clone()).collect()
        };
        assert!(!names(&without).iter().any(|name| name.starts_with("sess")));
        assert!(plan(&without, "sessions_list", json!({})).is_err());

        let mut setting = stage.setting();
        setting.sessions = Some(Arc::new(OneSession));
        setting.secrets = vec!["sk-secret-1".to_owned()];
        let tools = Toolbox::open(setting).unwrap();
        assert!(names(&tools).contains(&"sessions_history".to_owned()));
        let listed = output(
            &tools,
            "sessions_list",
            json!({ "kinds": ["role"], "message_limit": 3 }),
        );
        assert_eq!(listed, "Some([\"role\"]) Some(3)\n");
        let read = |key: &str| {
            let asked = json!({ "sessionKey": key, "includeTools": true });
            output(&tools, "sessions_history", asked)
        };
        let shown = read("here");
        assert!(
            !shown.contains("sk-secret-1") && shown.ends_with("true\n"),
            "{shown}"
        );
        let none = done(&tools, "sessions_history", json!({ "sessionKey": "there" })).unwrap();
        assert_eq!(
            (none.end, none.output.trim()),
            (CallEnd::Failed, "There is no session there.")
        );
        assert!(plan(&tools, "sessions_history", json!({})).is_err());
        let message = json!({ "sessionKey": "here", "message": "Hello.", "timeout": 0 });
        let planned = plan(&tools, "sessions_send", message.clone()).unwrap();
        assert_eq!(planned.effect, Effect::Idempotent);
        let sent = output(&tools, "sessions_send", message);
        assert!(sent.ends_with(": Hello. Some(0)\n"), "{sent}");
        assert!(plan(&tools, "sessions_send", json!({ "sessionKey": "here" })).is_err());
    }
}
