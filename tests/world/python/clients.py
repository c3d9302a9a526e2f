"""One session of each wire by a client of the wire's maker: a thought, a call, its result, the end.

Usage: clients.py WIRE BASE-URL. Prints one JSON object: what was understood, and every event of the stream that
is not as the maker's own types describe it.
"""

import json
import sys

import anthropic
import openai
from anthropic.types import RawMessageStreamEvent
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter, ValidationError

MODEL = "m-1"
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
SEEN = "It says \u6f22\u5b57."

faults = []


def held_to(types, events):
    """The events as they come, each held to the types."""
    judge = TypeAdapter(types)
    for event in events:
        # Only what was sent counts: a client makes objects of whatever comes.
        sent = json.loads(event.model_dump_json(exclude_unset=True, warnings=False))
        try:
            judge.validate_python(sent)
        except ValidationError as fault:
            said = fault.errors(include_url=False, include_input=False)
            faults.append([sent.get("type", "chunk"), [f"{one['loc']}: {one['msg']}" for one in said][:4]])
        yield event


def messages(url):
    client = anthropic.Anthropic(base_url=url.removesuffix("/v1"), api_key="k", max_retries=0)
    tools = [{"name": "read_file", "description": "Reads.", "input_schema": SCHEMA}]
    said, history = [], [{"role": "user", "content": [{"type": "text", "text": "Read a.md."}]}]
    for _ in range(2):
        raw = client.messages.create(
            model=MODEL, max_tokens=4096, messages=history, tools=tools, stream=True,
            thinking={"type": "enabled", "budget_tokens": 1024},
        )
        for _event in held_to(RawMessageStreamEvent, raw):
            pass
        with client.messages.stream(
            model=MODEL, max_tokens=4096, messages=history, tools=tools,
            thinking={"type": "enabled", "budget_tokens": 1024},
        ) as stream:
            answer = stream.get_final_message()
        calls = [block for block in answer.content if block.type == "tool_use"]
        said.append({
            "text": "".join(block.text for block in answer.content if block.type == "text"),
            "thought": "".join(block.thinking for block in answer.content if block.type == "thinking"),
            "calls": [[call.name, call.input] for call in calls],
            "stop": answer.stop_reason,
            "tokens": answer.usage.input_tokens,
        })
        history.append({"role": "assistant", "content": answer.content})
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": SEEN} for call in calls]
        history.append({"role": "user", "content": results})
    return said


def chat(url):
    client = openai.OpenAI(base_url=url, api_key="k", max_retries=0)
    function = {"name": "read_file", "description": "Reads.", "parameters": SCHEMA}
    tools = [{"type": "function", "function": function}]
    said, history = [], [{"role": "user", "content": "Read a.md."}]
    for _ in range(2):
        raw = client.chat.completions.create(
            model=MODEL, messages=history, tools=tools, stream=True, stream_options={"include_usage": True}
        )
        for _event in held_to(ChatCompletionChunk, raw):
            pass
        with client.chat.completions.stream(
            model=MODEL, messages=history, tools=tools, stream_options={"include_usage": True}
        ) as stream:
            for _event in stream:
                pass
            answer = stream.get_final_completion()
        message = answer.choices[0].message
        calls = message.tool_calls or []
        said.append({
            "text": message.content or "",
            "calls": [[call.function.name, json.loads(call.function.arguments)] for call in calls],
            "stop": answer.choices[0].finish_reason,
            "tokens": answer.usage.prompt_tokens,
        })
        made = [
            {"id": call.id, "type": "function",
             "function": {"name": call.function.name, "arguments": call.function.arguments}}
            for call in calls
        ]
        history.append({"role": "assistant", "content": message.content, "tool_calls": made})
        history += [{"role": "tool", "tool_call_id": call.id, "content": SEEN} for call in calls]
    return said


def responses(url):
    client = openai.OpenAI(base_url=url, api_key="k", max_retries=0)
    tools = [{"type": "function", "name": "read_file", "description": "Reads.", "parameters": SCHEMA, "strict": False}]
    part = {"type": "input_text", "text": "Read a.md."}
    said, history = [], [{"type": "message", "role": "user", "content": [part]}]
    for _ in range(2):
        raw = client.responses.create(
            model=MODEL, input=history, tools=tools, stream=True, store=False,
            include=["reasoning.encrypted_content"],
        )
        for _event in held_to(ResponseStreamEvent, raw):
            pass
        with client.responses.stream(
            model=MODEL, input=history, tools=tools, store=False, include=["reasoning.encrypted_content"]
        ) as stream:
            for _event in stream:
                pass
            answer = stream.get_final_response()
        calls = [item for item in answer.output if item.type == "function_call"]
        said.append({
            "text": answer.output_text,
            "thought": "".join(
                part.text for item in answer.output if item.type == "reasoning" for part in item.summary
            ),
            "calls": [[call.name, json.loads(call.arguments)] for call in calls],
            "stop": answer.status,
            "tokens": answer.usage.input_tokens,
        })
        history += [item.model_dump(exclude_unset=True, exclude={"parsed_arguments"}) for item in answer.output]
        history += [{"type": "function_call_output", "call_id": call.call_id, "output": SEEN} for call in calls]
    return said


wire, url = sys.argv[1:]
print(json.dumps({"said": globals()[wire](url), "faults": faults}))
