"""Prints the rows of KERNELS in published.ts.

    python3 -m venv venv && venv/bin/pip install aiconfigurator==0.12.0 aiconfigurator-core==0.12.0
    venv/bin/python bench/trust/kernels.py
"""

from aiconfigurator.sdk import common, models, perf_database
from aiconfigurator.sdk.backends.factory import get_backend
from aiconfigurator.sdk.config import ModelConfig, RuntimeConfig

MACHINES = [
    ("meta-llama/Meta-Llama-3.1-8B", "a100_sxm", 1, "0.14.0"),
    ("meta-llama/Meta-Llama-3.1-8B", "h100_sxm", 1, "0.24.0"),
    ("meta-llama/Meta-Llama-3.1-70B", "h100_sxm", 4, "0.24.0"),
    # The architecture of Qwen3-Coder-30B-A3B.
    ("Qwen/Qwen3-30B-A3B", "h100_sxm", 1, "0.24.0"),
]
PREFILLS = [512, 1024, 2048, 4096, 8192, 16384]
DECODES = [(1, 1024), (8, 1024), (32, 1024), (64, 1024), (128, 1024), (1, 8192), (8, 8192), (32, 8192), (1, 32768)]

backend = get_backend("vllm")
for name, system, gpus, version in MACHINES:
    database = perf_database.get_database(system, "vllm", version)
    config = ModelConfig(
        tp_size=gpus,
        pp_size=1,
        gemm_quant_mode=common.GEMMQuantMode.bfloat16,
        moe_tp_size=gpus,
        moe_ep_size=1,
        attention_dp_size=1,
    )
    model = models.get_model(name, config, "vllm")

    def ms(batch: int, tokens: int, mode: str) -> float:
        runtime = RuntimeConfig(batch_size=batch, beam_width=1, isl=tokens, osl=2 if mode == "static_gen" else 1)
        summary = backend.run_static(model, database, runtime, mode=mode)
        latencies = (
            summary.get_generation_latency_dict() if mode == "static_gen" else summary.get_context_latency_dict()
        )
        return round(float(sum(latencies.values())), 2)

    print(name, system, gpus)
    print("  prefill:", [[tokens, ms(1, tokens, "static_ctx")] for tokens in PREFILLS])
    print("  decode:", [[batch, tokens, ms(batch, tokens, "static_gen")] for batch, tokens in DECODES])
