"""LangChain: an agent whose history is summarised again and again."""
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_openai import ChatOpenAI

from runs import BASE, MODEL, get_weather, play


async def one(key, task):
    model = ChatOpenAI(model=MODEL, base_url=BASE, api_key=key)
    summary = SummarizationMiddleware(model, trigger=("messages", 6), keep=("messages", 2))
    agent = create_agent(model, [get_weather], system_prompt="You know the weather.", middleware=[summary])
    messages = []
    for text in (task, "And tomorrow?", "And next week?", "And on the way back?"):
        messages = (await agent.ainvoke({"messages": [*messages, {"role": "user", "content": text}]}))["messages"]


play(one)
