import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { tenantId } from '../../../src/index.js';
import { createCaller, DEFAULT_SOURCES, it, type Sent } from './caller.js';

describe('sub-agents that know their parent only', () => {
  const child = (id: string, parent?: string): Sent => ({
    headers: { 'x-session-id': id, ...(parent === undefined ? {} : { 'x-parent-session-id': parent }) },
  });

  it('are threads of the root, however deep', ({ identify: call }) => {
    const root = call(child('root'));
    expect(call(child('a', 'root'))).toMatchObject({ program: root.program, thread: 'a' });
    expect(call(child('b', 'a'))).toMatchObject({ program: root.program, thread: 'b' });
    expect(call(child('c', 'b'))).toMatchObject({ program: root.program, thread: 'c', label: 'root' });
    expect(call(child('c'))).toMatchObject({ program: root.program, thread: 'c' });
  });

  it('may go in circles without end', ({ identify: call }) => {
    expect(call(child('a', 'a'))).toMatchObject({ label: 'a', thread: '' });
    call(child('a', 'b'));
    call(child('b', 'c'));
    expect(call(child('c', 'a'))).toMatchObject({ label: 'c', thread: '' });
    expect(call(child('a')).label).toBe('c');
  });

  it('survive long chains built from either end', () => {
    const { identify: call } = createCaller({ conversationsMax: 20_000 });
    for (let i = 0; i < 5000; i++) call(child(`s${i}`, `s${i + 1}`));
    expect(call(child('s0')).label).toBe('s5000');
    for (let i = 5000; i > 0; i--) call(child(`t${i - 1}`, `t${i}`));
    expect(call(child('t0')).label).toBe('t5000');
  });

  it('agree with a map of parents (property)', () => {
    const link = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 }));
    fc.assert(
      fc.property(fc.array(link, { maxLength: 40 }), (links) => {
        const { identify: call } = createCaller();
        const rootOf = (id: number): number => {
          const parent = parents.get(id);
          return parent === undefined ? id : rootOf(parent);
        };
        const parents = new Map<number, number>();
        for (const [id, parent] of links) {
          // The obvious model has no circles: a child is always the smaller number, and names one parent.
          if (id >= parent || parents.has(id)) continue;
          parents.set(id, parent);
          expect(call(child(String(id), String(parent))).label).toBe(String(rootOf(id)));
        }
        for (let id = 0; id <= 9; id++) expect(call(child(String(id))).label).toBe(String(rootOf(id)));
      }),
      { seed: 1 },
    );
  });

  it('keep no more links than allowed, and lose no call by it', () => {
    const { identify: call } = createCaller({ conversationsMax: 10 });
    for (let i = 0; i < 1000; i++)
      expect(call(child(`s${i}`, 'root'))).toMatchObject({ label: 'root', thread: `s${i}` });
    expect(call(child('s0'))).toMatchObject({ label: 's0', thread: '' });
  });
});

describe('previous_response_id', () => {
  const turn = (previous?: string): Sent => ({
    path: '/v1/responses',
    body: { input: 'go on', ...(previous === undefined ? {} : { previous_response_id: previous }) },
  });

  it('leads every turn to the program of the first', ({ call, identify: ask }) => {
    const first = call(turn(), { id: 'r1' });
    const second = call(turn('r1'), { id: 'r2' });
    expect(second).toMatchObject({ program: first.program, source: 'previous_response_id' });
    expect(call(turn('r2'), { id: 'r3' }).program).toBe(first.program);
    expect(ask(turn('r1')).program).toBe(first.program);
    expect(ask(turn('unheard')).source).toBe('none');
  });

  it('keeps named programs and threads together', ({ call, identify: ask }) => {
    const named = call({ ...turn(), headers: { 'x-maitred-program': 'p', 'x-maitred-thread': 's' } }, { id: 'r1' });
    expect(ask(turn('r1'))).toMatchObject({ program: named.program, thread: 's', label: 'p' });
    expect(ask({ ...turn('r1'), headers: { 'x-maitred-program': 'q' } }).label).toBe('q');
  });

  it('does not cross tenants, nor an end', ({ call, identify: ask, identifier }) => {
    const first = call(turn(), { id: 'r1' });
    expect(ask({ ...turn('r1'), tenant: 'other' }).source).toBe('none');
    identifier.ended(first.program);
    expect(ask(turn('r1')).source).toBe('none');
  });

  it('is remembered for a bounded number of responses', () => {
    const { call, identify: ask } = createCaller({ responsesMax: 2 });
    for (const id of ['r1', 'r2', 'r3']) call(turn(), { id });
    expect(ask(turn('r1')).source).toBe('none');
    expect(ask(turn('r3')).source).toBe('previous_response_id');
  });
});

