"""Chat completions, with the tool loop written out."""

import json

from openai import OpenAI
from task import GATEWAY, HEADERS, KEY, MODEL, QUESTION, SCHEMA, STREAM, get_weather, report

client = OpenAI(base_url=f"{GATEWAY}/v1", api_key=KEY, default_headers=HEADERS)
messages: list = [{"role": "user", "content": QUESTION}]


def ask():
    body = {"model": MODEL, "messages": messages, "tools": [{"type": "function", "function": SCHEMA}]}
    if not STREAM:
        return client.chat.completions.create(**body).choices[0].message
    with client.chat.completions.stream(**body) as stream:
        return stream.get_final_completion().choices[0].message


while (message := ask()).tool_calls:
    messages.append(message)
    for call in message.tool_calls:
        result = get_weather(**json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
report(message.content)
