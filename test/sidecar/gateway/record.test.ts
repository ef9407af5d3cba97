import assert from 'node:assert/strict';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGunzip, gunzipSync } from 'node:zlib';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { CoreReplay } from '../../../cli/core-replay.js';
import { BALANCER_NAMES } from '../../../loadbalancer/index.js';
import { EventLog } from '../../../sidecar/recording/recorder.js';
import { engine } from '../../sim/client.js';
import { millis, POLICY_NAMES, TENANTS_NAMES, type LogLine } from '../../../src/index.js';
import { arrived, cancelled, ended, reported, woke } from '../../support/core-events.js';
import { Dice } from '../../support/dice.js';
import { folderOf } from '../../support/folder.js';
import { JSON_TYPE, configOf, until, world } from './world.js';

type Logged = Record<string, unknown>;

async function eventLog(file: string, config = configOf([])) {
  const logs: Logged[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void logs.push(JSON.parse(line) as Logged) });
  return { logs, recorder: await EventLog.open({ file, config, log }) };
}

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

/** Replays a log. @throws if the core's commands differ from a line */
function replay(text: string): CoreReplay {
  const [header, ...lines] = linesOf(text);
  const core = new CoreReplay(header);
  for (const line of lines) assert.equal(core.take(line), undefined);
  return core;
}

const newLog = () => join(folderOf({}), 'events.jsonl');
const PAIRS = Array.from({ length: Math.max(POLICY_NAMES.length, BALANCER_NAMES.length) }, (_, at) => {
  const pick = <T>(names: readonly T[], shift: number) => names[(at + shift) % names.length]!;
  const settings = (shift: number) => ({
    policy: { name: pick(POLICY_NAMES, shift), tenants: pick(TENANTS_NAMES, shift), tenantWeights: { default: 2 } },
    balancer: { name: pick(BALANCER_NAMES, shift), thresholdTokens: 60 },
  });
  return { before: settings(0), after: settings(1) };
});

describe('a recorded gateway', () => {
  it.each(PAIRS)(
    'by $before.policy.name and $before.balancer.name, then by others, is replayed with the same commands',
    async ({ before, after }) => {
      const options = { speed: 150, models: ['m'] };
      const engines = [await engine(options), await engine(options)];
      const file = newLog();
      const overrides = {
        admission: { window: 2 },
        policy: { ...before.policy, firstQuantumMs: 20 },
        balancer: before.balancer,
        starvation: { waitMsMax: 60 },
        limits: { queuedMax: 30, programsMax: 60 },
        health: { failuresMax: 1, intervalMs: 20, backoffMs: 50 },
      };
      const { recorder } = await eventLog(file, configOf(engines, overrides));
      const { gateway, ask, admin, metrics } = await world(engines, overrides, { recorder });
      const dice = new Dice(BALANCER_NAMES.length + before.policy.name.length);
      const program = async (id: number) => {
        for (let turn = 0; turn < 3; turn += 1) {
          const leaving = new AbortController();
          if (dice.chance(0.2)) setTimeout(() => leaving.abort(), dice.int(1, 60));
          const content = `secret words of ${id % 5} `.repeat(60 + 60 * turn);
          const body = { model: 'm', messages: [{ role: 'user', content }], max_tokens: dice.int(1, 60) };
          const headers = { ...JSON_TYPE, 'x-maitred-program': `secret-${id}`, 'x-maitred-thread': `helper-${id % 2}` };
          await ask('/v1/chat/completions', {
            headers,
            body: JSON.stringify({ ...body, stream: dice.chance(0.5), ignore_eos: true }),
            signal: leaving.signal,
          }).catch(() => undefined);
        }
      };
      const programs = Array.from({ length: 24 }, (_, id) => program(id));
      await Promise.race(programs);
      gateway.reload(configOf(engines, { ...overrides, ...after }));
      await programs[10];
      await engines[0]!.close();
      await Promise.all(programs);
      await until(async () => /"state":"down"/.test((await admin('/engines')).text));
      await admin('/programs/secret-7/end', { method: 'POST' });
      await until(async () => (await metrics()).get('maitred_calls_in_system') === 0);
      await gateway.close();
      await recorder.close();

      const text = readFileSync(file, 'utf8');
      expect(text).not.toMatch(/secret|helper/);
      const core = replay(text);
      expect(core).toMatchObject({ ended: 'closed', steps: linesOf(text).length - 2 });
      expect(core.commands).toBeGreaterThan(40);
      const types = new Set(linesOf(text).map((line) => (line as { event?: { type: string } }).event?.type));
      for (const type of ['callFinished', 'callCancelled', 'programEnded', 'engineLost']) expect(types).toContain(type);
      expect(linesOf(text).filter((line) => 'settings' in (line as LogLine))).toHaveLength(2);
    },
  );
});

