"""Tells maitred, a gateway in front of LLM engines, what a program does. Copy this file.

A program is one run of an agent. Its name goes with each call, in headers; its end is told beside the calls. Telling
never waits and never raises: a thread sends, at most 256 messages wait for it, and the first loss is logged as a warning
of the logger "maitred". Needs the `openai` package.
"""

import atexit
import logging
import queue
import threading
import time
import uuid
from contextvars import ContextVar
from urllib.parse import quote

from openai import DefaultAsyncHttpxClient, DefaultHttpxClient

# Headers of the model call that this context is about to send.
CALL: ContextVar[dict[str, str]] = ContextVar("maitred_call", default={})


def _name(request) -> None:
    request.headers.update(CALL.get())


async def _name_async(request) -> None:
    _name(request)


def http_client(**options) -> DefaultHttpxClient:
    """For `OpenAI(http_client=...)` and its like: adds the names to every call. One client serves all programs."""
    return DefaultHttpxClient(event_hooks={"request": [_name]}, **options)


def http_async_client(**options) -> DefaultAsyncHttpxClient:
    """The same for `AsyncOpenAI`."""
    return DefaultAsyncHttpxClient(event_hooks={"request": [_name_async]}, **options)


class Program:
    """One run of an agent. As a context manager, it ends with its block. Use a new id for each run.

    :param workflow: your own name of such runs, which the gateway's page shows
    :param api_key: a key of the gateway, if it has any
    """

    def __init__(self, gateway="http://127.0.0.1:8080", id=None, workflow=None, api_key=None):
        self.id = id or f"run-{uuid.uuid4()}"
        if not (self.id.isascii() and self.id.isprintable() and len(self.id) <= 256):
            raise ValueError("the id of a program must be 1 to 256 printable ASCII characters")
        self._url = f"{gateway.rstrip('/').removesuffix('/v1')}/programs/{quote(self.id, safe='')}"
        self._workflow = workflow
        self._auth = {"authorization": f"Bearer {api_key}"} if api_key else {}

    def headers(self, thread=None) -> dict[str, str]:
        """Headers of a call. `thread` names a conversation beside the main one, such as a sub-agent's."""
        names = {"program": self.id, "thread": thread, "workflow": self._workflow}
        return {f"x-maitred-{key}": _ascii(name) for key, name in names.items() if name}

    def end(self) -> None:
        """The gateway forgets the program: a later call of its id begins a new one."""
        _tell(f"{self._url}/end", self._auth)

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        CALL.set({})
        self.end()


def _ascii(name: str) -> str:
    """Names of a framework may have any characters and length, headers may not. The end of a name tells most."""
    return name.encode("unicode_escape").decode()[-256:]


_messages, _starting, _sender, _warned = queue.Queue(256), threading.Lock(), None, False


def _tell(url, headers) -> None:
    global _sender
    try:
        _messages.put_nowait((time.monotonic(), url, headers))
        with _starting:
            # None is alive at first, and in a process that was forked.
            if _sender is None or not _sender.is_alive():
                _sender = threading.Thread(target=_send, name="maitred", daemon=True)
                _sender.start()
    except Exception as error:
        _warn(error)


def _send() -> None:
    with DefaultHttpxClient(timeout=2) as client:
        while True:
            told, url, headers = _messages.get()
            try:
                if time.monotonic() - told > 5:
                    raise TimeoutError("the gateway has not answered for so long that this is no news")
                answer = client.post(url, headers=headers, json={})
                # A program without a call is unknown, and has nothing to end.
                if answer.is_error and "unknown_program" not in answer.text:
                    _warn(f"{url} answers {answer.status_code}")
            except Exception as error:
                _warn(error)
            finally:
                _messages.task_done()


def _warn(reason) -> None:
    global _warned
    if not _warned:
        _warned = True
        logging.getLogger("maitred").warning("maitred was not told of an end: %r", reason)


@atexit.register
def _flush() -> None:
    """The end of the last program is told after its last line: waits for it, but not for a gateway that is away."""
    until = time.monotonic() + 1
    while _messages.unfinished_tasks and time.monotonic() < until:
        time.sleep(0.01)
