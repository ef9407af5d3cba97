import type { CallId, LogStep } from '../../src/index.js';
import type { Served } from '../../sim/index.js';

type Seen = { -readonly [Key in keyof Served]: Served[Key] } & { readonly engine: string };

/** The calls of each engine that these steps dispatched and that were answered or still run. */
export function servedCalls(steps: readonly LogStep[]): Served[][] {
  const prompts = new Map<CallId, number>();
  const open = new Map<CallId, Seen>();
  const over: Seen[] = [];
  for (const { now, event, commands } of steps) {
    if (event.type === 'callArrived') prompts.set(event.call, event.promptTokens);
    const seen = 'call' in event ? open.get(event.call) : undefined;
    if (seen !== undefined && 'call' in event) {
      if (event.type === 'callStarted') seen.firstTokenMs = now;
      else if (event.type !== 'callProgressed') open.delete(event.call);
      if (event.type === 'callFinished' && event.usage !== undefined) {
        const { cachedTokens = 0, ...usage } = event.usage;
        over.push(Object.assign(seen, { endedMs: now, cachedTokens, ...usage }));
      }
    }
    for (const command of commands) {
      if (command.type !== 'dispatch') continue;
      const { call, engine } = command;
      const promptTokens = prompts.get(call) ?? 1;
      // Of a call that still runs, only its prompt is known. Most of an agent's prompt is usually cached.
      const known = { engine, promptTokens, cachedTokens: promptTokens, outputTokens: 0 };
      open.set(call, { ...known, dispatchedMs: now, firstTokenMs: NaN, endedMs: NaN });
    }
  }
  const engines = new Map<string, Served[]>();
  for (const call of [...over, ...open.values()]) {
    const served = engines.get(call.engine) ?? [];
    engines.set(call.engine, served);
    served.push(call);
  }
  return [...engines.values()];
}
