"""Connects sessions with vLLM's own scheduler, without a fork."""

from copy import copy

from .sessions import SessionQueue

# Fields of `vllm_xargs`, protocol 1.
SESSION = "maitred_session"
LEASE_S = "maitred_lease_s"
CLOSE = "maitred_close"
LEASE_S_DEFAULT = 1800.0


def stock(vllm_config):
    """The scheduler that vLLM would take by itself."""
    if getattr(vllm_config, "diffusion_config", None) is not None:
        raise ValueError("a diffusion model needs vLLM's own scheduler: leave --scheduler-cls out")
    config = copy(vllm_config.scheduler_config)
    config.scheduler_cls = None
    return config.get_scheduler_cls()


def with_sessions(Stock):
    """The scheduler with sessions in its prefix cache."""
    from vllm.v1.core.kv_cache_utils import FreeKVCacheBlockQueue

    class SessionScheduler(Stock):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            pool = self.kv_cache_manager.block_pool
            self._sessions = SessionQueue(pool.free_block_queue, lambda: FreeKVCacheBlockQueue([]), pool.blocks)
            if pool.enable_caching:
                pool.free_block_queue = self._sessions

        def add_request(self, request):
            self._sessions.expire()
            for session in read_list(fields_of(request).get(CLOSE)):
                self._sessions.close(session)
            super().add_request(request)

        def _free_request_blocks(self, request):
            """Also called when a request is preempted: it will want its blocks back."""
            fields = fields_of(request)
            session = fields.get(SESSION)
            pool = self.kv_cache_manager.block_pool
            if isinstance(session, str) and session and pool.free_block_queue is self._sessions:
                groups = self.kv_cache_manager.get_blocks(request.request_id).blocks
                found = [
                    block
                    for group in groups
                    for block in group
                    if block.block_hash is not None and not block.is_null and block.pool in (None, pool)
                ]
                self._sessions.use(session, found, read_seconds(fields.get(LEASE_S)))
            super()._free_request_blocks(request)

        def reset_prefix_cache(self, *args, **kwargs):
            done = super().reset_prefix_cache(*args, **kwargs)
            if done:
                self._sessions.close_all()
            return done

    return SessionScheduler


def fields_of(request):
    """What the request carries in `vllm_xargs`."""
    parameters = getattr(request, "sampling_params", None)
    return (parameters and parameters.extra_args) or {}


def read_list(value):
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def read_seconds(value):
    """A lease in seconds; anything but a positive number is the default."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and value > 0 else LEASE_S_DEFAULT
