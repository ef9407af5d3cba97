"""CrewAI: an agent that delegates to another."""
import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false", "OTEL_SDK_DISABLED": "true"}

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool

from runs import BASE, MODEL, get_weather, play


async def one(key, task):
    llm = LLM(model=f"openai/{MODEL}", base_url=BASE, api_key=key)
    expert = Agent(role="expert", goal="Knows the weather", backstory="Old.", llm=llm, tools=[tool("get_weather")(get_weather)])
    lead = Agent(role="lead", goal="Plans", backstory="Wise.", llm=llm, allow_delegation=True)
    await Crew(agents=[lead, expert], tasks=[Task(description=task, expected_output="A plan.", agent=lead)]).kickoff_async()


play(one)