describe('tenants', () => {
  const hostile = fc.oneof(
    fc.string(),
    fc.constantFrom('a', 'a:b', 'a~b', '%3A', 'a%', ':', '~', 'a:b:c', '~new-1', 'b'),
  );

  it('never share a program, whatever they and their clients are called (property)', () => {
    fc.assert(
      fc.property(hostile, hostile, hostile, hostile, (tenantA, tenantB, a, b) => {
        const caller = createCaller();
        const first = caller.identify({ tenant: tenantA, headers: { 'x-session-id': a } });
        const second = caller.identify({ tenant: tenantB, headers: { 'x-session-id': b } });
        const same = tenantA === tenantB && a.trim() === b.trim() && a.trim() !== '';
        expect(first.program === second.program).toBe(same);
      }),
      { seed: 1, numRuns: 1000 },
    );
  });

  it('cannot reach another’s program through a parent', ({ identify: call }) => {
    const theirs = call({ tenant: 'a', headers: { 'x-session-id': 'p' } });
    const ours = call({ tenant: 'b', headers: { 'x-session-id': 's', 'x-parent-session-id': 'p' } });
    expect(ours.program).not.toBe(theirs.program);
  });

  it('cannot name a program that was made here', ({ identify: call }) => {
    const made = call({});
    for (const id of [made.label, made.program, 'new-1', '~new-1', 't~new-1']) {
      expect(call({ headers: { 'x-maitred-program': id } }).program).not.toBe(made.program);
    }
  });
});

describe('hostile ids', () => {
  it.each(['x'.repeat(257), 'a\u0000b', 'a\r\nx-evil: 1', '会话', 'x'.repeat(1_000_000)])('are hashed: %.20j', (id) => {
    const { identify: call } = createCaller();
    const { label, program } = call({ body: { session_id: id } });
    expect(label).toMatch(/^sha256-[0-9a-f]{64}$/);
    expect(call({ body: { session_id: `${id} ` } }).program).toBe(program);
    expect(call({ body: { session_id: `${id}x` } }).program).not.toBe(program);
  });

  it('keeps an id of 256 characters, trimmed', () => {
    const id = 'x'.repeat(256);
    const { identify: call } = createCaller();
    expect(call({ headers: { 'x-session-id': ` ${id}\t` } }).label).toBe(id);
  });

  it('never throws, and always gives a label that a header can carry (property)', () => {
    const names = ['x-maitred-program', 'x-maitred-parent', 'x-session-id', 'baggage', 'traceparent', 'x-a-session-id'];
    const headers = fc.dictionary(fc.constantFrom(...names), fc.string({ unit: 'binary', maxLength: 300 }));
    const fields = fc.constantFrom('program_id', 'session_id', 'metadata', 'conversation', 'vllm_xargs', 'agent_hint');
    fc.assert(
      fc.property(headers, fc.dictionary(fields, fc.jsonValue()), (some, body) => {
        const caller = createCaller({ sources: [...DEFAULT_SOURCES, 'traceparent'] });
        const { label, program } = caller.identify({ headers: some, body });
        expect(label).toMatch(/^[\x20-\x7e]{1,260}$/);
        expect(program.startsWith('t:') || program.startsWith('t~')).toBe(true);
      }),
      { seed: 1 },
    );
  });
});

describe('names for operators', () => {
  it('finds what a client calls its program', ({ identify: call, identifier }) => {
    const root = call({ headers: { 'x-session-id': 'p' } });
    const child = call({ headers: { 'x-session-id': 's', 'x-parent-session-id': 'p' } });
    expect(identifier.named(tenantId('t'), ' p ')).toBe(root.program);
    expect(identifier.named(tenantId('t'), 's')).toBe(child.program);
    for (const id of ['', null, {}, undefined]) expect(identifier.named(tenantId('t'), id)).toBeUndefined();
  });
});
