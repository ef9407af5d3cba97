"""An agent of smolagents at one task: python smol.py URL TASK ToolCallingAgent|CodeAgent"""
import sys

import smolagents

url, task, kind = sys.argv[1:]


@smolagents.tool
def get_weather(city: str) -> str:
    """Tells the weather.

    Args:
        city: where
    """
    return f"sun in {city}"


model = smolagents.OpenAIServerModel("llama-3.1-8b", api_base=f"{url}/v1", api_key="none")
agent = getattr(smolagents, kind)(tools=[get_weather], model=model, max_steps=6, verbosity_level=0)
print(agent.run(task))
