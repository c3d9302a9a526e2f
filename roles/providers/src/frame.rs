//! Everything of a request besides its session, as a journal keeps it, and the way back: the same bytes
//! from the journal alone, without a provider or a configuration.

use a_society_facts::fact::request::{Beside, RequestFrame};
use a_society_facts::message::{Message, Text};

use super::http::written;
use super::prepared::Prepared;
use super::request::{Effort, HistoryMessage, ModelRequest, Thinking, ToolDefinition};
use super::speech::{ChatDialect, ProviderSpeech, Wire};

/// The words of what can differ on the Chat Completions wire.
const COMPLETION_TOKENS: &str = "max-completion-tokens";
const CACHE_KEY: &str = "cache-key";

impl ProviderSpeech {
    /// What a request is made of besides its session; its tools in these parts.
    #[must_use]
    pub fn frame<'t>(
        self,
        request: &ModelRequest<'_>,
        tools: impl IntoIterator<Item = &'t [ToolDefinition]>,
    ) -> RequestFrame {
        let owned = |text: &str| text.to_owned();
        let some = |text: &str| (!text.is_empty()).then(|| Text::from(text));
        // A list of texts and schemas can always be written.
        let listed = |part| Text::from(serde_json::to_string(part).unwrap_or_default());
        let dialect = [
            (self.dialect.completion_tokens, COMPLETION_TOKENS),
            (self.dialect.cache_key, CACHE_KEY),
        ];
        let dialect = dialect.into_iter().filter(|(is_so, _)| *is_so);
        RequestFrame {
            provider: self.provider,
            wire: self.wire.word().to_owned(),
            dialect: dialect.map(|(_, word)| word.to_owned()).collect(),
            model: request.model.to_owned(),
            effort: request.effort.map(|effort| effort.word().to_owned()),
            thinking: request.thinking.word().to_owned(),
            max_output_tokens: request.max_output_tokens,
            images: request.images,
            cache_key: request.cache_key.map(owned),
            shared_key: request.shared_key.map(owned),
            environment: some(request.environment),
            tools: tools.into_iter().map(listed).collect(),
            beside: None,
        }
    }

    /// What a request beside a session is made of, which is all of it.
    #[must_use]
    pub fn frame_beside(self, request: &ModelRequest<'_>) -> RequestFrame {
        let messages: Vec<&Message> = request.messages.iter().map(|said| &*said.message).collect();
        RequestFrame {
            beside: Some(Beside {
                system: request.system.into(),
                messages: serde_json::to_string(&messages).unwrap_or_default().into(),
            }),
            ..self.frame(request, None)
        }
    }
}

/// The session that a request repeats.
#[derive(Debug, Clone, Copy)]
pub struct SpokenSession<'a> {
    /// The system prompt.
    pub system: &'a str,
    /// The conversation.
    pub messages: &'a [HistoryMessage],
}

/// Writes a request anew.
///
/// # Errors
/// Says what of it cannot be had, or is not known here.
pub fn write_anew(
    frame: &RequestFrame,
    session: SpokenSession<'_>,
    whole: &dyn Fn(&Text) -> Result<String, String>,
) -> Result<Prepared, String> {
    let wire: Result<Wire, ()> = frame.wire.parse();
    let wire = wire.map_err(|()| unknown("wire", &frame.wire))?;
    let dialect = dialect_of(&frame.dialect)?;
    let effort = frame.effort.as_deref();
    let effort = effort.map(|word| word.parse().map_err(|()| unknown("effort", word)));
    let effort: Option<Effort> = effort.transpose()?;
    let thinking: Result<Thinking, ()> = frame.thinking.parse();
    let thinking = thinking.map_err(|()| unknown("way of thinking", &frame.thinking))?;
    let mut tools: Vec<ToolDefinition> = Vec::new();
    for part in &frame.tools {
        let part: Result<Vec<ToolDefinition>, _> = serde_json::from_str(&whole(part)?);
        tools.extend(part.map_err(|why| format!("its tools cannot be read: {why}"))?);
    }
    let environment = frame
        .environment
        .as_ref()
        .map_or(Ok(String::new()), whole)?;
    let beside = frame.beside.as_ref();
    let beside = beside.map(|beside| session_beside(beside, whole));
    let beside = beside.transpose()?;
    let session = beside
        .as_ref()
        .map_or(session, |(system, messages)| SpokenSession {
            system,
            messages,
        });
    let speech = ProviderSpeech {
        provider: frame.provider.clone(),
        wire,
        dialect,
    };
    written(
        &speech,
        &ModelRequest {
            model: &frame.model,
            system: session.system,
            environment: &environment,
            messages: session.messages,
            tools: &tools,
            effort,
            thinking,
            max_output_tokens: frame.max_output_tokens,
            images: frame.images,
            cache_key: frame.cache_key.as_deref(),
            shared_key: frame.shared_key.as_deref(),
        },
    )
    .map_err(|fault| fault.message)
}

fn unknown(what: &str, word: &str) -> String {
    format!("it was written by a version that knows the {what} {word:?}, which this one does not")
}

fn dialect_of(words: &[String]) -> Result<ChatDialect, String> {
    let mut dialect = ChatDialect {
        completion_tokens: false,
        cache_key: false,
    };
    for word in words {
        match word.as_str() {
            COMPLETION_TOKENS => dialect.completion_tokens = true,
            CACHE_KEY => dialect.cache_key = true,
            other => return Err(unknown("dialect", other)),
        }
    }
    Ok(dialect)
}

/// The system prompt and the conversation of a request that does not repeat its session.
fn session_beside(
    beside: &Beside,
    whole: &dyn Fn(&Text) -> Result<String, String>,
) -> Result<(String, Vec<HistoryMessage>), String> {
    let system = whole(&beside.system)?;
    let messages: Result<Vec<Message>, _> = serde_json::from_str(&whole(&beside.messages)?);
    let messages = messages.map_err(|why| format!("its messages cannot be read: {why}"))?;
    Ok((
        system,
        messages.into_iter().map(HistoryMessage::from).collect(),
    ))
}
