import { z } from 'zod';
import { NONE, bearer, count, name, note } from './note.js';
import { plainUrlError, isPlainUrl } from './url.js';

export const ENGINE_KINDS = ['auto', 'vllm', 'sglang', 'trtllm', 'llamacpp', 'ollama', 'openai'] as const;

/** One engine replica. */
export const engine = z.strictObject({
  url: note(
    z
      .string()
      .refine(isPlainUrl, { error: plainUrlError, abort: true })
      .overwrite((url) => url.replace(/\/+$/, '').replace(/\/v1$/, '')),
    'Base URL of the engine. A trailing `/v1` is dropped.',
    'required',
  ),
  id: note(name.optional(), 'Name in metrics, headers and admin answers.', NONE, { default: 'host:port of the URL' }),
  kind: note(z.enum(ENGINE_KINDS).default('auto'), 'Kind of server; `auto` detects it.', 'works for all'),
  models: note(z.array(z.string().min(1)).min(1).optional(), 'Models that the engine serves.', NONE, {
    default: 'its /v1/models',
  }),
  window: note(count(1, 100_000).optional(), 'Most calls in flight.', NONE, { default: 'from `admission.window`' }),
  capacityTokens: note(count(1, 1e12).optional(), 'KV cache capacity.', NONE, {
    default: 'the engine’s report; unknown: no gate',
  }),
  hostTokens: note(
    count(0, 1e12).optional(),
    'Tokens that fit into the engine’s host memory (plus `capacityTokens`, if it moves contexts there); 0: none.',
    NONE,
    { default: 'the engine’s report; unknown: none' },
  ),
  hostTokensPerSecond: note(
    z.number().min(1).max(1e9).optional(),
    'Tokens a second that come back from host memory.',
    NONE,
    { default: 'the engine’s report; unknown: learnt from calls' },
  ),
  contextTokensMax: note(count(1, 1e12).optional(), 'Longest prompt and answer together.', NONE, {
    default: 'the engine’s report; unknown: such calls wait like others',
  }),
  apiKey: note(bearer.optional(), 'Bearer token for the engine, instead of the client’s own.', NONE, { secret: true }),
  serverName: note(
    z
      .string()
      .regex(/^[\w.-]{1,253}$/, { error: 'must be a host name without a port' })
      .optional(),
    'Name in the engine’s TLS certificate.',
    NONE,
    { default: 'the host of the URL' },
  ),
});
