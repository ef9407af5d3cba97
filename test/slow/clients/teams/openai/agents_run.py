"""openai-agents: agents as tools over chat or responses, or hand-offs with a session."""
from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, SQLiteSession, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from runs import BASE, KIND, MODEL, get_weather, play

set_tracing_disabled(True)


async def one(key, task):
    client = AsyncOpenAI(base_url=BASE, api_key=key)
    model = (OpenAIResponsesModel if KIND == "responses" else OpenAIChatCompletionsModel)(MODEL, client)
    expert = Agent(name="expert", instructions="You know the weather.", model=model, tools=[function_tool(get_weather)])
    if KIND == "handoff":
        lead = Agent(name="lead", instructions="You plan.", model=model, handoffs=[expert])
    else:
        lead = Agent(name="lead", instructions="You plan.", model=model, tools=[expert.as_tool("ask_expert", "Asks the expert.")])
    session = SQLiteSession(key)
    await Runner.run(lead, task, session=session)
    await Runner.run(lead, "And the way back?", session=session)


play(one)
