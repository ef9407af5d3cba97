"""Anthropic messages, with the tool loop written out. The base URL is without `/v1`."""

from anthropic import Anthropic
from task import GATEWAY, HEADERS, KEY, MODEL, QUESTION, SCHEMA, STREAM, get_weather, report

client = Anthropic(base_url=GATEWAY, api_key=KEY, default_headers=HEADERS)
tool = {"name": SCHEMA["name"], "description": SCHEMA["description"], "input_schema": SCHEMA["parameters"]}
messages: list = [{"role": "user", "content": QUESTION}]


def ask():
    body = {"model": MODEL, "max_tokens": 1000, "tools": [tool], "messages": messages}
    if not STREAM:
        return client.messages.create(**body)
    with client.messages.stream(**body) as stream:
        return stream.get_final_message()


while (message := ask()).stop_reason == "tool_use":
    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": get_weather(**block.input)}
        for block in message.content
        if block.type == "tool_use"
    ]
    messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
report("".join(block.text for block in message.content if block.type == "text"))
