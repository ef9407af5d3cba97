"""LlamaIndex: an agent in a tool, a workflow of agents, or ReAct."""
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.llms.openai_like import OpenAILike

from runs import BASE, KIND, MODEL, get_weather, play


async def one(key, task):
    calls_tools = KIND != "react"
    llm = OpenAILike(model=MODEL, api_base=BASE, api_key=key, is_chat_model=True, is_function_calling_model=calls_tools)
    if KIND == "react":
        await ReActAgent(tools=[get_weather], llm=llm).run(task)
        return
    expert = FunctionAgent(name="expert", description="Knows the weather.", system_prompt="You know the weather.", llm=llm, tools=[get_weather])
    if KIND == "workflow":
        lead = FunctionAgent(name="lead", description="Plans.", system_prompt="You plan.", llm=llm, can_handoff_to=["expert"])
        await AgentWorkflow(agents=[lead, expert], root_agent="lead").run(task)
        return

    async def ask_expert(task: str) -> str:
        """Asks the expert."""
        return str(await expert.run(task))

    await FunctionAgent(name="lead", system_prompt="You plan.", llm=llm, tools=[ask_expert]).run(task)


play(one)
