"""The order of eviction from vLLM's host memory, by leases: `leases.py`."""
