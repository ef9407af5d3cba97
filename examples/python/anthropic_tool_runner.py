"""Anthropic messages, in the client's own tool loop."""

from anthropic import Anthropic, beta_tool
from task import GATEWAY, HEADERS, KEY, MODEL, QUESTION, STREAM, get_weather, report

client = Anthropic(base_url=GATEWAY, api_key=KEY, default_headers=HEADERS)
runner = client.beta.messages.tool_runner(
    model=MODEL,
    max_tokens=1000,
    messages=[{"role": "user", "content": QUESTION}],
    tools=[beta_tool(get_weather)],
    **({"stream": True} if STREAM else {}),
)
message = runner.until_done()
report("".join(block.text for block in message.content if block.type == "text"))
