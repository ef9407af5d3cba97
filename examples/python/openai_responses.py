"""Responses. CONTINUE=history sends all items again with every call; else each call names the response before it."""

import json
import os

from openai import OpenAI
from task import GATEWAY, HEADERS, KEY, MODEL, QUESTION, SCHEMA, STREAM, get_weather, report

SENDS_HISTORY = os.environ.get("CONTINUE") == "history"
client = OpenAI(base_url=f"{GATEWAY}/v1", api_key=KEY, default_headers=HEADERS)


def ask(items: list, previous: str | None):
    tools = [{"type": "function", **SCHEMA}]
    body = {"model": MODEL, "tools": tools, "input": items, "previous_response_id": previous}
    if not STREAM:
        return client.responses.create(**body)
    with client.responses.stream(**body) as stream:
        return stream.get_final_response()


items: list = [{"role": "user", "content": QUESTION}]
response = ask(items, None)
while calls := [item for item in response.output if item.type == "function_call"]:
    results = [
        {"type": "function_call_output", "call_id": call.call_id, "output": get_weather(**json.loads(call.arguments))}
        for call in calls
    ]
    items = [*items, *response.output, *results] if SENDS_HISTORY else results
    response = ask(items, None if SENDS_HISTORY else response.id)
report(response.output_text)
