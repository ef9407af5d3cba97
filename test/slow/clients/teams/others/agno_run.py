"""agno: a team of a leader and a member."""
from agno.agent import Agent
from agno.models.openai.like import OpenAILike
from agno.team import Team

from runs import BASE, MODEL, get_weather, play


async def one(key, task):
    model = lambda: OpenAILike(id=MODEL, base_url=BASE, api_key=key)
    expert = Agent(name="expert", id="expert", role="Knows the weather", model=model(), tools=[get_weather], telemetry=False)
    await Team(name="lead", model=model(), members=[expert], telemetry=False).arun(task)


play(one)
