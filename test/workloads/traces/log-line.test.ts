import { describe, expect, it } from 'vitest';
import { logLine, millis, type LogLine } from '../../../src/index.js';
import { readLogLine } from '../../../workloads/index.js';
import { arrived, finished, joined, reported, woke } from '../../support/core-events.js';
import { play } from '../../support/core-play.js';

const again = (line: LogLine) => readLogLine(JSON.parse(logLine(line)));
const now = millis(12.345678901234567);

describe('a line of an event log', () => {
  it('reads back as it was written, whatever the step', () => {
    let lines = 0;
    for (let seed = 0; seed < 20; seed += 1) {
      play({
        seed,
        onMoment({ event, nowMs, commands, config }) {
          const at = millis(nowMs + seed / 3);
          const line = event === undefined ? { now: at, settings: config, commands } : { now: at, event, commands };
          expect(again(line)).toEqual({ value: line });
          lines += 1;
        },
      });
    }
    expect(lines).toBeGreaterThan(500);
  });

  it.each([NaN, Infinity, -Infinity, Number.MAX_VALUE, 5e-324, 0.1 + 0.2])('keeps the number %d', (value) => {
    const event = reported('null', { waiting: value, kvUsage: value });
    expect(again({ now, event, commands: [] })).toEqual({ value: { now, event, commands: [] } });
  });

  const step = (event: object, commands: unknown = []) => ({ now, event, commands });
  it.each([
    [7, ''],
    [[], ''],
    [{}, ''],
    [{ now, commands: [] }, ''],
    [{ ...step(woke), now: '1' }, 'now'],
    [{ now, event: woke }, 'commands'],
    [{ ...step(woke), more: 1 }, 'more'],
    [step({ type: 'callEnded' }), 'event.type'],
    [step({ type: 'toString' }), 'event.type'],
    [step({ ...arrived('c'), promptTokens: -1 }), 'event.promptTokens'],
    [step({ ...arrived('c'), promptTokens: null }), 'event.promptTokens'],
    [step({ ...arrived('c'), tenant: undefined }), 'event.tenant'],
    [step({ ...arrived('c'), maxToken: 1 }), 'event.maxToken'],
    [step({ ...joined('e'), models: 'm' }), 'event.models'],
    [step({ ...finished('c'), usage: { promptTokens: 1 } }), 'event.usage.outputTokens'],
    [step({ type: 'callFailed', call: 'c', failure: 'bored' }), 'event.failure'],
    [step(woke, {}), 'commands'],
    [step(woke, [{ type: 'wakeAt', at: 1 }, 3]), 'commands.1'],
    [step(woke, [{ type: 'wakeAt', at: 'soon' }]), 'commands.0.at'],
    [step(woke, [{ type: 'explode' }]), 'commands.0.type'],
    [{ now, settings: 3, commands: [] }, 'settings'],
    [{ end: 'soon', steps: 1 }, 'end'],
    [{ end: 'closed' }, 'steps'],
    [{ maitredEventLog: 2, and: 'what that one has' }, 'maitredEventLog'],
    [{ maitredEventLog: 1, maitred: '1', startedAt: '', behaviour: 8, settings: {} }, 'now'],
    [{ maitredEventLog: 1, maitred: '1', startedAt: '', now, settings: {} }, 'behaviour'],
  ])('%j is told its field', (value, field) => {
    expect(readLogLine(value)).toMatchObject({ field, problem: expect.any(String) as string });
  });
});
