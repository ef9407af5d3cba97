import type { LoadApi } from './api.js';
import { chat, completions } from './openai.js';
import { messages } from './messages.js';
import { responses } from './responses.js';

/** All APIs. A new one is a file here and a line below. */
export const APIS = { chat, completions, responses, messages } as const satisfies Readonly<Record<string, LoadApi>>;
export type ApiName = keyof typeof APIS;
export const API_NAMES = Object.keys(APIS) as ApiName[];
