"""Gives vLLM's own offloading a worker for CPUs: "host memory" is a second buffer beside the KV cache.

Only the copies are ours; what is stored, found and evicted is vLLM's own. Of `kv_connector_extra_config`:
    bytes_per_second  rate of a modelled link, each way; absent: as fast as the copies are
    params_path       a file that gets the `kv_transfer_params` of each request, as lines of JSON
"""

import json
import time

import torch
from vllm.v1.kv_offload.base import OffloadingWorker, TransferResult
from vllm.v1.kv_offload.cpu.spec import CPUOffloadingSpec


class Copies(OffloadingWorker):
    """Copies at once, and tells of it when the link would be done. Blocks here and there have the same size."""

    def __init__(self, caches, chunks, bytes_per_second):
        assert len(caches.group_data_refs) == 1, "one group of layers is expected"
        self.near = [cache.tensor for cache in caches.tensors]
        self.far = [torch.zeros((chunks, *tensor.shape[1:]), dtype=tensor.dtype) for tensor in self.near]
        self.bytes_per_second = bytes_per_second
        self.busy_until = {"store": 0.0, "load": 0.0}
        self.under_way = []

    def submit_store(self, job_id, src_spec, dst_spec):
        return self.move("store", job_id, (self.near, src_spec), (self.far, dst_spec))

    def submit_load(self, job_id, src_spec, dst_spec):
        return self.move("load", job_id, (self.far, src_spec), (self.near, dst_spec))

    def move(self, way, job_id, source, target):
        began = time.perf_counter()
        (sources, source_spec), (targets, target_spec) = source, target
        from_ids, to_ids = (torch.as_tensor(spec.block_ids, dtype=torch.long) for spec in (source_spec, target_spec))
        size = 0
        for one, other in zip(sources, targets):
            rows = one[from_ids]
            other[to_ids] = rows
            size += rows.numel() * rows.element_size()
        now = time.perf_counter()
        seconds = size / self.bytes_per_second if self.bytes_per_second else now - began
        self.busy_until[way] = max(began, self.busy_until[way]) + seconds
        self.under_way.append((self.busy_until[way], TransferResult(job_id, True, size, max(seconds, 1e-6))))
        return True

    def get_finished(self):
        now = time.perf_counter()
        done = [result for end, result in self.under_way if end <= now]
        self.under_way = [(end, result) for end, result in self.under_way if end > now]
        return done

    def wait(self, job_ids):
        """The content was copied at once."""


class HostTier(CPUOffloadingSpec):
    def get_manager(self):
        manager = super().get_manager()
        path = self.extra_config.get("params_path")
        if path and "on_new_request" not in vars(manager):
            stock = manager.on_new_request

            def on_new_request(context):
                with open(path, "a") as file:
                    print(json.dumps(context.kv_transfer_params), file=file)
                return stock(context)

            manager.on_new_request = on_new_request
        return manager

    def get_worker(self, kv_caches):
        assert self.blocks_per_chunk == 1, "chunks of one block are expected"
        if self._worker is None:
            self._worker = Copies(kv_caches, self.num_chunks, self.extra_config.get("bytes_per_second"))
        return self._worker
