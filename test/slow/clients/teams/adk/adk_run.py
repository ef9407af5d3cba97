"""Google's ADK: an agent as a tool."""
from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

from runs import BASE, MODEL, get_weather, play


async def one(key, task):
    model = LiteLlm(model=f"openai/{MODEL}", api_base=BASE, api_key=key)
    expert = LlmAgent(name="expert", model=model, description="Knows the weather.", instruction="You know the weather.", tools=[get_weather])
    runner = InMemoryRunner(LlmAgent(name="lead", model=model, instruction="You plan.", tools=[AgentTool(expert)]), app_name="app")
    session = await runner.session_service.create_session(app_name="app", user_id="user")
    said = types.Content(role="user", parts=[types.Part(text=task)])
    async for _ in runner.run_async(user_id="user", session_id=session.id, new_message=said):
        pass


play(one)
