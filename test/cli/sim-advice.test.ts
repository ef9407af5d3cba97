import { describe, expect, it } from 'vitest';
import { fileOf } from '../support/folder.js';
import { adviceOf } from '../../cli/sim/advice.js';
import { madeUp, spread } from '../support/sim-plans.js';
import { json, sim } from '../support/sim-command.js';

describe('the advice of maitred sim', () => {
  it('names the load that would tell more, where nothing waits and where the queue only grows', async () => {
    const OF_REACT = ['--workload', 'react', '--programs', '80', '--kv-tokens', '20000', '--policy', 'plas'];
    const adviceAt = async (...load: string[]) => {
      const { advice, recommendation = '' } = (await json(...OF_REACT, ...load)).document;
      return [...advice, recommendation];
    };
    expect(await adviceAt('--concurrency', '4')).toEqual([
      'At least 9 of 10 calls never waited, so mean times could hardly differ: raise --concurrency.',
      '',
    ]);
    expect(await adviceAt('--rate', '3')).toEqual([
      'Seeds that sustain this load: 0 of 1.\nplas does not sustain this load: run again with --rate auto, which looks for those that it does.',
    ]);
  });

  it('names no search where it would be refused', () => {
    // A few that fail, as under some conditions, change nothing of that.
    const told = (preset: readonly string[]) => {
      const { plan, runs } = madeUp({ rate: [1], preset }, {}, () => ({
        queue_seconds: spread(0),
        engine_waits: 0,
        failed: 9,
        completed: 2991,
        refused: {},
      }));
      return adviceOf(plan, runs).slice(1);
    };
    expect(told(['a'])).toEqual([expect.stringContaining(': run again with --rate auto, which looks for')]);
    expect(told(['a', 'b'])).toEqual([
      'At least 9 of 10 calls never waited, so mean times could hardly differ: raise --rate.',
    ]);
  });

  it('advises a search that leads to no other', async () => {
    const { out } = await sim(...'--workload chat --rate auto --programs 80 --seed 1 --policy plas'.split(' '));
    expect(out).toMatch(
      /^Sustained: at least up to \S+ a second\.\nToo few programs .*--programs \d+, about \d+ times as long\.$/m,
    );
    expect(out).not.toContain('auto');
  });

  it('says first that many programs fail, whose times are in no figure', async () => {
    const file = fileOf(
      'down.yaml',
      'engineLoss: { atMs: [1000], restartMs: 10000000 }\nclients: { timeoutMs: 1000, retries: 0 }\n',
    );
    const { document } = await json(
      '--workload',
      'chat',
      '--programs',
      '40',
      '--concurrency',
      '8',
      '--policy',
      'pass-through,plas',
      '--conditions',
      file,
    );
    expect(document.advice[0]).toBe('Many programs fail: pass-through; plas. Times are of those that completed.');
  });

  it('says which faults no run was long enough for, of the conditions that have runs', () => {
    const conditions = {
      name: 'c.yaml',
      conditions: { engineLoss: { atMs: [50_000, 200_000], restartMs: 1 }, gatewayRestarts: { atMs: [90_000] } },
    };
    const { plan, runs } = madeUp({ rate: [1, 2] }, {}, (at, seed) => ({
      makespan_seconds: at === 0 ? 60 * seed : 70,
      refused: {},
    }));
    const variants = plan.variants.map((variant) => ({ ...variant, conditions }));
    const missed = ['engineLoss at 200 s of c.yaml never came, as all programs had ended.'];
    expect(adviceOf({ ...plan, variants }, runs)).toEqual(missed);
    // A search that was stopped has none of some.
    const more = [...variants, { ...variants[0]!, conditions: { ...conditions, name: 'd.yaml' } }];
    expect(adviceOf({ ...plan, variants: more }, runs)).toEqual(missed);
  });

  it('says first that some programs fail, and under which setting most', () => {
    const told = (of: (at: number) => number, lists: object = { rate: [1, 2], policy: ['pass-through', 'plas'] }) =>
      adviceOf(
        ...(Object.values(madeUp(lists, {}, (at, seed) => ({ failed: of(at) * seed, refused: {} }))) as Parameters<
          typeof adviceOf
        >),
      );
    expect(told((at) => at)).toEqual(['Some programs fail, 6 of 300 at most (at 2 a second, plas).']);
    expect([told(() => 2), told(() => 2, { rate: [1] }), told(() => 0)]).toEqual([
      ['Some programs fail, 4 of 300.'],
      ['Some programs fail, 4 of 300.'],
      [],
    ]);
  });

  it('says first that prompts are too long, and what raises the limit', async () => {
    const told = async (workload: string, tokens: string) =>
      (
        await json(
          '--workload',
          workload,
          '--programs',
          '20',
          '--rate',
          '0.1',
          '--kv-tokens',
          tokens,
          '--policy',
          'plas',
        )
      ).document.advice[0];
    expect(await told('coding', '20000')).toBe(
      'Many programs fail: plas. Their prompts are longer than the KV cache of 20,000 tokens. Raise --kv-tokens. Times are of those that completed.',
    );
    expect(await told('coding', '50000')).toBe(
      'Some programs fail, 2 of 20, as prompts are longer than the KV cache of 50,000 tokens. Raise --kv-tokens.',
    );
    const file = fileOf(
      'long.yaml',
      'workloads:\n  long: { kind: agent, inputTokens: 200000, outputTokens: 5, contextTokensMax: 1000000 }\n',
    );
    expect(await told(file, '1000000')).toMatch(
      /longer than the model’s context of 131,072 tokens\. Choose another --preset\.$/,
    );
  });

  it('says that programs came for too short a time to tell whether a load is sustained, and which would', async () => {
    const told = async (load: string) => (await json('--workload', 'coding', ...load.split(' '))).document;
    const few =
      /^Too few programs to tell whether this load is sustained: run again with --programs \d+, about \d+ times as long\.$/;
    // Nor does it matter that nothing waited, or differed, so far.
    for (const load of ['--rate 2 --programs 40 --policy plas', '--rate 0.1 --programs 20 --policy pass-through,plas'])
      expect(await told(load)).toMatchObject({ advice: [], recommendation: expect.stringMatching(few) as string });
  });

  it('calls no recording overloaded, however fast it comes', async () => {
    const { document } = await json('--trace', 'examples/programs.jsonl', '--trace-speed', '8', '--policy', 'plas');
    expect(document.advice.join('\n')).not.toContain('overloaded');
  });

  it('answers with more load alone where hardly a call waited, not with more seeds too', async () => {
    const { document } = await json(
      '--workload',
      'chat',
      '--programs',
      '40',
      '--rate',
      '0.5',
      '--window',
      '64,128',
      '--seed',
      '1,2',
    );
    expect(document.advice).toEqual([expect.stringContaining('--rate auto')]);
    expect(document.recommendation).toBeUndefined();
  });
});
