#!/usr/bin/env bash
# serve.sh VENV MODEL PORT [vllm flags]: serves the model on one or two CPU cores until a signal.
# BLOCKS (401): KV blocks of 32 tokens, one of which is never used.
set -euo pipefail
venv=$1 model=$2 port=$3
shift 3
# Disables downloads, usage reports and compilation; otherwise a first request for logprobs compiles for some seconds.
export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 VLLM_NO_USAGE_STATS=1 TORCHDYNAMO_DISABLE=1
export OMP_NUM_THREADS=1 VLLM_HOST_IP=127.0.0.1 VLLM_ENABLE_RESPONSES_API_STORE=1
exec "$venv/bin/python" "$venv/bin/vllm" serve "$model" --host 127.0.0.1 --port "$port" \
  --served-model-name tiny --dtype bfloat16 --enforce-eager \
  --max-model-len 8192 --max-num-seqs 8 --max-num-batched-tokens 1024 \
  --block-size 32 --num-gpu-blocks-override "${BLOCKS:-401}" --kv-cache-memory-bytes 1G --enable-prefix-caching \
  --enable-per-request-metrics --enable-prompt-tokens-details "$@"
