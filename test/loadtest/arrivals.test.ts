import { describe, expect, it } from 'vitest';
import { engine } from '../sim/client.js';
import { call, DONE, front, load, PART, program, singles } from '../support/load.js';

describe('arrivals', () => {
  it('keep to their times whatever the target does, and latencies count from there', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let timer: NodeJS.Timeout | undefined;
    const stalled = await front(await engine(), (_path, _body, { 'x-maitred-program': program }) => {
      if (program === undefined) return undefined;
      // Long after the last should have been sent.
      timer ??= setTimeout(release, 250);
      return (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        void released.then(() => response.end(PART + DONE));
      };
    });
    const { calls, summary } = await load({
      ...{ targets: [stalled], programs: () => singles(20), identity: 'maitred', connections: 4 },
      arrivals: { type: 'open', ratePerSecond: 200, cv: 0 },
    });
    expect(calls).toHaveLength(20);
    const meant = calls.map(({ arrivedMs }) => arrivedMs).sort((a, b) => a - b);
    meant.forEach((at, index) => expect(at).toBeCloseTo(5 * (index + 1), 6));
    const late = calls.filter(({ arrivedMs, sentMs }) => sentMs - arrivedMs > 100);
    expect(late.length).toBeGreaterThanOrEqual(12);
    for (const { arrivedMs, firstTokenMs } of late) expect(firstTokenMs - arrivedMs).toBeGreaterThan(100);
    expect(summary.generator.late_send_ms.max).toBeGreaterThan(100);
    expect(summary.generator.calls_in_flight_max).toBe(4);
    expect(summary.warnings.length).toBeGreaterThan(0);
  });

  it('are so many at a time where that is wanted', async () => {
    const handle = await engine();
    const { programs } = await load({
      targets: [handle.url],
      programs: () => singles(12),
      arrivals: { type: 'closed', concurrency: 3 },
    });
    expect(programs).toHaveLength(12);
    for (const { arrivedMs } of programs) {
      const underWay = programs.filter((other) => other.arrivedMs < arrivedMs && other.endedMs > arrivedMs);
      expect(underWay.length).toBeLessThan(3);
    }
  });

  it('are those of a trace, faster by the scale', async () => {
    const handle = await engine();
    const all = singles(3).map((each, index) => ({ ...each, arrivalMs: 5000 + 300 * index }));
    const { programs } = await load({
      targets: [handle.url],
      programs: () => all,
      arrivals: { type: 'trace', speed: 1 },
      timeScale: 10,
    });
    expect(programs.map(({ arrivedMs }) => arrivedMs).sort((a, b) => a - b)).toEqual([0, 30, 60]);
  });

  it('end with the duration, and with the number of programs', async () => {
    const handle = await engine();
    const arrivals = { type: 'open', ratePerSecond: 100, cv: 0 } as const;
    const timed = await load({ targets: [handle.url], programs: () => singles(1000), arrivals, durationMs: 95 });
    expect(timed.programs).toHaveLength(9);
    const counted = await load({ targets: [handle.url], programs: () => singles(1000), arrivals, maxPrograms: 4 });
    expect(counted.programs).toHaveLength(4);
  });

  it('leave out programs that no target could answer', async () => {
    const handle = await engine({ maxModelLen: 500, speed: 1 });
    const all = [...singles(2), program('long', call(), call({ after: [0], promptTokens: 495 }))];
    const { programs, summary } = await load({ targets: [handle.url], programs: () => all });
    expect(programs.map((each) => each.program).sort()).toEqual(['p0', 'p1']);
    expect(summary.complete).toBe(true);
    expect(summary.warnings.join()).toContain('Left out: 1 program with calls longer');
  });
});
