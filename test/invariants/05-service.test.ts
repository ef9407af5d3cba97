import assert from 'node:assert/strict';
import { it } from 'vitest';
import { programId, type Command } from '../../src/index.js';
import { playMany } from '../support/core-play.js';

interface Row {
  serviceMs: number;
}

it('the service charged is what engines in service gave, along the longest chain; promotions change nothing', () => {
  let promotions = 0;
  let hung = 0;
  playMany(() => {
    const rows = new Map<string, Row>();
    const chains = new Map<string, { row: Row; service0Ms: number; dispatchedAtMs: number; engine: string }>();
    const lostAtMs = new Map<string, number>();
    return {
      steps: 160,
      // Rows stay until their programs end.
      adjust: (config) => ({
        ...config,
        limits: { ...config.limits, programsMax: 1_000 },
        timeouts: { ...config.timeouts, leaseMs: 1e9 },
      }),
      onMoment({ event, nowMs, commands, book, scheduler }) {
        if (event?.type === 'callArrived') {
          // A call that is refused for lack of an engine creates no row.
          const row = rows.get(event.program) ?? { serviceMs: 0 };
          const isRefused = (command: Command) =>
            command.type === 'reject' && command.call === event.call && command.refusal === 'no_engine';
          if (!commands.some(isRefused)) rows.set(event.program, row);
          chains.set(event.call, { row, service0Ms: row.serviceMs, dispatchedAtMs: NaN, engine: '' });
        }
        if (event?.type === 'engineLost' && !lostAtMs.has(event.engine))
          lostAtMs.set(event.engine, nowMs - (event.silentMs ?? 0));
        if (event?.type === 'engineDrained') lostAtMs.set(event.engine, Infinity);
        if (event?.type === 'engineJoined' && event.down !== true) lostAtMs.delete(event.engine);
        if (event?.type === 'programEnded') rows.delete(event.program);
        if (event !== undefined && 'call' in event) {
          const how = book.calls.get(event.call)?.ends.at(-1) ?? '';
          const chain = chains.get(event.call);
          if (chain !== undefined && ['finished', 'cancelled', 'lost'].includes(how)) {
            chains.delete(event.call);
            const untilMs = how === 'finished' ? nowMs : Math.min(nowMs, lostAtMs.get(chain.engine) ?? nowMs);
            const usedMs = Number.isNaN(chain.dispatchedAtMs) ? 0 : Math.max(0, untilMs - chain.dispatchedAtMs);
            if (usedMs > 0 && untilMs < nowMs) hung += 1;
            chain.row.serviceMs = Math.max(chain.row.serviceMs, chain.service0Ms + usedMs);
          } else if (chain !== undefined && event.type === 'callFailed') {
            chain.dispatchedAtMs = NaN;
          }
        }
        for (const command of commands)
          if (command.type === 'programGone' && command.cause === 'expired') rows.delete(command.program);
        for (const { command } of book.dispatches)
          Object.assign(chains.get(command.call)!, { dispatchedAtMs: nowMs, engine: command.engine });
        for (const [id, row] of rows)
          assert.ok(Math.abs(scheduler.views.program(programId(id))!.serviceMs - row.serviceMs) < 1e-6, id);
      },
      onEnd({ scheduler }) {
        promotions += scheduler.totals.promotions;
      },
    };
  });
  assert.ok(promotions > 20, `only ${promotions} promotions`);
  assert.ok(hung > 5, `only ${hung} calls hung`);
});
