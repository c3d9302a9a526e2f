//! What providers' errors mean, read from their status and their words.

use serde::Deserialize;
use serde_json::Value;

use crate::fault::{FaultClass, RequestFault};
use crate::limits;

/// The words of all providers for each kind of error, the most telling first.
const KINDS: [(FaultClass, &[&str]); 12] = [
    (
        FaultClass::SpendLimit,
        &[
            "enforced_spend_limit_reached",
            "insufficient_quota",
            "billing_error",
            "billing_hard_limit_reached",
            "billing_not_active",
        ],
    ),
    (
        FaultClass::WindowFull,
        &[
            "context_length_exceeded",
            "exceed_context_size_error",
            "model_context_window_exceeded",
            "contextwindowexceedederror",
            "string_above_max_length",
        ],
    ),
    (
        FaultClass::Policy,
        &[
            "content_policy_violation",
            "content_filter",
            "invalid_prompt",
            "responsible_ai_policy_violation",
        ],
    ),
    (
        FaultClass::Overloaded,
        &[
            "overloaded_error",
            "overloaded",
            "engine_overloaded",
            "server_overloaded",
        ],
    ),
    (
        FaultClass::RateLimit,
        &[
            "rate_limit_error",
            "rate_limit_exceeded",
            "rate_limit",
            "too_many_requests",
        ],
    ),
    (
        FaultClass::Key,
        &[
            "authentication_error",
            "invalid_api_key",
            "invalid_authentication",
        ],
    ),
    (
        FaultClass::Forbidden,
        &["permission_error", "permission_denied"],
    ),
    (
        FaultClass::NotFound,
        &["not_found_error", "model_not_found"],
    ),
    (FaultClass::TooLarge, &["request_too_large"]),
    (FaultClass::Timeout, &["timeout_error"]),
    (FaultClass::BadRequest, &["invalid_request_error"]),
    (
        FaultClass::Server,
        &["api_error", "server_error", "internal_server_error"],
    ),
];

/// The error in a body or an event, however a provider wraps it.
#[derive(Debug, Default)]
pub(crate) struct ErrorWords {
    /// The provider's words for the kind of error, as type and code, in lower case.
    kinds: Vec<String>,
    message: String,
}

impl ErrorWords {
    /// Reads an error: `{"error": {…}}`, `{"error": "…"}`, the error itself, or anything else.
    pub(crate) fn of(value: &Value) -> Self {
        let error = match value.get("error") {
            Some(error) if !error.is_null() => error,
            Some(_) | None => value,
        };
        let text = |name: &str| error.get(name).and_then(Value::as_str);
        let kinds = ["type", "code", "status"].into_iter().filter_map(text);
        let message = error
            .as_str()
            .or_else(|| text("message"))
            .or_else(|| text("detail"));
        Self {
            kinds: kinds.map(str::to_lowercase).collect(),
            message: message.unwrap_or_default().to_owned(),
        }
    }

    /// Reads the body of a response that reports an error.
    pub(crate) fn of_body(body: &str) -> Self {
        let trimmed = body.trim_start();
        if let Ok(value) = serde_json::from_str::<Value>(trimmed) {
            return Self::of(&value);
        }
        let message = if trimmed.starts_with('<') {
            // The page of some gateway: long, and never about this.
            "it answered with a web page instead of a reason"
        } else {
            trimmed
        };
        Self {
            kinds: Vec::new(),
            message: message.to_owned(),
        }
    }

