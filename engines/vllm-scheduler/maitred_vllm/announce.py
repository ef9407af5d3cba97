"""Shows in `/metrics` that the scheduler is in use, which is how a gateway learns of it."""

import vllm
from prometheus_client import Gauge
from vllm.v1.metrics.loggers import StatLoggerBase

from . import NAME, is_tried

# vLLM drops metrics whose names contain its own.
METRIC = "maitred_scheduler_info"


class Announcement(StatLoggerBase):
    """Loaded by vLLM wherever the package is installed; silent unless the scheduler has sessions."""

    _gauge = None

    def __init__(self, vllm_config, engine_index=0):
        in_use = vllm_config.scheduler_config.scheduler_cls == NAME
        if not in_use or not is_tried(vllm.__version__) or Announcement._gauge is not None:
            return
        Announcement._gauge = Gauge(
            METRIC,
            "Sessions in the prefix cache, by protocol",
            labelnames=["protocol"],
            multiprocess_mode="mostrecent",
        )
        Announcement._gauge.labels(protocol="1").set(1)

    def record(self, scheduler_stats, iteration_stats, mm_cache_stats=None, engine_idx=0):
        pass

    def log_engine_initialized(self):
        pass
