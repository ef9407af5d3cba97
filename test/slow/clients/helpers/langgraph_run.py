"""A planner, then an agent with a tool and a sub-agent: python langgraph_run.py URL GATEWAY invoke|ainvoke|stream [NAME]"""

import asyncio
import logging
import sys
import time

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from maitred_langchain import MaitredCallback
from maitred_program import http_async_client, http_client

url, gateway, how, *name = sys.argv[1:]
logging.basicConfig(level=logging.WARNING, stream=sys.stdout, format="warning: %(name)s")
model = ChatOpenAI(
    model="llama-3.1-8b",
    base_url=f"{url}/v1",
    api_key="none",
    http_client=http_client(),
    http_async_client=http_async_client(),
)


@tool
def get_weather(city: str) -> str:
    """Tells the weather."""
    if city == "Atlantis":
        raise ValueError("no such city")
    return f"sun in {city}"


@tool
async def research(city: str) -> str:
    """Looks into a city."""
    task = {"messages": [("user", city)]}
    return (await researcher.ainvoke(task))["messages"][-1].content


@tool("research")
def research_sync(city: str) -> str:
    """Looks into a city."""
    return researcher.invoke({"messages": [("user", city)]})["messages"][-1].content


def plan(state):
    return {"messages": [model.invoke([("system", "You plan."), *state["messages"]])]}


researcher = create_agent(model, [get_weather], system_prompt="You research.")
worker = create_agent(model, [research if how == "ainvoke" else research_sync, get_weather], system_prompt="You work.")
graph = StateGraph(MessagesState)
graph.add_node("plan", plan)
graph.add_node("worker", worker)
graph.add_edge(START, "plan")
graph.add_edge("plan", "worker")
graph.add_edge("worker", END)
agent = graph.compile()

callback = MaitredCallback(gateway, workflow="trip")
config = {"callbacks": [callback], "metadata": {"maitred_program": name[0]} if name else {}}


async def run(task: str) -> str:
    question = {"messages": [("user", task)]}
    if how == "ainvoke":
        return (await agent.ainvoke(question, config))["messages"][-1].content
    if how == "invoke":
        return (await asyncio.to_thread(agent.invoke, question, config))["messages"][-1].content
    answer = ""
    async for chunk, metadata in agent.astream(question, config, stream_mode="messages"):
        answer = chunk.content if chunk.type == "ai" and metadata["langgraph_node"] == "model" else answer
    return "streamed"


async def main() -> None:
    begun = time.monotonic()
    for answer in await asyncio.gather(run("Rome"), run("Oslo")):
        print(answer)
    print(f"seconds: {time.monotonic() - begun:.1f}")
    assert not callback._runs


asyncio.run(main())
