"""dspy's ReAct at one task: python react.py URL TASK"""
import sys

import dspy

url, task = sys.argv[1:]
dspy.configure(lm=dspy.LM("openai/llama-3.1-8b", api_base=f"{url}/v1", api_key="none", cache=False))


def get_weather(city: str) -> str:
    return f"sun in {city}"


print(dspy.ReAct("question -> answer", tools=[get_weather], max_iters=6)(question=task).answer)
