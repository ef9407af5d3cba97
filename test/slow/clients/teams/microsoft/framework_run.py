"""Microsoft's agent-framework: an agent as a tool, over chat, or over responses that the engine keeps."""
from agent_framework import Agent
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient

from runs import BASE, KIND, MODEL, get_weather, play


async def one(key, task):
    client = (OpenAIChatClient if KIND == "responses" else OpenAIChatCompletionClient)(model=MODEL, base_url=BASE, api_key=key)
    expert = Agent(client=client, name="expert", description="Knows the weather.", instructions="You know the weather.", tools=[get_weather])
    await Agent(client=client, name="lead", instructions="You plan.", tools=[expert.as_tool()]).run(task)


play(one)
