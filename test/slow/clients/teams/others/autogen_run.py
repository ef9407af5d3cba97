"""AutoGen: an agent as a tool, or a team that speaks in turn."""
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_agentchat.tools import AgentTool
from autogen_ext.models.openai import OpenAIChatCompletionClient

from runs import BASE, KIND, MODEL, get_weather, play

INFO = {"vision": False, "function_calling": True, "json_output": True, "family": "unknown", "structured_output": False}


async def one(key, task):
    client = OpenAIChatCompletionClient(model=MODEL, base_url=BASE, api_key=key, model_info=INFO)
    expert = AssistantAgent("expert", client, tools=[get_weather], description="Knows the weather.", system_message="You know the weather.", reflect_on_tool_use=True)
    if KIND == "team":
        critic = AssistantAgent("critic", client, description="Criticises.", system_message="You criticise.")
        await RoundRobinGroupChat([expert, critic], termination_condition=MaxMessageTermination(8)).run(task=task)
    else:
        await AssistantAgent("lead", client, tools=[AgentTool(expert)], system_message="You plan.", max_tool_iterations=4).run(task=task)


play(one)
