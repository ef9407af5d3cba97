import type { EngineAdapter } from './adapter.js';
import { MODELS_PATH } from './models.js';

/** Any server with an OpenAI-like API. Only its models are known, and it receives no fields outside the API. */
export const openai: EngineAdapter = {
  kind: 'openai',
  healthPath: MODELS_PATH,
  recognise: () => Promise.resolve(true),
  readLoad: () => Promise.resolve({}),
  readTimings: () => ({}),
};
