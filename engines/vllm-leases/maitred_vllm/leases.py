"""Which contexts vLLM's host tier evicts first, by the leases that their requests carry."""

import heapq
import time

from vllm.v1.kv_offload.cpu.policies.base import CachePolicy, order_request_keys

# Of the envelope `kv_transfer_params.kv_hint`.
RETAIN = "kv.retain"
TTL_S_MAX = 3600.0
PRIORITY_MAX = 100


class LeasePolicy(CachePolicy):
    """Evicts chunks without a lease first, then those with the lowest priority; of equals, the longest unused.

    A lease ends by itself and never takes room from a store: if the others do not suffice, leased chunks go too. A chunk
    of several requests has the highest of their priorities until the last of their leases ends.
    """

    def __init__(self, cache_capacity, clock=time.monotonic):
        super().__init__(cache_capacity)
        self._clock = clock
        self._chunks = {}
        # Of each chunk: its level, 0 without a lease, and when it was used last.
        self._ranks = {}
        # Of each leased chunk, when its lease ends; and these times in order, some of which are outdated.
        self._ends = {}
        self._due = []
        # Chunks in order of eviction, with outdated entries.
        self._order = []
        self._uses = 0
        # Leases of chunks that are about to be inserted.
        self._coming = None

    def get(self, key):
        return self._chunks.get(key)

    def insert(self, key, chunk):
        self._chunks[key] = chunk
        self._use(key, self._coming)

    def remove(self, key):
        del self._chunks[key]
        del self._ranks[key]
        self._ends.pop(key, None)

    def touch(self, keys, req_context):
        lease = lease_of(req_context)
        for key in reversed(list(keys)):
            if key in self._chunks:
                self._use(key, lease)

    def on_store_miss(self, keys, req_context):
        self._coming = lease_of(req_context)

    def on_request_finished(self, key_groups, insertion_only_keys, reused_keys, req_context):
        self.touch(order_request_keys(key_groups, req_context), req_context)

    def evict(self, n, protected):
        self._expire()
        taken, passed = [], []
        while self._order and len(taken) < n:
            entry = heapq.heappop(self._order)
            rank, key = entry
            if self._ranks.get(key) != rank:
                continue
            passed.append(entry)
            if key not in protected and self._chunks[key].ref_cnt == 0:
                taken.append((key, self._chunks[key]))
        for entry in passed:
            heapq.heappush(self._order, entry)
        if len(taken) < n:
            return None
        for key, _ in taken:
            self.remove(key)
        return taken

    def clear(self):
        for held in (self._chunks, self._ranks, self._ends, self._due, self._order):
            held.clear()

    def _use(self, key, lease):
        level, _ = self._ranks.get(key, (0, 0))
        if lease is not None:
            priority, ttl_s = lease
            end = max(self._clock() + ttl_s, self._ends.get(key, 0))
            level = max(level, 1 + priority)
            if end != self._ends.get(key):
                self._ends[key] = end
                heapq.heappush(self._due, (end, key))
        self._uses += 1
        self._rank(key, (level, self._uses))

    def _rank(self, key, rank):
        self._ranks[key] = rank
        heapq.heappush(self._order, (rank, key))
        if len(self._order) > 64 + 2 * len(self._ranks):
            self._order = [(rank, key) for key, rank in self._ranks.items()]
            heapq.heapify(self._order)
            self._due = [(end, key) for key, end in self._ends.items()]
            heapq.heapify(self._due)

    def _expire(self):
        """Chunks whose leases are over keep only the time of their last use."""
        now = self._clock()
        while self._due and self._due[0][0] <= now:
            end, key = heapq.heappop(self._due)
            if self._ends.get(key) == end:
                del self._ends[key]
                self._rank(key, (0, self._ranks[key][1]))


def lease_of(req_context):
    """Priority and seconds of the request's lease; None without one, or with one of another shape or without an end."""
    hint = (req_context.kv_transfer_params or {}).get("kv_hint")
    actions = hint.get("actions") if isinstance(hint, dict) else None
    for action in actions if isinstance(actions, list) else ():
        payload = action.get("payload") if isinstance(action, dict) and action.get("action_type") == RETAIN else None
        if not isinstance(payload, dict) or not is_number(payload.get("ttl")) or payload["ttl"] <= 0:
            continue
        priority = payload.get("priority", 0)
        priority = min(PRIORITY_MAX, max(0, priority)) if is_number(priority) else 0
        return priority, min(TTL_S_MAX, payload["ttl"])
    return None


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)
