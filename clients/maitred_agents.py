"""Names the calls of the OpenAI Agents SDK for maitred. Copy this file and maitred_program.py.

    client = AsyncOpenAI(..., http_client=http_async_client())
    with Program("http://127.0.0.1:8080") as program:
        await Runner.run(agent, "...", run_config=run_config(program))

The first agent's conversation is the program's main one; each other agent has a thread of its name. An agent used as a
tool takes over `run_config`.
"""

from dataclasses import replace

from agents import RunConfig
from maitred_program import CALL, Program


def run_config(program: Program, config: RunConfig | None = None) -> RunConfig:
    """A configuration of one run whose calls carry their names; other settings, also a filter of yours, stay in force."""
    config = config or RunConfig()
    given = config.call_model_input_filter
    main: str | None = None

    # The SDK runs `on_llm_start` in a task of its own, whose context the call does not see.
    def name(data):
        nonlocal main
        agent = data.agent.name
        main = main or agent
        CALL.set(program.headers("" if agent == main else agent))
        return given(data) if given else data.model_data

    return replace(config, call_model_input_filter=name)