    fn is(&self, kinds: &[&str]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(&kind.as_str()))
    }

    fn says(&self, phrases: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        phrases.iter().any(|phrase| message.contains(phrase))
    }

    /// What the words alone say the error is.
    fn class(&self) -> Option<FaultClass> {
        let found = KINDS.iter().find(|(_, kinds)| self.is(kinds));
        let class = found.map(|(class, _)| *class);
        // Some kinds cover everything that is wrong with a request; then only the message distinguishes
        // the cause.
        match class {
            None | Some(FaultClass::BadRequest | FaultClass::Server) => self.phrase().or(class),
            Some(_) => class,
        }
    }

    fn phrase(&self) -> Option<FaultClass> {
        const WINDOW: [&str; 16] = [
            "prompt is too long",
            "context length",
            "context window",
            "maximum context",
            "exceeds the available context",
            "too many tokens",
            "context limit",
            "exceeds the maximum number of tokens",
            "maximum prompt length",
            "reduce the length of the messages",
            "context size has been exceeded",
            "max context size",
            "maximum model length",
            "input is too long",
            "exceed the configured limit",
            "`inputs` tokens + `max_new_tokens`",
        ];
        if self.says(&WINDOW) {
            Some(FaultClass::WindowFull)
        } else if self.says(&["credit balance is too low", "exceeded your current quota"]) {
            Some(FaultClass::SpendLimit)
        } else if self.says(&[
            "content policy",
            "usage policy",
            "content management policy",
        ]) {
            Some(FaultClass::Policy)
        } else {
            None
        }
    }

    /// The message for people, no longer than is useful.
    fn shown(&self) -> String {
        let message = self.message.trim();
        let cut = message.floor_char_boundary(limits::ERROR_WORDS_BYTES);
        let end = if cut < message.len() { " …" } else { "" };
        let kind = self.kinds.first().map(String::as_str).unwrap_or_default();
        let printable = |text: &str| -> String {
            let shown = text.chars().map(|c| if c.is_control() { ' ' } else { c });
            shown.collect()
        };
        match (
            printable(kind).as_str(),
            printable(&message[..cut]).as_str(),
        ) {
            ("", "") => "it gave no reason".to_owned(),
            (kind, "") => kind.to_owned(),
            (_, message) => format!("{message}{end}"),
        }
    }

    /// The fault of an error that came inside a stream.
    pub(crate) fn in_stream(&self) -> RequestFault {
        let class = self.class().unwrap_or(FaultClass::Server);
        RequestFault::new(class, format!("the provider broke off: {}", self.shown()))
    }

    /// The fault of a response with this status.
    pub(crate) fn with_status(&self, status: u16, retry_after_ms: Option<u64>) -> RequestFault {
        let class = self.class_of_status(status, retry_after_ms);
        let mut fault = RequestFault::new(
            class,
            format!(
                "the provider answered with status {status}: {}",
                self.shown()
            ),
        );
        fault.status = Some(status);
        fault.retry_after_ms = retry_after_ms;
        fault
    }

    fn class_of_status(&self, status: u16, retry_after_ms: Option<u64>) -> FaultClass {
        let named = self.class();
        match status {
            300..=399 => FaultClass::Redirected,
            401 => FaultClass::Key,
            402 => FaultClass::SpendLimit,
            403 => FaultClass::Forbidden,
            404 => FaultClass::NotFound,
            408 => FaultClass::Timeout,
            409 => FaultClass::Conflict,
            413 if named == Some(FaultClass::WindowFull) => FaultClass::WindowFull,
            413 => FaultClass::TooLarge,
            // A spend limit has no end that a provider could name.
            429 if named == Some(FaultClass::SpendLimit) && retry_after_ms.is_none() => {
                FaultClass::SpendLimit
            }
            // More than a whole minute's rate: waiting does not help, a shorter request does.
            429 if self.says(&["request too large"]) => FaultClass::TooLarge,
            429 => FaultClass::RateLimit,
            400 | 422 => match named {
                Some(
                    class @ (FaultClass::WindowFull
                    | FaultClass::Policy
                    | FaultClass::SpendLimit
                    | FaultClass::TooLarge
                    | FaultClass::NotFound),
                ) => class,
                Some(_) | None => FaultClass::BadRequest,
            },
            // Some local servers say so as a failure of their own.
            500..=599 if named == Some(FaultClass::WindowFull) => FaultClass::WindowFull,
            503 | 529 => FaultClass::Overloaded,
            // Not every gateway can do what is asked, and asking again does not teach it.
            501 | 505 => FaultClass::BadRequest,
            500..=599 => FaultClass::Server,
            _ => FaultClass::BadRequest,
        }
    }
}

/// How long a response asks to be left alone, from its headers. A date counts from the response's
/// own date, so that no clock of ours is needed and none can be wrong.
pub(crate) fn retry_after_ms<'h>(header: impl Fn(&str) -> Option<&'h str>) -> Option<u64> {
    let whole = |text: &str| {
        text.trim()
            .parse::<f64>()
            .ok()
            .filter(|it| it.is_finite() && *it >= 0.0)
    };
    if let Some(ms) = header("retry-after-ms").and_then(whole) {
        return Some(ceiled(ms));
    }
    let after = header("retry-after")?;
    if let Some(seconds) = whole(after) {
        return Some(ceiled(seconds * 1000.0));
    }
    let then = http_date(after)?;
    let now = http_date(header("date")?)?;
    Some(then.saturating_sub(now).saturating_mul(1000))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is not negative, and one that is too large becomes the largest"
)]
fn ceiled(ms: f64) -> u64 {
    ms.ceil() as u64
}

/// Seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let mut words = text.trim().split_once(',')?.1.split_ascii_whitespace();
    let day: u64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let year: u64 = words.next()?.parse().ok()?;
    let mut clock = words
        .next()?
        .split(':')
        .map(|part| part.parse::<u64>().ok());
    let (hours, minutes, seconds) = (clock.next()??, clock.next()??, clock.next()??);
    let in_range = (1970..=9999).contains(&year) && (1..=31).contains(&day);
    if words.next() != Some("GMT") || !in_range || hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    // Days since 1970, counted in years that begin in March, so that leap days come last.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    let days = days.checked_sub(719_468)?;
    Some(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
}

/// Whether a status says that an answer follows.
pub(crate) fn is_success(status: u16) -> bool {
    (200..=299).contains(&status)
}

/// An error that a body without a stream holds.
pub(crate) fn without_stream(body: &str) -> RequestFault {
    #[derive(Deserialize)]
    struct Wrapped {
        error: Option<Value>,
    }
    match serde_json::from_str::<Wrapped>(body) {
        Ok(Wrapped { error: Some(error) }) if !error.is_null() => {
            ErrorWords::of(&error).in_stream()
        }
        Ok(_) | Err(_) => RequestFault::new(
            FaultClass::NotAProvider,
            "the provider did not answer with a stream of events; its address may be another program's",
        ),
    }
}

