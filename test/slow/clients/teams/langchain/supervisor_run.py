"""langgraph-supervisor: a supervisor that passes the conversation on."""
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph_supervisor import create_supervisor

from runs import BASE, MODEL, get_weather, play


async def one(key, task):
    model = ChatOpenAI(model=MODEL, base_url=BASE, api_key=key)
    expert = create_agent(model, [get_weather], name="expert", system_prompt="You know the weather.")
    lead = create_supervisor([expert], model=model, prompt="You plan.").compile()
    await lead.ainvoke({"messages": [{"role": "user", "content": task}]})


play(one)
