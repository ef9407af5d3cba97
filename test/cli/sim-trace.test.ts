import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { fileOf } from '../support/folder.js';
import { call, json, recorded, sim } from '../support/sim-command.js';

describe('maitred sim --trace', () => {
  it('plays all of a recording, and again until there are enough programs', async () => {
    const file = fileOf('a.jsonl', recorded('one') + recorded('two') + recorded('three'));
    const args = ['--trace', file, '--rate', '1', '--policy', 'plas'];
    const all = await json(...args);
    const more = await json(...args, '--programs', '7', '--cv', '3');
    expect(all.document.runs).toMatchObject([{ completed: 3, calls: 6, prompt_tokens: 600, output_tokens: 60 }]);
    expect(more.document.runs).toMatchObject([{ completed: 7, calls: 14 }]);
    const arrivals = { type: 'open', rate_per_second: 1, cv: 3 };
    expect(more.document.settings).toMatchObject({ trace: file, format: 'maitred', arrivals });
  });

  it('plays programs at their own times where the recording tells them, earliest first', async () => {
    const at = (id: string, seconds: number) => recorded(id, { arrivalMs: 1.7e12 + 1000 * seconds });
    const file = fileOf('a.jsonl.gz', gzipSync(at('late', 4000) + at('early', 0) + at('middle', 1000)));
    const all = await json('--trace', file);
    const faster = await json('--trace', file, '--trace-speed', '10', '--programs', '2');
    expect(all.document.settings.arrivals).toEqual({ type: 'trace', speed: 1 });
    expect(Math.floor(all.document.runs[0]!.makespan_seconds!)).toBe(4000);
    expect(Math.floor(faster.document.runs[0]!.makespan_seconds!)).toBe(100);
  });

  it('counts what no engine can serve, and what is never made therefore', async () => {
    const huge = { ...call, promptTokens: 890_000, after: [0] };
    const file = fileOf(
      'a.jsonl',
      recorded('good') + recorded('huge', { calls: [call, huge, { ...call, after: [1] }] }),
    );
    const args = ['--trace', file, '--concurrency', '1', '--policy', 'plas'];
    const { code, document } = await json(...args);
    const told = { programs: 2, completed: 1, failed: 1, refused: { too_long: 1 }, calls_cancelled: 1, calls: 4 };
    expect([code, document.runs]).toMatchObject([0, [told]]);
    const { out } = await sim(...args.slice(0, -1), 'pass-through,plas');
    expect(out).toMatch(/calls without an answer.*\n.* failed +too_long/);
    expect(out).toContain('\nFailed programs: ');
  });

  it('tells what is malformed, and goes on without it', async () => {
    const file = fileOf('a.jsonl', `${recorded('one')}{"maitredProgram":1}\n${recorded('two')}`);
    const { code, document, errors } = await json('--trace', file, '--rate', '1');
    expect(code).toBe(0);
    expect(errors.join()).toMatch(/line 2.*; skipped/);
    expect(document.runs[0]!.programs).toBe(2);
  });

  it('says of an event log that it tells no engines, unless they are told', async () => {
    const told = async (...flags: string[]) =>
      (
        await json(
          '--trace',
          'test/fixtures/event-logs/10/gateways.jsonl.gz',
          '--rate',
          '1',
          '--programs',
          '5',
          '--policy',
          'plas',
          ...flags,
        )
      ).errors.join();
    expect(await told()).toMatch(
      /: only its programs are taken: --config, or --engines and --kv-tokens, tell the engines$/,
    );
    expect(await told('--engines', '2')).toBe('');
  });

  it('fails on a recording that is cut short, after what there was of it', async () => {
    const whole = gzipSync(Array.from({ length: 3000 }, (_, index) => recorded(`p${index}`)).join(''), { level: 0 });
    const file = fileOf('a.jsonl.gz', whole.subarray(0, -9000));
    const { code, document, errors } = await json('--trace', file, '--rate', '9', '--programs', '5');
    expect([code, document.runs[0]!.programs]).toEqual([1, 5]);
    expect(errors).toEqual([expect.stringMatching(/line \d+: the archive ends early; what is before is used$/)]);
  });

  it.each(['{}\n', '{"maitredProgram":1,"id":"x","calls":[]}\n'])('fails on %j', async (text) => {
    const { code, out, errors } = await sim('--trace', fileOf('a.jsonl', text), '--rate', '1');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(errors.length).toBeGreaterThan(0);
  });

  it('must be told when programs come that have no times, and is not told twice', async () => {
    const file = fileOf('a.jsonl', recorded('one'));
    for (const args of [[], ['--trace-speed', '2'], ['--rate', '1', '--trace-speed', '2']])
      expect(await sim('--trace', file, ...args)).toMatchObject({ code: 2, out: '' });
  });
});
