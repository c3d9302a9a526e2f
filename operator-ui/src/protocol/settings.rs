//! Changes of the operator's configuration from a page. Keys are named by their source and never sent.

use super::wire;

wire! {
    /// A change of the operator's configuration.
    pub(crate) struct Setting {
        /// What the page showed: the version of the file.
        pub version: String,
        /// What changes.
        pub change: SettingChange,
        /// Say what it would be, and change nothing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(test, ts(as = "Option<bool>", optional))]
        pub look: bool,
    }

    /// What changes of a configuration.
    #[serde(rename_all = "snake_case")]
    pub(crate) enum SettingChange {
        /// A model more, and its provider if that is new.
        AddModel(ModelWish),
        /// Members of a model.
        EditModel(ModelWish),
        /// A model less.
        RemoveModel(ModelRemoval),
        /// Another model for roles that name none.
        UseModel(String),
        /// An MCP server more.
        AddServer(ServerWish),
        /// Another definition of an MCP server.
        EditServer(ServerWish),
        /// A rule more.
        AddRule(RuleWish),
        /// A rule less.
        RemoveRule(RuleWish),
        /// What holds for all flows beside the rules.
        SetPolicy(PolicyWish),
        /// Who answers `web_search`.
        SetSearch(SearchWish),
        /// Turn `web_search` off.
        RemoveSearch {},
        /// An MCP server less, and the secrets that only it was given.
        RemoveServer(String),
    }

    /// What holds for all flows beside the rules. What is absent is taken out, and its default holds.
    #[serde(rename_all = "snake_case")]
    pub(crate) enum PolicyWish {
        /// The mode of flows that choose none.
        Mode(ModeWish),
        /// How far tools reach at most.
        Reach(ReachWish),
        /// What stops a flow that makes no progress.
        Limits(LimitsWish),
        /// The notification command, and when it runs.
        Notify(NotifyWish),
    }

    /// The mode of flows that choose none.
    pub(crate) struct ModeWish {
        /// Its word; the usual one, if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub mode: Option<String>,
    }

    /// How far tools reach at most.
    pub(crate) struct ReachWish {
        /// The scope, by its word.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub scope: Option<String>,
        /// Folders that are read besides.
        pub folders: Vec<String>,
        /// Whether commands may use the network.
        pub network: bool,
    }

    /// What stops a flow that makes no progress. What is absent has its default.
    pub(crate) struct LimitsWish {
        /// The tokens of a flow, or `none`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub tokens: Option<String>,
        /// The answers of a model in one turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub answers: Option<String>,
        /// The same call with the same result in a turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub same_call: Option<String>,
    }

    /// The notification command. No word is no command.
    pub(crate) struct NotifyWish {
        /// The program and its arguments; no shell reads them.
        pub command: Vec<String>,
        /// The occasions on which it runs; all of them, if none is named.
        pub on: Vec<String>,
    }

    /// A service that answers `web_search`.
    pub(crate) struct SearchWish {
        /// Where its key is.
        pub key: KeyPlace,
        /// Its address, if it is not the usual one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub endpoint: Option<String>,
    }

    /// A rule about calls.
    pub(crate) struct RuleWish {
        /// Which list it is in: `allow` or `deny`.
        pub list: RuleList,
        /// The rule, as it is written.
        pub rule: String,
    }

    /// The lists of rules.
    #[derive(Copy)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum RuleList {
        /// What runs without asking.
        Allow,
        /// What never runs.
        Deny,
    }

    /// A model as the operator wants it. Absent values come from the catalogue, or stay.
    pub(crate) struct ModelWish {
        /// How it is called here.
        pub name: String,
        /// Its name with its provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub id: Option<String>,
        /// Its provider.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub provider: Option<String>,
        /// How a new provider is spoken to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub wire: Option<String>,
        /// Where a new provider is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub base_url: Option<String>,
        /// Where its key is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub key: Option<KeyPlace>,
        /// The tokens that it reads at most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub window: Option<u64>,
        /// The tokens of one answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub max_output: Option<u64>,
        /// Whether it gets the images that it reads.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub images: Option<bool>,
        /// Its effort, by its word.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub effort: Option<String>,
        /// Its prices, as they are typed: `3,15` or `3,15,0.3,3.75`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub prices: Option<String>,
    }

    /// Where a key is.
    pub(crate) struct KeyPlace {
        /// How it is found: `env`, `file` or `keyring`.
        pub from: String,
        /// The name of the variable, the path of the file, or the name in the keyring.
        pub name: String,
    }

    /// A model that is taken out.
    pub(crate) struct ModelRemoval {
        /// Which.
        pub name: String,
        /// The model of roles that name none, from then on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub default: Option<String>,
        /// Whether its provider goes, too, if no other model has it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(test, ts(as = "Option<bool>", optional))]
        pub provider: bool,
    }

    /// An MCP server as the operator wants it: a program, or an address.
    pub(crate) struct ServerWish {
        /// Its name.
        pub name: String,
        /// The program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub command: Option<String>,
        /// Its arguments; no shell reads them.
        pub arguments: Vec<String>,
        /// The folder in which it runs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub folder: Option<String>,
        /// Its address.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub url: Option<String>,
        /// Whether its name may resolve to a private address.
        pub private: bool,
        /// The names of the variables that it inherits.
        pub inherits: Vec<String>,
        /// Its variables, or its headers.
        pub values: Vec<ServerValue>,
        /// Its tools that only read.
        pub reads: Vec<String>,
        /// What it is good for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub about: Option<String>,
        /// The definition that was looked at, by its hash: nothing else is saved. It is not asked for by a look.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub definition: Option<String>,
    }

    /// What a variable or a header of a server holds: one of the three.
    pub(crate) struct ServerValue {
        /// Its name.
        pub name: String,
        /// This text, which is no key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub text: Option<String>,
        /// A secret that the configuration names already.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub secret: Option<String>,
        /// A secret that is kept there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub key: Option<KeyPlace>,
        /// The prefix of a secret, such as `Bearer `.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub prefix: Option<String>,
    }

    /// A change of the operator's own skills.
    pub(crate) struct SkillSetting {
        /// What the page showed: the version of the skill; nothing for a new one.
        pub version: String,
        /// What changes.
        pub change: SkillChange,
        /// Return what roles would see, and change nothing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(test, ts(as = "Option<bool>", optional))]
        pub look: bool,
    }

    /// What changes of the operator's own skills.
    #[serde(rename_all = "snake_case")]
    pub(crate) enum SkillChange {
        /// A skill more.
        Add(SkillWish),
        /// Another description, or other words, of a skill.
        Edit(SkillWish),
        /// A skill less, with all its files.
        Remove(String),
    }

    /// A skill as the operator wants it.
    pub(crate) struct SkillWish {
        /// Its name.
        pub name: String,
        /// When it is used.
        pub description: String,
        /// What it says.
        pub text: String,
    }

    /// What was done, or would be.
    pub(crate) struct SettingDone {
        /// In a sentence.
        pub words: String,
        /// More about it, a sentence each.
        pub notes: Vec<String>,
        /// The version of the file from now on.
        pub version: String,
        /// What would run or be reached, for the operator to read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub shown: Option<String>,
        /// The hash of that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub definition: Option<String>,
    }

    /// What is tried out.
    #[serde(rename_all = "snake_case")]
    pub(crate) enum Trial {
        /// A model, with one small request.
        Model(String),
        /// An MCP server: it is started, asked what it offers, and ended.
        Server(String),
        /// The service that answers `web_search`, with one search.
        Search {},
        /// The rules and the mode, with a call that is only judged.
        Rules(CallWish),
    }

    /// A call to judge.
    pub(crate) struct CallWish {
        /// What it does.
        pub does: CallKind,
        /// The command, the path, the host, or the server and its tool as `SERVER/TOOL`.
        pub what: String,
    }

    /// What a call does.
    #[derive(Copy)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum CallKind {
        /// It runs a command.
        Command,
        /// It changes a file.
        File,
        /// It asks a host.
        Web,
        /// It calls a tool of a server.
        Server,
    }

    /// What would happen to a call.
    #[derive(Copy)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum CallFate {
        /// It runs without asking.
        Runs,
        /// The operator is asked.
        Asks,
        /// It does not run.
        Never,
    }

    /// The result of a trial.
    pub(crate) struct Tried {
        /// Whether it works.
        pub works: bool,
        /// In words: its answer, or what is wrong.
        pub words: String,
        /// What it offers.
        pub offers: Vec<String>,
        /// What would happen to the call that was tried.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub fate: Option<CallFate>,
    }
}
