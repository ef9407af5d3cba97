"""Runs at once of one team of agents: python FILE URL RUNS [KIND]. Each run has an API key of its own."""
import asyncio
import os
import sys

BASE, RUNS, KIND = f"{sys.argv[1]}/v1", int(sys.argv[2]), (sys.argv + [""])[3]
MODEL = "llama-3.1-8b"


def get_weather(city: str) -> str:
    """Tells the weather.

    Args:
        city: where
    """
    return f"sun in {city}"


def play(one) -> None:
    """Plays `one(key, task)` for all runs, and ends without what frameworks leave behind."""

    async def all_runs():
        await asyncio.gather(*(one(f"run-{i}", f"Plan the journey number {i} through the mountains.") for i in range(RUNS)))

    asyncio.run(all_runs())
    print("done", flush=True)
    os._exit(0)
