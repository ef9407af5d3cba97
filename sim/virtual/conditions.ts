import { z } from 'zod';

const share = z.number().min(0).max(0.9);
const durationMs = z.number().min(0).max(1e12);
const times = z.array(durationMs).max(1000);

/** Disturbances of a gateway in production, besides its calls. An absent section is off. */
export const conditionsSchema = z.strictObject({
  clients: z
    .strictObject({
      timeoutMs: z.number().min(1).max(1e12).default(600_000).describe('A client that does not stream gives up.'),
      retries: z.int().min(0).max(100).default(2).describe('How often a call is asked again at most.'),
      streamShare: z.number().min(0).max(1).default(0).describe('Share of calls that stream, and wait as long as it takes.'), // prettier-ignore
    })
    .exactOptional()
    .describe('Client timeouts and retries, as in the OpenAI SDKs.'),
  cancels: z
    .strictObject({
      share: share.describe('Share of requests that their client cancels, unless they end first.'),
      afterMs: durationMs.default(10_000).describe('Mean time from the request to its cancel, exponential.'),
      returnShare: z.number().min(0).max(1).default(0.5).describe('Share of cancelled calls that are asked again.'),
      returnMs: durationMs.default(1000).describe('Time from a cancel to the call asked again.'),
    })
    .exactOptional()
    .describe('Calls cancelled by their client, queued or running. The others end their program.'),
  refusals: z
    .strictObject({ share: share.describe('Share of requests that the engine answers with a 4xx.') })
    .exactOptional()
    .describe('Bad requests. The program changes the request and asks again at once.'),
  overlong: z
    .strictObject({
      share: share.default(0).describe('Share of calls whose first prompt is over-long.'),
      promptTokens: z.int().min(1).max(1e9).default(500_000).describe('Its length, at least the context of an engine.'),
    })
    .exactOptional()
    .describe('Prompts longer than any engine takes. The engine answers 400; the program compacts and asks again.'),
  busy: z
    .strictObject({
      share: share.describe('Share of the time in which an engine answers 503.'),
      burstMs: z.number().min(1).max(1e9).default(2000).describe('Mean length of a burst, exponential.'),
      restMs: z.number().min(1).max(1e9).default(1000).describe('Its Retry-After.'),
    })
    .exactOptional()
    .describe('Engines without room, in bursts.'),
  broken: z
    .strictObject({ share: share.describe('Share of dispatches whose connection breaks before the first byte.') })
    .exactOptional()
    .describe('Connections to engines that break.'),
  failedLoads: z
    .strictObject({ share: share.describe('Share of dispatches whose load from host memory, if any, brings nothing.') })
    .exactOptional()
    .describe('Loads from the host tier that fail. The engine computes the prompt.'),
  engineLoss: z
    .strictObject({
      meanMs: z.number().min(1000).max(1e12).exactOptional().describe('Mean time between failures of an engine.'),
      atMs: times.default([]).describe('Set times of losses, of the engines in turn.'),
      restartMs: z.number().min(1).max(1e9).default(180_000).describe('Time until the engine is back, its cache cold.'),
    })
    .exactOptional()
    .describe('Engines that die and restart.'),
  declarations: z
    .strictObject({
      spread: z.number().min(1).max(1000).default(1).describe('Largest factor by which they are too large or too small.'), // prettier-ignore
      mistakenShare: z.number().min(0).max(1).default(0).describe('Share of programs that declare the work of the program before them: a wrong graph.'), // prettier-ignore
    })
    .exactOptional()
    .describe('Wrong declarations of the work that programs still bring, used with `policy.foresight: declared`. Without this the work is declared truly.'), // prettier-ignore
  gatewayRestarts: z
    .strictObject({ atMs: times.describe('Set times of restarts.') })
    .exactOptional()
    .describe('Restarts of the gateway: every connection breaks, and it has forgotten everything.'),
});

export type Conditions = z.output<typeof conditionsSchema>;

/**
 * A modest share of everything; docs/SIMULATOR.md gives the reason for each. Prompts beyond the engines' limit are left
 * out: they are rare enough to be a case of their own. Those of recordings still reach the scheduler.
 */
const PRODUCTION: Conditions = conditionsSchema.parse({
  clients: { streamShare: 0.2 },
  cancels: { share: 0.02, afterMs: 20_000, returnShare: 0.9 },
  refusals: { share: 0.01 },
  overlong: { share: 0.001 },
  busy: { share: 0.005 },
  broken: { share: 0.001 },
  engineLoss: { meanMs: 24 * 3_600_000 },
  gatewayRestarts: { atMs: [1_800_000] },
});

/** Conditions by name. `none`: patient clients, and nothing fails. */
export const CONDITIONS = { none: {}, production: PRODUCTION } as const satisfies Record<string, Conditions>;
export type ConditionsName = keyof typeof CONDITIONS;
