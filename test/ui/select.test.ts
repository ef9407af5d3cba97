import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { namedProgram } from '../../sidecar/identity/names.js';
import type { EndedProgram, Engine } from '../../sidecar/admin/answers.js';
import { tenantId } from '../../src/index.js';
import { selectEnded, sortOf, sumsOf, tenantOf } from '../../ui/select.js';
import { typeHint, typeName, whyEnded } from '../../ui/words.js';

const VIEW = { tab: 'ended', sort: '', tenant: '', engine: '', text: '', model: '', agent_type: '' };

const row = (tenant: string, id: string, more: Partial<EndedProgram> = {}): EndedProgram => ({
  id,
  key: namedProgram(tenantId(tenant), id),
  model: null,
  identified_by: null,
  agent_type: null,
  cause: 'ended',
  ended_at: 0,
  duration_seconds: 0,
  queue_seconds: 0,
  service_seconds: 0,
  calls: 1,
  engine: 'gpu-1',
  ...more,
});

const rows = fc.array(
  fc
    .record({
      tenant: fc.constantFrom('default', 'a:b', 'c~%d', 'default/batch'),
      id: fc.constantFrom('alpha', 'Beta', 'alphabet', 'gamma:1'),
      ended_at: fc.integer({ min: 0, max: 9 }),
      duration_seconds: fc.integer({ min: 0, max: 9 }),
      engine: fc.constantFrom('gpu-1', 'gpu-2', null),
      model: fc.constantFrom('m', null),
      agent_type: fc.constantFrom('fix', null),
    })
    .map(({ tenant, id, ...more }) => row(tenant, id, more)),
);
const choices = fc.record({
  sort: fc.constantFrom('', 'ended_at', '-ended_at', 'duration_seconds', '-duration_seconds'),
  tenant: fc.constantFrom('', 'default', 'a:b', 'c~%d'),
  engine: fc.constantFrom('', 'gpu-1', 'gpu-3'),
  model: fc.constantFrom('', 'm'),
  agent_type: fc.constantFrom('', 'fix'),
  text: fc.constantFrom('', 'ALPHA', 'bet', 'alpha bet', '  '),
});

describe('ended programs', () => {
  it('are those that match every filter, each once, in the order of the view', () => {
    fc.assert(
      fc.property(rows, choices, (all, chosen) => {
        const found = selectEnded(all, { ...VIEW, ...chosen });
        const words = chosen.text.toLowerCase().trim().split(/\s+/);
        const wanted = all.filter(
          ({ key, engine, model, agent_type: type }) =>
            words.every((word) => key.toLowerCase().includes(word)) &&
            [engine, ''].includes(chosen.engine) &&
            [model, ''].includes(chosen.model) &&
            [type, ''].includes(chosen.agent_type) &&
            [tenantOf(key), ''].includes(chosen.tenant),
        );
        expect(new Set(found)).toEqual(new Set(wanted));
        expect(found).toHaveLength(wanted.length);
        const field = chosen.sort.replace('-', '') === 'duration_seconds' ? 'duration_seconds' : 'ended_at';
        const sign = chosen.sort.startsWith('-') || chosen.sort === '' ? -1 : 1;
        const values = found.map((each) => sign * each[field]);
        expect(values).toEqual(values.toSorted((a, b) => a - b));
      }),
    );
  });

  it('leave the list as it was', () => {
    const all = [row('a', 'x', { ended_at: 1 }), row('a', 'y', { ended_at: 2 })];
    expect(selectEnded(all, VIEW).map(({ id }) => id)).toEqual(['y', 'x']);
    expect(all.map(({ id }) => id)).toEqual(['x', 'y']);
  });
});

it('reads the tenant of any key', () => {
  fc.assert(fc.property(fc.string({ minLength: 1 }), (tenant) => tenantOf(row(tenant, 'id').key) === tenant));
});

it('sorts present programs by their wait, ended ones by their end, unless another column is chosen', () => {
  expect([sortOf({ tab: '', sort: '' }), sortOf({ tab: 'ended', sort: '' })]).toEqual(['-current_wait_seconds', '-ended_at']); // prettier-ignore
  expect(sortOf({ tab: 'ended', sort: 'calls' })).toBe('calls');
});

it('says of a batch’s line that it is done, and of another program that its client declared the end', () => {
  const line = row('default', `batch_0123456789abcdef01234567.12`);
  expect([line, row('default', 'task'), { ...line, cause: 'expired' as const }].map(whyEnded)).toEqual([
    'its line is done',
    'declared over',
    'idle for too long',
  ]);
});

it('calls an agent type by its own name, or shows a hash in short and says what it is', () => {
  expect(['26cd24b6', 'fix-bugs', 'cafe', null].map(typeName)).toEqual(['type 26cd', 'fix-bugs', 'cafe', '–']);
  expect(['26cd24b6', 'fix-bugs', null].map(typeHint)).toEqual([
    expect.stringMatching(/^26cd24b6\. .*x-maitred-workflow/),
    'fix-bugs',
    'not known here',
  ]);
});

describe('the sums of engines', () => {
  const engine = (state: Engine['state'], more: Partial<Engine> = {}): Engine =>
    ({ state, in_flight: 2, working_set_tokens: 30, window: 4, rest_tokens: 50, capacity_tokens: 60, all_gateways: null, ...more }) as Engine; // prettier-ignore

  it('have what all engines have, and the bounds of those that take calls', () => {
    const all = [engine('up'), engine('probation', { rest_tokens: null }), engine('down'), engine('draining'), engine('starting')]; // prettier-ignore
    expect(sumsOf(all)).toEqual({ inFlight: 10, window: 8, workingSet: 150, gate: 110 });
    const whole = { window: 9, in_flight: 7, working_set_tokens: 80 };
    expect(sumsOf([engine('up', { all_gateways: whole })])).toEqual({
      inFlight: 7,
      window: 9,
      workingSet: 80,
      gate: 50,
    });
  });

  it('have no bound without engines that take calls, or where one has none', () => {
    for (const list of [
      [],
      [engine('drained')],
      [engine('up'), engine('up', { window: null, rest_tokens: null, capacity_tokens: null })],
    ])
      // prettier-ignore
      expect(sumsOf(list)).toMatchObject({ window: null, gate: null });
  });
});
