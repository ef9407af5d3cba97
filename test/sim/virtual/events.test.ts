import { describe, expect, it } from 'vitest';
import { CONDITIONS } from '../../../sim/index.js';
import type { Event } from '../../../src/index.js';
import {
  agentProgram,
  play,
  programOf,
  recorded,
  stepsOf,
  type PlayOptions,
  type Step,
} from '../../support/sim-play.js';

type Told<T extends Event['type']> = Extract<Event, { type: T }>;

function told(programs: Parameters<typeof play>[0], options: PlayOptions = {}) {
  const { steps, log } = recorded(stepsOf(options.policy));
  return { played: play(programs, { engines: 1, ...options, scheduler: steps }), log };
}

const of = <T extends Event['type']>(log: readonly Step[], type: T): Told<T>[] =>
  log.flatMap(({ event }) => (event.type === type ? [event as Told<T>] : []));

describe('what the scheduler is told', () => {
  it('is what a gateway tells of a call: its arrival, first token and end', () => {
    const { log, played } = told([
      programOf('p', 0, [
        { promptTokens: 500, outputTokens: 40, thread: 'a' },
        { promptTokens: 600, outputTokens: 30, gapMs: 10 },
      ]),
    ]);
    const [first, second] = of(log, 'callArrived');
    const { call, program, tenant, model, ...rest } = first!;
    expect(rest).toEqual({ type: 'callArrived', thread: 'a', promptTokens: 500, patient: true, request: 'a/0' });
    expect([second!.program, second!.tenant, second!.model]).toEqual([program, tenant, model]);
    expect(second!.call).not.toBe(call);
    expect(of(log, 'callStarted').map((event) => event.call)).toEqual([call, second!.call]);
    const [ended] = of(log, 'callFinished');
    expect(ended).toMatchObject({ usage: { promptTokens: 500, outputTokens: 40, cachedTokens: 0 }, queueMs: 0 });
    const { dispatchedMs, endedMs } = played.callRecords[0]!;
    expect(ended!.serviceMs).toBeCloseTo(endedMs - dispatchedMs, 6);
    expect(of(log, 'programEnded')).toEqual([]);
  });

  it('is told of a first token after the dispatch, and of the end after both, whatever fails', () => {
    const programs = Array.from({ length: 30 }, (_, at) => agentProgram(`p${at}`, 50 * at));
    const { log } = told(programs, { conditions: CONDITIONS.production });
    const running = new Map<string, 'dispatched' | 'started'>();
    for (const { event, commands } of log) {
      if (event.type === 'callStarted') {
        expect(running.get(event.call)).toBe('dispatched');
        running.set(event.call, 'started');
      }
      if (event.type === 'callFinished') expect(running.get(event.call)).toBeDefined();
      if ('call' in event && event.type !== 'callStarted') running.delete(event.call);
      for (const command of commands) if (command.type === 'dispatch') running.set(command.call, 'dispatched');
    }
    expect(of(log, 'callStarted').length).toBeGreaterThan(30);
  });

  it('is told of ends, where clients announce them', () => {
    const { log } = told([agentProgram('p', 0)], { announceEnds: true });
    expect(log.at(-1)!.event).toEqual({ type: 'programEnded', program: of(log, 'callArrived')[0]!.program });
  });

  it('is told of load every two seconds', () => {
    const programs = [programOf('p', 0, [{ promptTokens: 8000, outputTokens: 400 }])];
    const reports = told(programs).log.flatMap(({ event, now }) =>
      event.type === 'engineReported' ? [{ now, kvUsage: event.kvUsage! }] : [],
    );
    expect(reports.map(({ now }) => now)).toEqual([0, 2000, 4000]);
    expect(reports.map(({ kvUsage }) => kvUsage).slice(0, 2)).toEqual([0, expect.closeTo(0.019, 2)]);
  });
});
