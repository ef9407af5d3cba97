import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { CoreReplay, type Difference } from '../../cli/core-replay.js';
import { BEHAVIOUR, BEHAVIOUR_CHANGES, FIRST_BEHAVIOUR } from '../../src/index.js';
import { recordAll } from '../support/behaviour-logs.js';
import { ROOT } from '../support/tree.js';

const LOGS = `${ROOT}test/fixtures/event-logs`;
const COMMAND = 'RECORD=1 npx vitest run test/cli/behaviours.test.ts';
const folderOf = (behaviour: number) => `${LOGS}/${behaviour}`;
const isRecorded = (behaviour: number) => existsSync(folderOf(behaviour));
const logsOf = (behaviour: number) =>
  isRecorded(behaviour) ? readdirSync(folderOf(behaviour)).map((name) => `${behaviour}/${name}`) : [];
const NUMBERS = Array.from({ length: BEHAVIOUR - FIRST_BEHAVIOUR + 1 }, (_, index) => FIRST_BEHAVIOUR + index);

/** Replays a log to its end, past what differs. @throws ReplayFault when a line cannot be replayed */
function replay(log: string): { readonly core: CoreReplay; readonly differences: readonly Difference[] } {
  const text = gunzipSync(readFileSync(`${LOGS}/${log}`)).toString();
  const [header, ...lines] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  const core = new CoreReplay(header);
  return { core, differences: lines.flatMap((line) => core.take(line) ?? []) };
}

it.skipIf(process.env['RECORD'] === undefined)('records the logs of a new behaviour', async () => {
  const folder = folderOf(BEHAVIOUR);
  expect(
    isRecorded(BEHAVIOUR),
    `${folder} is there: a changed core has a new number, in src/protocol/behaviour.ts`,
  ).toBe(false);
  mkdirSync(folder);
  await recordAll(folder);
});

describe('behaviours', () => {
  it('are numbered one after the other, and say what differs', () => {
    expect(BEHAVIOUR_CHANGES.map(({ behaviour }) => behaviour)).toEqual(NUMBERS.slice(1));
    expect(BEHAVIOUR_CHANGES.every(({ change, differs }) => /^[A-Z].*\.$/.test(change) && differs !== '')).toBe(true);
  });

  it('have recorded logs each', () => {
    const missing = NUMBERS.filter((behaviour) => !isRecorded(behaviour));
    expect(missing, `record them: ${COMMAND}`).toEqual([]);
  });
});

it.each(logsOf(BEHAVIOUR))('%s, of the present behaviour, is replayed with the same commands', (log) => {
  const { core, differences } = replay(log);
  const told = `The core commands something else than when ${log} was recorded.`;
  const meant = `If that is meant, add a line to src/protocol/behaviour.ts and record anew: ${COMMAND}`;
  expect(differences[0], `${told} ${meant}`).toBeUndefined();
  expect(core).toMatchObject({ behaviour: BEHAVIOUR, changes: [], ended: 'closed' });
});

it.each(NUMBERS.slice(0, -1).flatMap(logsOf))('%s, of an older behaviour, is replayed to its end', (log) => {
  const { core, differences } = replay(log);
  expect(core.ended).toBe('closed');
  expect(core.changes.map(({ behaviour }) => behaviour)).toEqual(NUMBERS.slice(core.behaviour - FIRST_BEHAVIOUR + 1));
  // A step that the core refuses is no difference of commands.
  expect(differences.filter(({ field }) => field === '')).toEqual([]);
});
