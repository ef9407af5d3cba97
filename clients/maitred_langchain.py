"""A LangChain callback that tells maitred what each run does. Copy this file and maitred_program.py.

    model = ChatOpenAI(..., http_client=http_client(), http_async_client=http_async_client())
    agent.invoke({...}, config={"callbacks": [MaitredCallback("http://127.0.0.1:8080")]})

One callback serves any number of concurrent runs. Each outermost run is a program, which ends with it. Runs that name
their program in `config={"metadata": {"maitred_program": "my-task"}}` join it, and do not end it.
"""

from dataclasses import dataclass
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from maitred_program import CALL, Program


@dataclass
class _Run:
    program: Program
    # The outermost run, if the program ends with it.
    root: UUID | None
    # The step that called a model first: its conversation is the main one.
    main: tuple[str, str] | None = None


class MaitredCallback(BaseCallbackHandler):
    # In the caller's own context, so that the names set here reach its request.
    run_inline = True

    def __init__(self, gateway="http://127.0.0.1:8080", workflow=None, api_key=None):
        """Arguments are those of `Program`."""
        self._options = {"gateway": gateway, "workflow": workflow, "api_key": api_key}
        self._runs: dict[UUID, _Run] = {}

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, metadata=None, **_):
        self._enter(run_id, parent_run_id, metadata, root=run_id)

    on_retriever_start = on_chain_start

    def on_chat_model_start(self, serialized, messages, *, run_id, parent_run_id=None, metadata=None, **_):
        # A call outside of any chain may be one of a loop, so it is not a program by itself.
        run = self._enter(run_id, parent_run_id, metadata)
        if run is None:
            return
        graph, step = _place(metadata)
        run.main = run.main or (graph, step)
        thread = "" if run.main == (graph, step) else f"{graph}|{step}".strip("|")
        CALL.set(run.program.headers(thread))

    on_llm_start = on_chat_model_start

    def on_llm_end(self, response, *, run_id, **_):
        CALL.set({})
        self._leave(response, run_id=run_id)

    on_llm_error = on_llm_end

    def on_tool_start(self, serialized, input_str, *, run_id, parent_run_id=None, metadata=None, **_):
        self._enter(run_id, parent_run_id, metadata)

    def _enter(self, run_id, parent_run_id, metadata, root=None) -> _Run | None:
        run = self._runs.get(parent_run_id)
        name = (metadata or {}).get("maitred_program")
        if run is None and (name or root):
            run = _Run(Program(id=name, **self._options), None if name else root)
        if run is not None:
            self._runs[run_id] = run
        return run

    def _leave(self, result, *, run_id, **_) -> None:
        run = self._runs.pop(run_id, None)
        if run is not None and run.root == run_id:
            run.program.end()

    on_chain_end = on_chain_error = on_retriever_end = on_retriever_error = on_tool_end = on_tool_error = _leave


def _place(metadata) -> tuple[str, str]:
    """The run of a graph, and its step; '' outside of LangGraph."""
    steps = (metadata or {}).get("langgraph_checkpoint_ns", "").split("|")
    names = [step.split(":")[0] for step in steps if not step.isdigit()]
    return "|".join(steps[:-1]), names[-1]
