"""dspy: four turns, with a History that drops one field and adds another."""
import asyncio

import dspy

from runs import BASE, MODEL, play


class Chat(dspy.Signature):
    question: str = dspy.InputField()
    history: dspy.History = dspy.InputField()
    answer: str = dspy.OutputField()


async def one(key, task):
    lm = dspy.LM(f"openai/{MODEL}", api_base=BASE, api_key=key, cache=False)

    def talk():
        with dspy.context(lm=lm):
            history = dspy.History(messages=[])
            for text in (task, "And the way back?", "And then?", "Thank you."):
                answer = dspy.ChainOfThought(Chat)(question=text, history=history).answer
                history.messages.append({"question": text, "answer": answer, "rating": "good"})

    await asyncio.to_thread(talk)


play(one)
