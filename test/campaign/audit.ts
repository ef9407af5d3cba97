import { Connection, type Ask, type ClientPorts, type Heard } from './clients.js';
import type { Oracle } from './oracle.js';
import { ADMIN_TOKEN } from './scenario.js';

/** What asking the gateway takes while the world's time stands still. */
export interface Frozen extends Omit<ClientPorts, 'ended'> {
  /** Lets everything happen that is due by now. */
  readonly now: () => Promise<void>;
  /** Whether the gateway's views of calls, programs and engines are its own; those of several take time. */
  readonly isAlone: boolean;
}

export const askOf = (method: string, path: string, headers: Readonly<Record<string, string>>, body = ''): Ask => ({
  rid: 'operator',
  manner: 'operator',
  method,
  path,
  headers,
  body,
  stream: false,
  sendGapMs: 0,
  holdMs: 0,
  lies: false,
});

/** Asks the gateway as an operator, in no time; undefined when it does not answer at once. */
export async function askNow(frozen: Frozen, ask: Ask): Promise<Heard | undefined> {
  await frozen.now();
  const ends: Heard[] = [];
  const quiet = { ...frozen, say: () => undefined, ended: (heard: Heard) => void ends.push(heard) };
  const connection = new Connection(quiet, 0);
  connection.ask(ask);
  await frozen.now();
  connection.close();
  await frozen.now();
  return ends[0];
}

export const asOperator = (method: string, path: string, body = ''): Ask =>
  askOf(method, path, { host: '127.0.0.1:8080', authorization: `Bearer ${ADMIN_TOKEN}` }, body);

/** Samples of the gateway's own metrics, `name{labels}` to value. */
async function metricsOf(frozen: Frozen): Promise<ReadonlyMap<string, number>> {
  const text = (await askNow(frozen, asOperator('GET', '/metrics')))?.text ?? '';
  const samples = [...text.matchAll(/^(maitred_\S+) (\S+)$/gm)];
  return new Map(samples.map(([, name = '', value]) => [name, Number(value)]));
}

async function rowsOf(frozen: Frozen, path: string): Promise<Record<string, unknown>> {
  const heard = await askNow(frozen, asOperator('GET', path));
  return heard?.head?.status === 200 ? (JSON.parse(heard.text) as Record<string, unknown>) : {};
}

interface EngineRow {
  readonly id: string;
  readonly in_flight: number;
  readonly state: string;
}

/** As the metrics have them where views are of several gateways. */
export async function engineRows(frozen: Frozen): Promise<EngineRow[]> {
  if (frozen.isAlone) return ((await rowsOf(frozen, '/engines')) as { engines?: EngineRow[] }).engines ?? [];
  const metrics = await metricsOf(frozen);
  return [...metrics].flatMap(([name, value]) => {
    const [, id = '', state = ''] = /^maitred_engine_state\{engine="(\w+)",state="(\w+)"\}/.exec(name) ?? [];
    return value === 1 && id !== ''
      ? [{ id, state, in_flight: metrics.get(`maitred_engine_in_flight_calls{engine="${id}"}`) ?? 0 }]
      : [];
  });
}

/** Holds the admin views against the book, and the metrics, which take longer to ask for. */
export async function audit(frozen: Frozen, oracle: Oracle, counts: 'views' | 'metrics'): Promise<void> {
  const same = (what: string, told: unknown, booked: number): void => {
    if (told !== booked) oracle.wrong(`G8: ${what}: the gateway says ${String(told)}, the world ${booked}`);
  };
  for (const { id, state, in_flight: told } of await engineRows(frozen)) {
    const booked = oracle.book.running(id);
    // Of an engine that is to be empty, requests that are passed through count, too.
    if (state !== 'draining' || told < booked) same(`calls in flight on ${id}`, told, booked);
  }
  if (frozen.isAlone) {
    same('calls waiting', (await rowsOf(frozen, '/queue'))['waiting'], oracle.book.waiting);
    const rows = (await rowsOf(frozen, '/programs?limit=1000')) as { programs?: { active_calls: number }[] };
    const told = sum((rows.programs ?? []).map((row) => row.active_calls));
    // A program that was ended has a row while its calls go on, unless another of its name has one.
    same('active calls of all programs', told, Math.min(oracle.book.active, Math.max(oracle.book.listed, told)));
  }
  if (counts === 'views') return;
  const metrics = await metricsOf(frozen);
  const total = (name: string): number => sum([...metrics].filter(([key]) => key.startsWith(name)).map(([, n]) => n));
  same('calls that wait', total('maitred_waiting_calls'), oracle.book.waiting);
  same('calls in the system', metrics.get('maitred_calls_in_system'), oracle.book.active);
  same('calls ended', total('maitred_calls_ended_total'), oracle.accepted.size);
  same('requests refused', total('maitred_calls_rejected_total'), oracle.refused);
  same('calls accepted', metrics.get('maitred_calls_accepted_total'), oracle.accepted.size + oracle.book.active);
  same('broken invariants', metrics.get('maitred_invariant_violations_total'), 0);
  for (const [name, value] of metrics) if (value < 0) oracle.wrong(`G7: ${name} is ${value}`);
}

/** Nothing has been asked for long enough for everything to be forgotten: all is zero again. */
export async function auditRest(frozen: Frozen, oracle: Oracle): Promise<void> {
  const metrics = await metricsOf(frozen);
  const held = /^maitred_(calls_in_system|programs|kept_places|queue_calls|queued|engine_in_flight|engine_working_set)/;
  for (const [name, value] of metrics)
    if (held.test(name) && !name.startsWith('maitred_programs_') && value !== 0)
      oracle.wrong(`G7: at rest ${name} is ${value}`);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
