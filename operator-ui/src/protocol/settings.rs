//! What a page changes in the operator's configuration. Keys are named by where they are and never said.

use super::wire;

wire! {
    /// A change of the operator's configuration.
    pub struct Setting {
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
    pub enum SettingChange {
        /// A model more, and its provider if that is new.
        AddModel(ModelWish),
        /// Members of a model.
        EditModel(ModelWish),
        /// A model less.
        RemoveModel(ModelRemoval),
        /// Another model for roles that name none.
        UseModel(String),
    }

    /// A model as somebody wants it. What is not said is the catalogue's, or stays.
    pub struct ModelWish {
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
    pub struct KeyPlace {
        /// How it is found: `env`, `file` or `keyring`.
        pub from: String,
        /// The name of the variable, the path of the file, or the name in the keyring.
        pub name: String,
    }

    /// A model that is taken out.
    pub struct ModelRemoval {
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

    /// What was done, or would be.
    pub struct SettingDone {
        /// In a sentence.
        pub words: String,
        /// More about it, a sentence each.
        pub notes: Vec<String>,
        /// The version of the file from now on.
        pub version: String,
    }

    /// What is tried out.
    #[serde(rename_all = "snake_case")]
    pub enum Trial {
        /// A model, with one small request.
        Model(String),
    }

    /// What came of a trial.
    pub struct Tried {
        /// Whether it works.
        pub works: bool,
        /// In words: what it said, or what is wrong.
        pub words: String,
        /// What it offers.
        pub offers: Vec<String>,
    }
}
