"""smolagents: a managed agent; both may plan."""
import asyncio

import smolagents

from runs import BASE, KIND, MODEL, get_weather, play


async def one(key, task):
    model = smolagents.OpenAIServerModel(MODEL, api_base=BASE, api_key=key)
    how = {"model": model, "max_steps": 6, "verbosity_level": 0, "planning_interval": 4 if KIND == "plan" else None}
    expert = smolagents.ToolCallingAgent([smolagents.tool(get_weather)], name="expert", description="Knows the weather.", **how)
    lead = smolagents.ToolCallingAgent([], managed_agents=[expert], **how)
    await asyncio.to_thread(lead.run, task)


play(one)
