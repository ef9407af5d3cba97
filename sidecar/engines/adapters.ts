import type { EngineAdapter, EngineKind, Get } from './adapter.js';
import { llamacpp } from './llamacpp.js';
import { ollama } from './ollama.js';
import { openai } from './openai.js';
import { sglang } from './sglang.js';
import { trtllm } from './trtllm.js';
import { vllm } from './vllm.js';

/**
 * All adapters, in order of detection. `trtllm` comes first, since the others' question would empty its `/metrics`;
 * `openai` comes last, since it accepts anything.
 */
export const ADAPTERS: Readonly<Record<EngineKind, EngineAdapter>> = { trtllm, vllm, sglang, llamacpp, ollama, openai };

/** Detects the adapter of the server behind `get`. */
export async function detect(get: Get): Promise<EngineAdapter> {
  for (const adapter of Object.values(ADAPTERS)) {
    if (await adapter.recognise(get)) return adapter;
  }
  return openai;
}
