"""atomic-agents: four turns; the answers come back as re-printed JSON."""
import instructor
from atomic_agents import AgentConfig, AtomicAgent, BasicChatInputSchema
from openai import AsyncOpenAI

from runs import BASE, KIND, MODEL, play


async def one(key, task):
    mode = instructor.Mode.JSON if KIND == "json" else instructor.Mode.TOOLS
    client = instructor.from_openai(AsyncOpenAI(base_url=BASE, api_key=key), mode=mode)
    agent = AtomicAgent(AgentConfig(client=client, model=MODEL))
    for text in (task, "And the way back?", "And then?", "Thank you."):
        await agent.run_async(BasicChatInputSchema(chat_message=text))


play(one)
