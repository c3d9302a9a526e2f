//! What a chat says where a message is empty, an answer is empty, and where a chat is left.

use a_society_stand_in::{Ending, Server};

use super::chatted::{Echo, chat_of};
use super::models::{says, streamed, with_model_at};

const CHAT: [&str; 3] = ["chat", "--project", "demo"];

#[test]
fn a_line_that_is_not_text_is_refused_by_its_number_and_the_chat_is_kept() {
    let model = Echo::start();
    let place = model.place();
    let said = place
        .workspace
        .run_with(&CHAT, b"One.\n\n\xff\xfe\nThree.\n");
    assert_eq!(
        (said.code, said.out.as_str()),
        (1, "You said: One.\n"),
        "{said:?}"
    );
    for words in [
        "line 3 of standard input is no message",
        "it is not UTF-8 text",
        "a-society chat --resume ",
    ] {
        assert!(said.err.contains(words), "{said:?}");
    }
    let chat = chat_of(&place);
    let again = [&CHAT[..1], &["--resume", &chat, "--once", "Three."]].concat();
    let said = place.run(&again);
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "You said: Three.\n"),
        "{said:?}"
    );
}

#[test]
fn an_empty_answer_is_said_to_be_empty() {
    let server = Server::by(|_, _| streamed(vec![says(&[])], Ending::Natural, 100));
    let place = with_model_at(&server.url(), "anthropic");
    let said = place.run(&[&CHAT[..], &["--once", "Say nothing."]].concat());
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    assert!(said.err.contains("the answer is empty"), "{said:?}");
}

#[test]
fn whatever_leaves_a_chat_names_the_command_that_goes_on_with_a_chat() {
    let model = Echo::start();
    let place = model.place();
    let once = [&CHAT[..], &["--once", "First."]].concat();
    assert_eq!(place.run(&once).code, 0);
    let chat = chat_of(&place);
    for words in [&["fork", &chat][..], &["mode", &chat, "full"]] {
        let said = place.run(words);
        assert_eq!(said.code, 0, "{words:?}: {said:?}");
        let way = "continue with: a-society chat --resume ";
        assert!(said.err.contains(way), "{words:?}: {said:?}");
    }
}

#[test]
fn a_chat_in_a_worktree_knows_its_branch() {
    let model = Echo::start();
    let place = model.place();
    let folder = place.workspace.path().join("git/worktrees/side");
    std::fs::create_dir_all(folder).unwrap();
    place.write("git/worktrees/side/HEAD", "ref: refs/heads/side-branch\n");
    place.write("demo/.git", "gitdir: ../git/worktrees/side\n");
    let mut command = place.workspace.command(&["chat", "--once", "Hello."]);
    command.current_dir(place.workspace.path().join("demo"));
    let said = command.output().unwrap();
    assert!(said.status.success(), "{said:?}");
    let system = model.bodies()[0]["system"].to_string();
    assert!(system.contains("side-branch"), "{system}");
}
