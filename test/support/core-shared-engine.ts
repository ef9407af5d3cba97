import { Desk } from './core-desk.js';
import type { CoreChanges } from './core-config.js';
import type { EngineFacts } from './core-events.js';

/** An engine that shares its throughput among the calls in flight, and clients that call again at once. */
export interface SharedEngine {
  readonly clients: number;
  /** Output tokens of each call. */
  readonly outputTokens: number;
  /** Throughput of the engine with `calls` in flight. */
  readonly tokensPerSecond: (calls: number) => number;
  readonly changes?: CoreChanges;
  readonly engine?: EngineFacts;
  /** Upper bound on the calls that it accepts. */
  readonly takes?: number;
}

/** Plays for `forMs` of virtual time; the engine never reports. Returns its window at the end of each second. */
export function windowsOf(options: SharedEngine, forMs: number): number[] {
  const { clients, outputTokens, tokensPerSecond, takes = Infinity } = options;
  const desk = new Desk(options.changes);
  const left = new Map<string, number>();
  const windows: number[] = [];
  let calls = 0;
  let heeded = 0;
  const heed = (): void => {
    for (; heeded < desk.log.length; heeded += 1) {
      const command = desk.log[heeded]!;
      if (command.type !== 'dispatch') continue;
      if (left.size < takes) left.set(command.call, outputTokens);
      else desk.fail(command.call, 'busy', 100);
    }
  };
  const ask = (): void => {
    desk.arrive(`c${calls++}`);
    heed();
  };
  desk.join('A', options.engine);
  for (let client = 0; client < clients; client += 1) ask();
  for (let nextSecondMs = 1_000; desk.nowMs < forMs;) {
    const perMs = tokensPerSecond(left.size) / left.size / 1_000;
    const doneAtMs = desk.nowMs + Math.min(...left.values(), Infinity) / perMs;
    const untilMs = Math.min(left.size === 0 ? Infinity : doneAtMs, nextSecondMs, desk.wakeAtMs);
    for (const [call, tokens] of left) left.set(call, tokens - (untilMs - desk.nowMs) * perMs);
    desk.passTo(untilMs);
    heed();
    for (const [call, tokens] of left) {
      if (tokens > 1e-6) continue;
      left.delete(call);
      desk.finish(call, { prompt: 100, output: outputTokens });
      heed();
      ask();
    }
    if (desk.nowMs < nextSecondMs) continue;
    nextSecondMs += 1_000;
    windows.push(desk.engine('A').window);
  }
  return windows;
}
