import { describe, expect, it } from 'vitest';
import { detect } from '../../../sidecar/engines/adapters.js';
import { cannedGet, modelList } from '../../support/fake-engine.js';

describe('detection', () => {
  it.each([
    ['vllm by its model list', 'vllm', { '/v1/models': modelList(['m'], 'vllm') }],
    [
      'vllm by its metrics',
      'vllm',
      { '/v1/models': modelList(['m'], 'me'), '/metrics': 'vllm:num_requests_waiting 0' },
    ],
    [
      'vllm whose model list needs a key',
      'vllm',
      { '/metrics': '# TYPE a gauge\nvllm:num_requests_running{engine="0"} 8.0' },
    ],
    ['sglang by its model list', 'sglang', { '/v1/models': modelList(['m'], 'sglang') }],
    ['sglang by its metrics', 'sglang', { '/metrics': 'sglang:num_queue_reqs 0' }],
    ['trtllm by its model list', 'trtllm', { '/v1/models': modelList(['m'], 'tensorrt_llm'), '/metrics': '[]' }],
    ['trtllm by its metrics', 'trtllm', { '/prometheus/metrics': '# HELP\ntrtllm_request_success_total 1' }],
    ['llamacpp by its model list', 'llamacpp', { '/v1/models': modelList(['m'], 'llamacpp') }],
    ['llamacpp by its properties', 'llamacpp', { '/props': '{"total_slots":1}' }],
    ['ollama by its greeting', 'ollama', { '/': 'Ollama is running' }],
    ['ollama by its version', 'ollama', { '/api/version': '{"version":"0.12.6"}' }],
    [
      'anything else',
      'openai',
      { '/v1/models': modelList(['m'], 'transformers'), '/': '<html>', '/metrics': 'process_cpu 1' },
    ],
    [
      'garbage everywhere',
      'openai',
      { '/v1/models': '{"data":7}', '/props': '[', '/api/version': 'null', '/metrics': '{}' },
    ],
    ['nothing at all', 'openai', {}],
  ])('finds %s', async (_, kind, answers) => {
    expect((await detect(cannedGet(answers))).kind).toBe(kind);
  });
});
