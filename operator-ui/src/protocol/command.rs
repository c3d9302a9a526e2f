//! What a browser wants: a verb of the operator for a flow, as everybody says it, or something that the server does.

use a_society_facts::Verb;
use serde_json::Value;

use super::wire;

wire! {
    /// What the server does with a flow.
    #[serde(tag = "do", rename_all = "snake_case")]
    pub(crate) enum ServerVerb {
        /// Let this server drive a flow without a driver.
        Resume {
            /// A note for the interrupted role.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, ts(optional))]
            note: Option<String>,
        },
        /// Begin another flow that shares this one's records up to one of them.
        Fork {
            /// The last record they share.
            at: u64,
            /// How the other is called.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, ts(optional))]
            name: Option<String>,
            /// The first message to it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, ts(optional))]
            first_message: Option<String>,
        },
    }
}

/// What a browser wants.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged, try_from = "Value")]
pub(crate) enum Command {
    /// Something for the flow.
    Flow(#[cfg_attr(test, ts(type = "Verb"))] Verb),
    /// Something for the server.
    Server(ServerVerb),
}

/// The words of the server's own verbs.
const OF_THE_SERVER: [&str; 2] = ["resume", "fork"];

/// Looks first whose verb it is, so that an error lists the right verbs.
impl TryFrom<Value> for Command {
    type Error = serde_json::Error;

    fn try_from(said: Value) -> Result<Self, serde_json::Error> {
        let word = said.get("do").and_then(Value::as_str);
        if word.is_some_and(|word| OF_THE_SERVER.contains(&word)) {
            return serde_json::from_value(said).map(Self::Server);
        }
        serde_json::from_value(said).map(Self::Flow)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_verb_of_the_server_is_read_as_one() {
        let unknown = serde_json::from_value::<ServerVerb>(json!({ "do": "?" })).unwrap_err();
        let quoted = unknown.to_string();
        let words: Vec<&str> = quoted.split('`').skip(3).step_by(2).collect();
        assert_eq!(words, OF_THE_SERVER, "{quoted}");
    }
}
