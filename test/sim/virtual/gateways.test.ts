import { expect, it } from 'vitest';
import { makeBalancer } from '../../../loadbalancer/index.js';
import { configSchema } from '../../../sidecar/config/index.js';
import { makeSteps, PRESETS, runWorld, type CallRecord, type ClusterOptions } from '../../../sim/index.js';
import { Dice, programs, WORKLOADS } from '../../../workloads/index.js';

const SEEDS = Number(process.env['TEST_SEEDS'] ?? 4);
const PROGRAMS = 30;

/** Gateways that a slow store keeps waiting, and that get no answer now and then. */
function draw(seed: number): { readonly cluster: ClusterOptions; readonly engines: number; readonly window: number } {
  const dice = Dice.of(seed, 0);
  const cluster: ClusterOptions = {
    gateways: dice.int(2, 6),
    delayMs: [0, 0.5, 5, 50][dice.int(0, 3)]!,
    routing: dice.share() < 0.7 ? 'call' : 'program',
    shares: true,
    lossShare: dice.share() < 0.3 ? 0 : dice.share() / 2,
  };
  return { cluster, engines: dice.int(1, 3), window: dice.int(1, 6) };
}

/** Most calls that one engine ran at once. Ends make room before anything begins. */
function mostInFlight(calls: readonly CallRecord[]): number {
  const begun = calls.map(({ engine, dispatchedMs }) => ({ engine, atMs: dispatchedMs, by: 1 }));
  const ended = calls.map(({ engine, endedMs }) => ({ engine, atMs: endedMs, by: -1 }));
  const changes = [...begun, ...ended].sort((a, b) => a.atMs - b.atMs || a.by - b.by);
  const inFlight = new Map<string | undefined, number>();
  let most = 0;
  for (const { engine, by } of changes) {
    inFlight.set(engine, (inFlight.get(engine) ?? 0) + by);
    most = Math.max(most, inFlight.get(engine)!);
  }
  return most;
}

it.each(Array.from({ length: SEEDS }, (_, index) => index + 1))(
  'gateways with a slow store that loses questions exceed no window, and serve every call once (seed %i)',
  (seed) => {
    const { cluster, engines, window } = draw(seed);
    const config = configSchema.parse({ admission: { window } });
    const calls: CallRecord[] = [];
    const { programOutcomes, callOutcomes } = runWorld({
      programs: programs(WORKLOADS.react, seed),
      maxPrograms: PROGRAMS,
      arrivals: { type: 'open', ratePerSecond: 0.5 * engines * window, cv: 1 },
      seed,
      engines,
      engine: { preset: PRESETS['llama-3.1-8b-a100'], blockSize: 16 },
      scheduler: () => makeSteps('plas', config, makeBalancer(config.balancer)),
      cluster,
      observer: { callEnded: (call) => calls.push(call), programEnded: () => undefined },
      alone: false,
    });
    expect(programOutcomes).toEqual({ completed: PROGRAMS });
    expect(callOutcomes).toEqual({ completed: calls.length });
    expect(new Set(calls.map(({ program, call }) => `${program} ${call}`)).size).toBe(calls.length);
    expect(mostInFlight(calls)).toBe(window);
  },
);
