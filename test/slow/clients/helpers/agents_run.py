"""An agent that hands over to one with a third as its tool: python agents_run.py URL GATEWAY run|stream NAME"""

import asyncio
import logging
import sys

from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, RunConfig, Runner, function_tool, set_tracing_disabled
from maitred_agents import run_config
from maitred_program import Program, http_async_client
from openai import AsyncOpenAI

url, gateway, how, name = sys.argv[1:]
logging.basicConfig(level=logging.WARNING, stream=sys.stdout, format="warning: %(name)s")
set_tracing_disabled(True)
client = AsyncOpenAI(base_url=f"{url}/v1", api_key="none", http_client=http_async_client())
model = OpenAIChatCompletionsModel("llama-3.1-8b", client)


@function_tool
def get_weather(city: str) -> str:
    """Tells the weather."""
    if city == "Atlantis":
        raise ValueError("no such city")
    return f"sun in {city}"


async def run(id: str, task: str) -> str:
    with Program(gateway, id=id) as program:
        settings = ModelSettings(temperature=0)
        expert = Agent(name="expert", instructions="You know.", model=model, tools=[get_weather])
        ask = expert.as_tool("ask_expert", "Asks an expert.")
        writer = Agent(name="writer", instructions="You write.", model=model, tools=[ask], model_settings=settings)
        triage = Agent(name="triage", instructions="You triage.", model=model, tools=[get_weather], handoffs=[writer])
        # A filter of the user's stays in force.
        config = run_config(program, RunConfig(call_model_input_filter=lambda data: data.model_data))
        if how == "run":
            return (await Runner.run(triage, task, run_config=config)).final_output
        result = Runner.run_streamed(triage, task, run_config=config)
        async for _ in result.stream_events():
            pass
        return result.final_output


async def main() -> None:
    for answer in await asyncio.gather(run(f"{name}-1", "Rome"), run(f"{name}-2", "Oslo")):
        print(answer)


asyncio.run(main())
