import { z } from 'zod';

const share = z.number().min(0).max(0.9);
const durationMs = z.number().min(0).max(1e12);
const times = z.array(durationMs).max(1000);

/** Disturbances of a gateway in production, besides its calls; docs/SIMULATOR.md explains each. An absent section is off. */
export const conditionsSchema = z.strictObject({
  clients: z
    .strictObject({
      timeoutMs: z.number().min(1).max(1e12).default(600_000),
      retries: z.int().min(0).max(100).default(2),
      streamShare: z.number().min(0).max(1).default(0),
    })
    .exactOptional(),
  cancels: z
    .strictObject({
      share,
      afterMs: durationMs.default(10_000),
      returnShare: z.number().min(0).max(1).default(0.5),
      returnMs: durationMs.default(1000),
    })
    .exactOptional(),
  refusals: z.strictObject({ share }).exactOptional(),
  overlong: z
    .strictObject({
      share: share.default(0),
      promptTokens: z.int().min(1).max(1e9).default(500_000),
    })
    .exactOptional(),
  busy: z
    .strictObject({
      share,
      burstMs: z.number().min(1).max(1e9).default(2000),
      restMs: z.number().min(1).max(1e9).default(1000),
    })
    .exactOptional(),
  broken: z.strictObject({ share }).exactOptional(),
  failedLoads: z.strictObject({ share }).exactOptional(),
  engineLoss: z
    .strictObject({
      meanMs: z.number().min(1000).max(1e12).exactOptional(),
      atMs: times.default([]),
      restartMs: z.number().min(1).max(1e9).default(180_000),
    })
    .exactOptional(),
  declarations: z
    .strictObject({
      spread: z.number().min(1).max(1000).default(1),
      mistakenShare: z.number().min(0).max(1).default(0),
    })
    .exactOptional(),
  gatewayRestarts: z.strictObject({ atMs: times }).exactOptional(),
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
