"""What every example of this folder does: it asks for the weather in two cities, and lends the model a tool."""

import os
from typing import Literal

QUESTION = "What is the weather like in Paris, and what in Lisbon?"

GATEWAY = os.environ.get("GATEWAY_URL", "http://127.0.0.1:8080")
# For the engines, if they want one; most clients insist on having one.
KEY = os.environ.get("API_KEY", "none")
MODEL = os.environ.get("MODEL", "llama-3.1-8b")
STREAM = os.environ.get("STREAM") == "1"
# Names the program outright; without it maitred recognises a program by its conversation.
HEADERS = {"x-maitred-program": os.environ["PROGRAM"]} if os.environ.get("PROGRAM") else {}

SKIES = {"Paris": "sunny", "Lisbon": "rainy"}

# The same tool as a schema, for clients that do not read it from the function.
SCHEMA = {
    "name": "get_weather",
    "description": "Tells the weather in a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "enum": list(SKIES)}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": True,
}


def get_weather(city: Literal["Paris", "Lisbon"]) -> str:
    """Tells the weather in a city."""
    result = f"It is {SKIES[city]} in {city}."
    print(f"get_weather: {result}")
    return result


def report(answer: str) -> None:
    print(f"answer: {answer}")
