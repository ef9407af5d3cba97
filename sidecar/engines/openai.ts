import type { EngineAdapter } from './adapter.js';
import { MODELS_PATH } from './models.js';

/** Any server with an OpenAI-like API: nothing is known of it but its models, and nothing is sent that the API has not. */
export const openai: EngineAdapter = {
  kind: 'openai',
  healthPath: MODELS_PATH,
  recognise: () => Promise.resolve(true),
  readLoad: () => Promise.resolve({}),
  priorityFields: () => ({}),
  readTimings: () => ({}),
};
