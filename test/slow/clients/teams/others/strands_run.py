"""Strands: an agent in a tool of another."""
from strands import Agent, tool
from strands.models.openai import OpenAIModel

from runs import BASE, MODEL, get_weather, play


async def one(key, task):
    model = OpenAIModel(client_args={"base_url": BASE, "api_key": key}, model_id=MODEL)

    @tool
    async def ask_expert(task: str) -> str:
        """Asks the expert."""
        expert = Agent(model=model, system_prompt="You know the weather.", tools=[tool(get_weather)], callback_handler=None)
        return str(await expert.invoke_async(task))

    await Agent(model=model, system_prompt="You plan.", tools=[ask_expert], callback_handler=None).invoke_async(task)


play(one)