describe('an event log', () => {
  it('keeps what is the same the same, and nothing that tells what it was', async () => {
    const file = newLog();
    const { recorder } = await eventLog(file);
    const facts = { tenant: 'acme', thread: 'reader', family: { id: 4_294_967_295, tokens: 9 } };
    recorder.step(arrived('c1', { ...facts, program: 'acme:one' }), millis(1), []);
    recorder.step(arrived('c2', { ...facts, program: 'acme:two', thread: '' }), millis(2), []);
    const gone = { calls: 1, serviceMs: millis(1), waitingMs: millis(0), durationMs: millis(9) };
    const [program] = [arrived('c1', { program: 'acme:one' }).program];
    recorder.step(ended('acme:one'), millis(3), [{ type: 'programGone', program, cause: 'ended', ...gone }]);
    await recorder.close();
    const text = readFileSync(file, 'utf8');
    expect(text).not.toMatch(/acme|reader|:one|:two|4294967295/);
    type Step = { event: Record<string, unknown>; commands: { program: string }[] };
    const [one, two, end] = linesOf(text).slice(1) as [Step, Step, Step];
    expect(one.event['program']).not.toBe(two.event['program']);
    expect(one.event['tenant']).toBe(two.event['tenant']);
    expect(two.event['thread']).toBe('');
    expect(end.event['program']).toBe(one.event['program']);
    expect(end.commands[0]?.program).toBe(one.event['program']);
    expect(one.event['family']).toEqual(two.event['family']);
  });

  it('is packed by its name, and what was written can be read before its end', async () => {
    const file = `${newLog()}.gz`;
    const { recorder, logs } = await eventLog(file);
    recorder.step(woke, millis(1), []);
    await until(() => existsSync(file) && readFileSync(file).length > 200);
    const chunks: Buffer[] = [];
    const unpacker = createReadStream(file).pipe(createGunzip());
    unpacker.on('error', () => undefined);
    unpacker.on('data', (chunk: Buffer) => chunks.push(chunk));
    await new Promise((resolve) => unpacker.on('close', resolve));
    expect(linesOf(Buffer.concat(chunks).toString())).toHaveLength(2);
    await recorder.close();
    expect(replay(gunzipSync(readFileSync(file)).toString())).toMatchObject({ steps: 1, ended: 'closed' });
    expect(logs).toMatchObject([{ level: 30, steps: 1 }]);
  });

  it.runIf(existsSync('/dev/full'))('ends when its disk is full, with one error, and takes no harm', async () => {
    const { recorder, logs } = await eventLog('/dev/full');
    await until(() => logs.length > 0);
    for (let step = 0; step < 1000; step += 1) recorder.step(cancelled('c'), millis(step), []);
    await recorder.close();
    expect(logs).toMatchObject([{ level: 50, err: { code: 'ENOSPC' } }]);
  });

  it('ends, and says so in its last line, when its disk falls behind by more than is held', async () => {
    const file = newLog();
    const { recorder, logs } = await eventLog(file, configOf([], { limits: { recordBytes: 65_536 } }));
    // All steps in one turn of the event loop, in which nothing can be written.
    for (let step = 0; step < 5000; step += 1) recorder.step(reported('engine', { waiting: step }), millis(step), []);
    expect(logs).toMatchObject([{ level: 50 }]);
    await recorder.close();
    const core = replay(readFileSync(file, 'utf8'));
    expect(core.ended).toBe('behind');
    expect(core.steps).toBeGreaterThan(100);
    expect(core.steps).toBeLessThan(5000);
    expect(logs).toHaveLength(1);
  });

  it('is not begun where it cannot be written', async () => {
    await expect(eventLog(join(folderOf({}), 'no', 'folder'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
