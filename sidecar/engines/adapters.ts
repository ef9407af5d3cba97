import type { EngineAdapter, EngineKind, Get } from './adapter.js';
import { llamacpp } from './llamacpp.js';
import { MODELS_PATH } from './models.js';
import { ollama } from './ollama.js';
import { sglang } from './sglang.js';
import { trtllm } from './trtllm.js';
import { vllm } from './vllm.js';

/** Any server with an OpenAI-like API. Only its models are known, and it receives no fields outside the API. */
const openai: EngineAdapter = {
  kind: 'openai',
  healthPath: MODELS_PATH,
  recognise: () => Promise.resolve(true),
  readLoad: () => Promise.resolve({}),
};

/** In order of detection. `trtllm` is first: the others' question would empty its `/metrics`. `openai` takes any. */
export const ADAPTERS: Readonly<Record<EngineKind, EngineAdapter>> = { trtllm, vllm, sglang, llamacpp, ollama, openai };

export async function detect(get: Get): Promise<EngineAdapter> {
  for (const adapter of Object.values(ADAPTERS)) if (await adapter.recognise(get)) return adapter;
  return openai;
}
