import { describe, expect, it } from 'vitest';
import { callId, modelId, programId, tenantId, tokens, type CallArrived } from '../../../src/index.js';
import { Call } from '../../../src/programs/call.js';
import { Program } from '../../../src/programs/process-table.js';
import { WorkingSet } from '../../../src/kv/working-set.js';
import { makeRetention } from '../../../src/policies/by-name.js';
import { Desk } from '../../support/core-desk.js';
import { Dice } from '../../support/dice.js';

/** Prefill is so dear here that holding a context always pays. */
function gatedDesk(): Desk {
  const admission = { gate: 1, halfLifeMs: 1_600, outputReserveTokens: 0 };
  return new Desk({ policy: { msPerPromptToken: 100 }, admission }).with('A', { window: 8, capacity: 100_000 });
}

it('an idle context is counted from when its call ended, however long that ran', () => {
  const [short, long] = [gatedDesk(), gatedDesk()];
  for (const [desk, afterMs] of [
    [short, 200],
    [long, 100_000],
  ] as const)
    for (const call of ['p1', 'p2', 'p3'])
      desk.serve(call, { program: 'p', prompt: 10_000 }, { afterMs, prompt: 10_000, output: 0 });
  expect(long.engine('A').workingSetTokens).toBeGreaterThan(1_000);
  expect(long.engine('A').workingSetTokens).toBe(short.engine('A').workingSetTokens);
});

let calls = 0;

/** An engine's cache of 100,000 tokens by our own count. */
class Cache {
  readonly #workingSet = new WorkingSet(makeRetention('learnt'));
  readonly #programs = new Map<string, Program>();

  constructor(capacityTokens = 100_000) {
    this.#workingSet.contents.capacityTokens = capacityTokens;
  }

  get cachedTokens(): number {
    return this.#workingSet.contents.tokens;
  }

  /** A call comes and goes. Returns the programs that it pushed out. */
  use(name: string, promptTokens: number, cachedTokens: number | undefined, sharedTokens = 0): string[] {
    const program = this.#programs.get(name) ?? new Program(programId(name), tenantId('t'), 0);
    this.#programs.set(name, program);
    const seq = calls++;
    const event: CallArrived = {
      type: 'callArrived',
      call: callId(`${seq}`),
      program: program.id,
      tenant: tenantId('t'),
      thread: '',
      model: modelId('m'),
      promptTokens: tokens(promptTokens),
      family: { id: 1, tokens: tokens(8_000) },
    };
    const call = new Call(event, seq, program, 0, 0);
    call.sharedTokens = sharedTokens;
    call.countedTokens = promptTokens - sharedTokens;
    program.begin(call);
    const entered = this.#workingSet.enter(call, Infinity);
    const left = this.#workingSet.leave(call, {
      contextTokens: promptTokens,
      cachedTokens,
      sharedTokens,
      forecastTokens: 0,
    });
    program.end(call);
    return [...entered, ...left].map((context) => context.program.id);
  }

  /** The program is over. */
  end(name: string): void {
    const program = this.#programs.get(name);
    if (program === undefined) return;
    program.removed = 'ended';
    this.#workingSet.forget(program);
  }

  passTo(nowMs: number): void {
    this.#workingSet.settle(nowMs, 16_000, Infinity);
  }

  /** Tokens that others use, in contexts of 1,000, until the program is pushed out. */
  until(name: string): number {
    for (let n = 1; n <= 200; n += 1) if (this.use(`other${n}`, 1_000, 0).includes(name)) return n * 1_000;
    throw new Error(`${name} stays`);
  }
}

describe('a program stays in the cache until others have filled it, by what each has put in', () => {
  it('the longest idle first, also when nobody waits for it any more', () => {
    const cache = new Cache();
    cache.use('old', 40_000, 0);
    cache.passTo(1e9);
    cache.use('young', 40_000, 0);
    expect(cache.use('new', 30_000, 0)).toEqual(['old']);
  });

  it('a context that grows counts its size', () => {
    const cache = new Cache();
    cache.use('p', 10_000, 0);
    cache.use('p', 20_000, 10_000);
    expect(cache.until('p')).toBe(81_000);
  });

  it('so does one on an engine that does not say what it found cached', () => {
    const cache = new Cache();
    cache.use('p', 10_000, undefined);
    cache.use('p', 20_000, undefined);
    expect(cache.until('p')).toBe(81_000);
  });

  it('branches of a tree count all of them', () => {
    const cache = new Cache();
    cache.use('p', 10_000, 0);
    for (let branch = 0; branch < 6; branch += 1) cache.use('p', 11_000, 10_000);
    expect(cache.until('p')).toBe(85_000);
  });

  it('but no more than a sixteenth of it in branches besides the last', () => {
    const cache = new Cache();
    cache.use('p', 10_000, 0);
    for (let branch = 0; branch < 300; branch += 1) cache.use('p', 10_100, 10_000);
    expect(cache.until('p')).toBe(84_000);
  });

  it('a beginning that others share counts once', () => {
    const cache = new Cache();
    for (let n = 0; n < 20; n += 1) cache.use(`p${n}`, 9_000, n === 0 ? 0 : 8_000, n === 0 ? 0 : 8_000);
    // 9,000 of the first, 19 times 1,000, and the 8,000 that they share.
    expect(cache.until('p0')).toBe(65_000);
  });

  it('what the engine had dropped and computes again counts once', () => {
    const cache = new Cache();
    for (let time = 0; time < 5; time += 1) cache.use('p', 30_000, 0);
    expect(cache.until('p')).toBe(71_000);
  });
});

describe('a context of an ended program', () => {
  it('leaves when it would have left without the end, and moves no other', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const [told, untold] = [new Cache(), new Cache()];
      const dice = new Dice(seed);
      const present: string[] = [];
      for (let turn = 0; turn < 200; turn += 1) {
        for (const cache of [told, untold]) cache.passTo(turn * 500);
        const name = present.length > 0 && dice.chance(0.6) ? dice.pick(present) : `p${turn}`;
        if (!present.includes(name)) present.push(name);
        const promptTokens = dice.int(1, 30_000);
        const sharedTokens = dice.chance(0.5) ? Math.min(promptTokens, 2_000) : 0;
        expect(told.use(name, promptTokens, 0, sharedTokens)).toEqual(untold.use(name, promptTokens, 0, sharedTokens));
        if (dice.chance(0.4)) told.end(present.splice(present.indexOf(name), 1)[0]!);
        expect(told.cachedTokens).toBe(untold.cachedTokens);
      }
    }
  });

  it('is gone at once where the capacity is not known', () => {
    const cache = new Cache(Infinity);
    cache.use('p', 40_000, 0);
    cache.end('p');
    expect(cache.cachedTokens).toBe(0);
  });

  it('is kept only if it is among the last few thousand, however small they are', () => {
    const cache = new Cache();
    for (let n = 0; n < 4_200; n += 1) {
      cache.use(`p${n}`, 1, 0);
      cache.end(`p${n}`);
    }
    expect(cache.cachedTokens).toBe(4_096);
  });
});
