"""Sessions for vLLM's prefix cache: `vllm serve MODEL --scheduler-cls maitred_vllm.make_scheduler`.

`leases.py` is apart: the order of eviction from host memory. `sessions.py` holds the order of eviction from the GPU, `scheduler.py` connects it with vLLM, `announce.py` shows it in `/metrics`.
"""

import logging

# vLLM's interface is not public. These releases were tried.
TRIED = ("0.32.0",)
# Name for `--scheduler-cls`.
NAME = "maitred_vllm.make_scheduler"


def is_tried(version: str) -> bool:
    """Whether this release of vLLM was tried; builds such as `0.32.0+cpu` are the same release."""
    return version.partition("+")[0] in TRIED


def make_scheduler(**arguments):
    """Makes vLLM's scheduler, with sessions where its release was tried. Called by vLLM in place of a class."""
    import vllm

    from .scheduler import stock, with_sessions

    Stock = stock(arguments["vllm_config"])
    if is_tried(vllm.__version__):
        return with_sessions(Stock)(**arguments)
    logging.getLogger("vllm.maitred").warning(
        "maitred_vllm was tried with vLLM %s, not with %s: its scheduler is left as it is",
        ", ".join(TRIED),
        vllm.__version__,
    )
    return Stock(**arguments)
