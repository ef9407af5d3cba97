import { z } from 'zod';
import { NONE, bearer, count, name, note } from './note.js';
import { plainUrlError, isPlainUrl } from './url.js';

export const ENGINE_KINDS = ['auto', 'vllm', 'sglang', 'trtllm', 'llamacpp', 'ollama', 'openai'] as const;

/** One engine replica. */
export const engine = z.strictObject({
  url: z
    .string()
    .refine(isPlainUrl, { error: plainUrlError, abort: true })
    .overwrite((url) => url.replace(/\/+$/, '').replace(/\/v1$/, ''))
    .meta(note('Base URL of the engine. A trailing `/v1` is dropped.', 'required')),
  id: name
    .optional()
    .meta(note('Name in metrics, headers and admin answers.', NONE, { default: 'host:port of the URL' })),
  kind: z.enum(ENGINE_KINDS).default('auto').meta(note('Kind of server; `auto` detects it.', 'works for all')),
  models: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .meta(note('Models that the engine serves.', NONE, { default: 'its /v1/models' })),
  window: count(1, 100_000)
    .optional()
    .meta(note('Most calls in flight.', NONE, { default: 'from `admission.window`' })),
  capacityTokens: count(1, 1e12)
    .optional()
    .meta(note('KV cache capacity.', NONE, { default: 'the engine’s report; unknown: no gate' })),
  hostTokens: count(0, 1e12)
    .optional()
    .meta(
      note(
        'Tokens that fit into the host memory to which the engine copies its KV cache, as vLLM and LMCache do; of one that moves them there, these and `capacityTokens`. 0: it has none.',
        NONE,
        {
          default: 'the engine’s report; unknown: none',
        },
      ),
    ),
  hostTokensPerSecond: z
    .number()
    .min(1)
    .max(1e9)
    .optional()
    .meta(
      note('Tokens a second that come back from host memory.', NONE, {
        default: 'the engine’s report; unknown: learnt from calls',
      }),
    ),
  contextTokensMax: count(1, 1e12)
    .optional()
    .meta(
      note(
        'Longest prompt and answer together. A longer prompt is dispatched at once, to get the engine’s own refusal.',
        NONE,
        { default: 'the engine’s report; unknown: such calls wait like others' },
      ),
    ),
  apiKey: bearer
    .optional()
    .meta(note('Bearer token for the engine, instead of the client’s own.', NONE, { secret: true })),
  serverName: z
    .string()
    .regex(/^[\w.-]{1,253}$/, { error: 'must be a host name without a port' })
    .optional()
    .meta(note('Name in the engine’s TLS certificate.', NONE, { default: 'the host of the URL' })),
});