/// The fault of a response in an encoding that was not asked for.
pub(crate) fn encoded(encoding: &str) -> RequestFault {
    let shown: String = encoding
        .chars()
        .filter(char::is_ascii_graphic)
        .take(40)
        .collect();
    RequestFault::new(
        FaultClass::NotAProvider,
        format!(
            "the provider answered in the encoding {shown:?}, which was not asked for; turn compression off on the way to it"
        ),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dates_count_from_the_response_and_numbers_are_seconds() {
        let headers = |pairs: &'static [(&'static str, &'static str)]| {
            retry_after_ms(|name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1))
        };
        assert_eq!(headers(&[("retry-after", "7")]), Some(7_000));
        assert_eq!(headers(&[("retry-after", "0.5")]), Some(500));
        assert_eq!(
            headers(&[("retry-after-ms", "1500.2"), ("retry-after", "9")]),
            Some(1_501)
        );
        assert_eq!(
            headers(&[
                ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"),
                ("date", "Sun, 06 Nov 1994 08:49:07 GMT")
            ]),
            Some(30_000)
        );
        for odd in ["-1", "soon", "NaN", "inf", "Sun, 06 Nov 1994"] {
            assert_eq!(
                retry_after_ms(|name| (name == "retry-after").then_some(odd)),
                None,
                "{odd}"
            );
        }
        assert_eq!(
            retry_after_ms(|name| (name == "retry-after").then_some("1e300")),
            Some(u64::MAX)
        );
    }

    #[test]
    fn dates_are_counted_as_the_calendar_does() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] {
            assert_eq!(http_date(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn each_status_has_its_class() {
        let none = ErrorWords::of_body("");
        let plain = |status| none.with_status(status, None).class;
        for (status, class) in [
            (301, FaultClass::Redirected),
            (307, FaultClass::Redirected),
            (400, FaultClass::BadRequest),
            (401, FaultClass::Key),
            (402, FaultClass::SpendLimit),
            (403, FaultClass::Forbidden),
            (404, FaultClass::NotFound),
            (408, FaultClass::Timeout),
            (409, FaultClass::Conflict),
            (413, FaultClass::TooLarge),
            (418, FaultClass::BadRequest),
            (422, FaultClass::BadRequest),
            (429, FaultClass::RateLimit),
            (500, FaultClass::Server),
            (501, FaultClass::BadRequest),
            (502, FaultClass::Server),
            (503, FaultClass::Overloaded),
            (504, FaultClass::Server),
            (524, FaultClass::Server),
            (529, FaultClass::Overloaded),
        ] {
            assert_eq!(plain(status), class, "{status}");
        }
    }

    #[test]
    fn words_tell_apart_what_a_status_does_not() {
        let class = |status, body: Value| ErrorWords::of(&body).with_status(status, None).class;
        for (status, body, expected) in [
            (
                400,
                json!({"error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}}),
                FaultClass::WindowFull,
            ),
            (
                400,
                json!({"error": {"code": "context_length_exceeded", "type": "invalid_request_error"}}),
                FaultClass::WindowFull,
            ),
            (
                400,
                json!({"error": {"type": "exceed_context_size_error", "message": "the request exceeds the available context size"}}),
                FaultClass::WindowFull,
            ),
            (
                400,
                json!({"error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access the API"}}),
                FaultClass::SpendLimit,
            ),
            (
                400,
                json!({"error": {"message": "input length and `max_tokens` exceed context limit: 9 + 9 > 12"}}),
                FaultClass::WindowFull,
            ),
            (
                400,
                json!({"error": {"code": "content_policy_violation"}}),
                FaultClass::Policy,
            ),
            (
                400,
                json!({"error": "model not loaded"}),
                FaultClass::BadRequest,
            ),
            (
                429,
                json!({"error": {"code": "insufficient_quota"}}),
                FaultClass::SpendLimit,
            ),
            (
                429,
                json!({"error": {"type": "enforced_spend_limit_reached"}}),
                FaultClass::SpendLimit,
            ),
            (401, json!({"detail": "no"}), FaultClass::Key),
            (
                429,
                json!({"error": {"code": "rate_limit_exceeded", "type": "tokens", "message": "Request too large for m on tokens per min (TPM): Limit 30000, Requested 90000."}}),
                FaultClass::TooLarge,
            ),
            (
                429,
                json!({"error": {"code": "rate_limit_exceeded", "type": "tokens", "message": "Rate limit reached for m on tokens per min (TPM)."}}),
                FaultClass::RateLimit,
            ),
        ] {
            assert_eq!(class(status, body.clone()), expected, "{body}");
        }
        let timed = ErrorWords::of(&json!({"error": {"code": "insufficient_quota"}}));
        assert_eq!(
            timed.with_status(429, Some(7_000)).class,
            FaultClass::RateLimit
        );
    }

    #[test]
    fn a_window_that_is_full_is_known_in_the_words_of_every_server() {
        for (status, body) in [
            // Anthropic.
            (
                400,
                json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}}),
            ),
            (
                413,
                json!({"error": {"type": "request_too_large", "code": "model_context_window_exceeded", "message": "Prompt is too long"}}),
            ),
            // OpenAI, both wires.
            (
                400,
                json!({"error": {"message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}),
            ),
            (
                400,
                json!({"error": {"message": "Your input exceeds the context window of this model. Please adjust your input and try again.", "type": "invalid_request_error"}}),
            ),
            (
                400,
                json!({"error": {"message": "Input tokens exceed the configured limit of 272000 tokens.", "type": "invalid_request_error"}}),
            ),
            (
                400,
                json!({"error": {"message": "Invalid 'input[0].content': string too long.", "code": "string_above_max_length"}}),
            ),
            // llama.cpp.
            (
                400,
                json!({"error": {"code": 400, "message": "the request exceeds the available context size, try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 5000, "n_ctx": 4096}}),
            ),
            (
                500,
                json!({"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}}),
            ),
            (
                400,
                json!({"error": {"message": "input is larger than the max context size. skipped"}}),
            ),
            // vLLM.
            (
                400,
                json!({"object": "error", "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages.", "type": "BadRequestError", "code": 400}),
            ),
            (
                400,
                json!({"error": {"message": "The decoder prompt (length 5000) is longer than the maximum model length of 4096.", "type": "BadRequestError", "code": 400}}),
            ),
            // Ollama and LM Studio.
            (
                400,
                json!({"error": {"message": "prompt too long; exceeded max context length by 5 tokens"}}),
            ),
            (
                400,
                json!({"error": "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}),
            ),
            // Gateways.
            (
                400,
                json!({"error": {"message": "litellm.ContextWindowExceededError: Input is too long for requested model."}}),
            ),
            (
                422,
                json!({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097"}),
            ),
        ] {
            let fault = ErrorWords::of(&body).with_status(status, None);
            assert_eq!(fault.class, FaultClass::WindowFull, "{status} {body}");
        }
    }

    #[test]
    fn pages_are_never_shown_and_long_words_are_cut() {
        let page = ErrorWords::of_body(" <!doctype html><h1>502</h1>").with_status(502, None);
        assert!(!page.message.contains("html"), "{page}");
        let long = ErrorWords::of_body(&"\u{6f22}\n".repeat(10_000)).with_status(500, None);
        assert!(
            long.message.len() < 700 && !long.message.contains('\n'),
            "{long}"
        );
    }

    #[test]
    fn a_body_without_a_stream_says_its_error_or_that_it_is_none() {
        let error = without_stream(r#"{"error":{"type":"overloaded_error","message":"busy"}}"#);
        assert_eq!(error.class, FaultClass::Overloaded);
        for body in ["", "<html>", r#"{"choices":[]}"#, r#"{"error":null}"#] {
            let fault = without_stream(body);
            assert_eq!(fault.class, FaultClass::NotAProvider, "{body}");
            assert!(
                !fault.is_retryable(),
                "asking again does not mend an address"
            );
        }
    }
}
