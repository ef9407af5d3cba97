import { tenantId } from '../../src/index.js';
import { apiFor } from '../../sidecar/apis/index.js';
import { BodyReader } from '../../sidecar/bodies/reader.js';
import { loadConfig } from '../../sidecar/config/load.js';
import { percentile, printTable, say, show } from '../numbers.js';
import { Agent } from './agent.js';

const KB = 1024;
const TENANT = tenantId('t');
const PATH = '/v1/chat/completions';

/** Cost of reading the bodies of one agent, with and without what is known of their beginnings. */
export async function benchReading(quick: boolean): Promise<void> {
  say(`Reading bodies of an agent that grow by an answer and a tool's result, in microseconds: the shape checked, parsed, model, limits
and size read, hashed. new: without what is known of earlier ones, so above 256 KB by the thread. known: with it.\n`);
  const rows: string[][] = [];
  for (const kb of [16, 64, 256, 512]) rows.push(await readingRow(kb, quick ? 30 : 300));
  printTable(['mean body', 'new p50', 'lowest tenth', 'known p50', 'lowest tenth', 'of new'], rows);
}

async function readingRow(kb: number, rounds: number): Promise<string[]> {
  const { limits, ...config } = loadConfig({});
  const readers = [0, limits.beginningBytes].map((bytes) => new BodyReader(() => ({ ...config, limits }), bytes));
  const api = apiFor(PATH);
  if (api === undefined) throw new Error('no API speaks chat');
  const agent = new Agent(kb * KB, false, 0);
  const micros: number[][] = readers.map(() => []);
  for (let round = -rounds / 3; round < rounds; round += 1) {
    const body = agent.request();
    for (const [index, reader] of readers.entries()) {
      const bytes = Buffer.from(body);
      const startedAt = performance.now();
      const read = reader.read(TENANT, api, PATH, bytes, () => true);
      if (read instanceof Promise) await read;
      if (round >= 0) micros[index]?.push((performance.now() - startedAt) * 1000);
    }
    agent.goOn();
  }
  await Promise.all(readers.map((reader) => reader.close()));
  const [fresh = [], known = []] = micros;
  return [
    `${kb} KB`,
    ...[fresh, known].flatMap((times) => [0.5, 0.1].map((share) => show(percentile(times, share)))),
    (percentile(known, 0.1) / percentile(fresh, 0.1)).toFixed(2),
  ];
}
