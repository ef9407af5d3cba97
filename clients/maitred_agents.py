"""Run hooks for the OpenAI Agents SDK that tell maitred what a run does. Copy this file and maitred_program.py.

    client = AsyncOpenAI(..., http_client=http_async_client())
    with Program("http://127.0.0.1:8080") as program:
        hooks = MaitredHooks(program)
        await Runner.run(agent, "...", hooks=hooks, run_config=hooks.run_config())

The first agent's conversation is the program's main one; each other agent has a thread of its name. An agent used as a
tool takes over `run_config`. It tells its own tools too if it gets the hooks: `agent.as_tool(..., hooks=hooks)`.
"""

from dataclasses import replace

from agents import RunConfig, RunHooks
from maitred_program import CALL, Program


class MaitredHooks(RunHooks):
    def __init__(self, program: Program):
        self._program = program
        self._main: str | None = None

    def run_config(self, config: RunConfig | None = None) -> RunConfig:
        """A configuration whose calls carry their names; other settings, also a filter of yours, stay in force."""
        config = config or RunConfig()
        given = config.call_model_input_filter

        # The SDK runs `on_llm_start` in a task of its own, whose context the call does not see.
        def name(data):
            CALL.set(self._program.headers(data.agent.name, self._thread(data.agent)))
            return given(data) if given else data.model_data

        return replace(config, call_model_input_filter=name)

    async def on_tool_start(self, context, agent, tool) -> None:
        self._program.tool_started(tool.name, self._thread(agent))

    async def on_tool_end(self, context, agent, tool, result) -> None:
        self._program.tool_finished(tool.name, self._thread(agent))

    def _thread(self, agent) -> str:
        self._main = self._main or agent.name
        return "" if agent.name == self._main else agent.name
