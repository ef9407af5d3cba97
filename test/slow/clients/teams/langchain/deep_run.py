"""deepagents: a sub-agent; its summarisation after KIND messages."""
from deepagents import create_deep_agent
from langchain_openai import ChatOpenAI

from runs import BASE, MODEL, get_weather, play


async def one(key, task):
    model = ChatOpenAI(model=MODEL, base_url=BASE, api_key=key)
    expert = {"name": "expert", "description": "Knows the weather.", "system_prompt": "You know the weather.", "tools": [get_weather]}
    lead = create_deep_agent(model=model, tools=[], system_prompt="You plan.", subagents=[expert])
    await lead.ainvoke({"messages": [{"role": "user", "content": task}]})


play(one)
