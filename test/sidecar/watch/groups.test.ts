import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { EndedProgram, ProgramGroup, ProgramGroups } from '../../../sidecar/admin/answers.js';
import { joinGroups } from '../../../sidecar/admin/groups.js';
import { readProgramQuery } from '../../../sidecar/admin/query.js';
import { namedProgram, tenantOf } from '../../../sidecar/identity/names.js';
import { tenantId } from '../../../src/index.js';
import { lone, named } from '../gateway/world.js';

const row = (tenant: string, id: string, more: Partial<EndedProgram> = {}) =>
  ({
    id,
    tenant,
    key: namedProgram(tenantId(tenant), id),
    model: null,
    agent_type: null,
    engine: 'gpu-1',
    ended_at: 9,
    calls: 2,
    prompt_tokens: 30,
    output_tokens: 4,
    queue_seconds: 0.5,
    service_seconds: 1,
    ...more,
  }) as EndedProgram;
const queryOf = (parameters: Record<string, string>) => readProgramQuery(new URLSearchParams(parameters));

const ENDED = fc
  .record({
    tenant: fc.constantFrom('default', 'a:b', 'c~%d', 'default/batch'),
    id: fc.constantFrom('alpha', 'Beta', 'alphabet', 'gamma:1'),
    engine: fc.constantFrom('gpu-1', 'gpu-2', null),
    model: fc.constantFrom('m', null),
    agent_type: fc.constantFrom('fix', null),
    identified_by: fc.constantFrom('history', 'none'),
  })
  .map(({ tenant, id, ...more }) => row(tenant, id, more));
const CHOSEN = fc.record(
  {
    tenant: fc.constantFrom('default', 'a:b', 'c~%d'),
    engine: fc.constantFrom('gpu-1', 'gpu-3'),
    model: fc.constant('m'),
    agent_type: fc.constant('fix'),
    identified_by: fc.constant('none'),
    text: fc.constantFrom('ALPHA', 'bet', 'alpha bet', '  '),
  },
  { requiredKeys: [] },
);

it('selects those ended programs that match every filter, and none by a state', () => {
  fc.assert(
    fc.property(fc.array(ENDED), CHOSEN, (all, { text = '', ...chosen }) => {
      const words = text.toLowerCase().trim().split(/\s+/);
      const wanted = all.filter(
        (each) =>
          words.every((word) => each.key.toLowerCase().includes(word)) &&
          Object.entries(chosen).every(([name, value]) => each[name as 'tenant'] === value),
      );
      expect(all.filter(queryOf({ ...chosen, text }).matchesEnded)).toEqual(wanted);
      for (const state of ['active', 'idle'])
        expect(all.filter(queryOf({ ...chosen, text, state }).matchesEnded)).toEqual([]);
    }),
  );
});

it('reads the tenant of any key', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (tenant) => tenantOf(namedProgram(tenantId(tenant), 'id')) === tenant),
  );
});

it('adds up present and ended programs by name, the one with the most engine time first', () => {
  const present = (name: string | null, seconds: number): ProgramGroup => ({
    name,
    programs: 2,
    waiting: 1,
    running: 1,
    current_wait_seconds: seconds,
    attained_service_seconds: 0.1,
    ended: 0,
    calls: 3,
    prompt_tokens: 100,
    output_tokens: 10,
    queue_seconds: 0.2,
    service_seconds: 0.1,
  });
  const gone = [
    row('a', 'x', { model: 'm' }),
    row('a', 'y', { model: 'm' }),
    row('b', 'z', { service_seconds: 0.2, ended_at: 3 }),
  ];
  const {
    groups,
    total,
    ended_since: since,
  } = joinGroups(queryOf({}), 'model', [[present('m', 4), present('n', -1)], [present('m', 5)]], { programs: gone });
  expect([total, since]).toEqual([3, 3]);
  expect(groups).toEqual([
    {
      name: 'm',
      programs: 4,
      waiting: 2,
      running: 2,
      current_wait_seconds: 5,
      attained_service_seconds: 0.2,
      ended: 2,
      calls: 10,
      prompt_tokens: 260,
      output_tokens: 28,
      queue_seconds: 1.4,
      service_seconds: 2.2,
    },
    {
      name: null,
      programs: 0,
      waiting: 0,
      running: 0,
      current_wait_seconds: 0,
      attained_service_seconds: 0,
      ended: 1,
      calls: 2,
      prompt_tokens: 30,
      output_tokens: 4,
      queue_seconds: 0.5,
      service_seconds: 0.2,
    },
    { ...present('n', 0) },
  ]);
  expect(joinGroups(queryOf({ tenant: 'none', limit: '1' }), 'tenant', [], { programs: gone })).toEqual({
    by: 'tenant',
    ended_since: 3,
    groups: [],
    total: 0,
    limit: 1,
    offset: 0,
  });
  expect(joinGroups(queryOf({}), 'tenant', [], { programs: [] })).toMatchObject({ ended_since: null, total: 0 });
});

it('tells who used the gateway after their programs have ended', async () => {
  const { chat, ask, read } = await lone();
  for (const id of ['p', 'p', 'q']) await chat({}, { ...named(id), 'x-maitred-workflow': 'fix' });
  const groups = (query: string) => read<ProgramGroups>(`/programs?${query}`);
  const { groups: before, ended_since: never } = await groups('by=tenant');
  expect([never, before]).toMatchObject([null, [{ name: 'default', programs: 2, ended: 0, calls: 3 }]]);
  for (const id of ['p', 'q']) expect((await ask(`/programs/${id}/end`, { method: 'POST' })).status).toBe(200);
  const { prompt_tokens, output_tokens } = before[0]!;
  const after = { programs: 0, ended: 2, calls: 3, prompt_tokens, output_tokens };
  expect(await groups('by=tenant')).toMatchObject({
    ended_since: expect.any(Number) as number,
    groups: [{ name: 'default', ...after }],
  });
  expect(prompt_tokens).toBeGreaterThan(0);
  expect((await groups('by=agent_type&agent_type=fix')).groups).toMatchObject([{ name: 'fix', ...after }]);
  expect((await groups('by=tenant&state=idle')).groups).toEqual([]);
});
