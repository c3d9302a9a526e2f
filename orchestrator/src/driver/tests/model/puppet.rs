//! The puppet, as those who ask it see it.

use super::*;

impl Provider for Puppet {
    fn name(&self) -> &str {
        "puppet"
    }

    fn prepare(&self, request: &ModelRequest<'_>) -> Result<Prepared, RequestFault> {
        let messages: Vec<Message> = request
            .messages
            .iter()
            .map(|said| Message::clone(&said.message))
            .collect();
        let body = serde_json::to_vec(&messages).unwrap();
        Ok(Prepared {
            model: request.model.to_owned(),
            hash: Hash::of(&body),
            body: body.into(),
            needs_arguments: Default::default(),
            offered: Default::default(),
        })
    }

    fn start(&self, prepared: Prepared, stop: &StopSignal) -> AnswerStream {
        let messages: Vec<Message> = serde_json::from_slice(&prepared.body.whole()).unwrap();
        let follows = self.says.map(|says| says(&messages));
        self.asked.lock().unwrap().push(messages);
        let answer = self.answers.lock().unwrap().pop_front().or(follows);
        let nothing = || fault(FaultClass::BadRequest);
        AnswerStream::of(answer.unwrap_or_else(nothing), stop)
    }
}
