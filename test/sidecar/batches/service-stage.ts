import { writeFileSync } from 'node:fs';
import pino from 'pino';
import { Batches, type BatchPorts } from '../../../sidecar/batches/batches.js';
import type { LineAnswer, LineRequest } from '../../../sidecar/batches/run.js';
import { tenantId, type TenantId } from '../../../src/index.js';
import { cleanUp, configOf } from '../gateway/world.js';
import { folderOf } from '../../support/folder.js';
import { CHAT, lineOf } from './service.js';

export const OK: LineAnswer = { status: 200, body: Buffer.from('{}'), isBusy: false };
export const A = tenantId('a');
export const B = tenantId('b');

/** Batches whose clock, timers and answers are the test's. */
type Given = Partial<BatchPorts> & { readonly inFlightMax?: number; readonly openMax?: number };
export async function stage(folder = folderOf({}), { inFlightMax = 4, openMax = 50, ...more }: Given = {}) {
  const clock = { now: 1_800_000_000_000 };
  const timers = new Set<{ fn: () => void; ms: number }>();
  const asked: {
    id: string;
    tenant: TenantId;
    signs: LineRequest;
    isBackground: boolean;
    answer: (answer: LineAnswer | undefined) => void;
  }[] = [];
  const { batches: config } = configOf([], { batches: { folder, inFlightMax, openMax } });
  const batches = await Batches.open(folder, {
    config: () => config,
    ask: (tenant, line) =>
      new Promise((answer) => asked.push({ id: line.id, tenant, signs: line, isBackground: !line.isLate, answer })),
    unserved: () => undefined,
    ended: () => undefined,
    engines: () => [],
    isOurs: () => true,
    now: () => clock.now,
    setTimer: (fn, ms) => {
      const timer = { fn, ms };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    log: pino({ level: 'silent' }),
    ...more,
  });
  await batches.start();
  const close = async () => {
    const closed = batches.close();
    for (const { answer } of asked) answer(undefined);
    await closed;
  };
  cleanUp(close);
  /** Lets `ms` pass, and what is due happen. */
  const pass = (ms: number) => {
    clock.now += ms;
    for (const timer of [...timers])
      if (timer.ms <= ms) {
        timers.delete(timer);
        timer.fn();
      }
  };
  const make = async (tenant: TenantId, lines: readonly string[], window = '24h') => {
    const shelf = batches.shelf(tenant);
    const id = `file-${shelf.files.size}in`;
    writeFileSync(shelf.pathOf(id), lines.join('\n'));
    const at = clock.now / 1000;
    await shelf.addFile({
      id,
      object: 'file',
      bytes: 1,
      created_at: at,
      expires_at: at + 86_400,
      filename: 'x',
      purpose: 'batch',
      status: 'processed',
    });
    const batch = await batches.create(tenant, { input_file_id: id, endpoint: CHAT, completion_window: window });
    return { shelf, id: batch.id, shown: () => batches.shown(shelf, batch.id) };
  };
  return { batches, clock, asked, pass, make, folder, close };
}

export const lines = (count: number) => Array.from({ length: count }, (_, index) => lineOf(`l${index}`));
