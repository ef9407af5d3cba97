import { WAIT_CAUSES } from '../../../src/index.js';
import type { GatewayState } from '../../../sidecar/admin/answers.js';
import { statusOf } from '../../../sidecar/admin/status.js';

/** Seconds ago. */
export const outage = (from: number, until: number | null, reason: string) => ({
  from: Date.now() / 1000 - from,
  until: until && Date.now() / 1000 - until,
  reason,
});

export const PARTS = {
  untilRestart: [],
  fleet: { awaited: new Set() },
  config: { admission: { reserveMs: 120_000 }, timeouts: { noEngineMs: 30_000 } },
};
const NO_WAITS = Object.fromEntries(WAIT_CAUSES.map((cause) => [cause, 0]));
export const CALM = {
  engines: [{ state: 'up', in_flight: 7 }],
  queue: { waiting: 0, background: 0, waiting_for: {} },
  batches: [],
  cluster: null,
  totals: { calls: 0, failed: [], left: { waiting: 0, running: 0 }, crowded_since: null },
  waits: { of: () => null },
};

/** The status of a calm gateway, but for these parts. */
export const statusWith = (
  {
    totals,
    engines = CALM.engines,
    queue = CALM.queue,
    ...more
  }: {
    readonly totals?: object;
    readonly queue?: { readonly waiting_for?: object; readonly [of: string]: unknown };
    readonly [of: string]: unknown;
  },
  parts: object = {},
): GatewayState['status'] =>
  statusOf(
    { ...PARTS, ...parts } as never,
    {
      ...CALM,
      totals: { ...CALM.totals, ...totals },
      ...more,
      queue: { ...CALM.queue, ...queue, waiting_for: { ...NO_WAITS, ...queue.waiting_for } },
      engines: (engines as object[]).map((engine) => ({ outages: [], failures: null, ...engine })),
    } as never,
  );
