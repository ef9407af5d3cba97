"""LangChain, with the loop written out."""

from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from task import GATEWAY, HEADERS, KEY, MODEL, QUESTION, STREAM, get_weather, report

weather = tool(get_weather)
model = ChatOpenAI(model=MODEL, base_url=f"{GATEWAY}/v1", api_key=KEY, default_headers=HEADERS).bind_tools([weather])


def ask(messages: list):
    if not STREAM:
        return model.invoke(messages)
    whole = None
    for chunk in model.stream(messages):
        whole = chunk if whole is None else whole + chunk
    return whole


messages: list = [HumanMessage(QUESTION)]
while (answer := ask(messages)).tool_calls:
    messages += [answer, *(weather.invoke(call) for call in answer.tool_calls)]
report(answer.text)
