"""pydantic-ai: an agent in a tool of another, over two turns."""
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from runs import BASE, MODEL, get_weather, play


async def one(key, task):
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=BASE, api_key=key))
    expert = Agent(model, instructions="You know the weather.", tools=[get_weather])

    async def ask_expert(task: str) -> str:
        """Asks the expert."""
        return (await expert.run(task)).output

    lead = Agent(model, instructions="You plan.", tools=[ask_expert])
    first = await lead.run(task)
    await lead.run("And the way back?", message_history=first.all_messages())


play(one)
