import { createInterface, type Interface } from 'node:readline/promises';
import { plain } from '../../text/index.js';
import { ConfigError, ENGINE_KINDS, type EngineConfig } from '../../sidecar/config/index.js';
import { Interrupted } from '../signals.js';
import { check, ROLES, type Plan, type PlannedEngine } from './plan.js';
import { probe } from './probe.js';

/** Stand-in engines of a configuration without engines. */
const EMBEDDED = 2;

/** Asks for a plan on the terminal. @throws Interrupted when the dialogue is left */
export async function askPlan(plan: Plan): Promise<Plan> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const left = new Promise<never>((_, reject) => {
    lines.once('close', () => reject(new Interrupted('nothing was written')));
  });
  try {
    return await Promise.race([dialogue(lines, plan), left]);
  } finally {
    left.catch(() => undefined);
    lines.close();
  }
}

async function dialogue(lines: Interface, plan: Plan): Promise<Plan> {
  const urls = await ask(lines, 'Base URLs of the engines (empty: two stand-in engines to try it out): ', (text) =>
    check({ engines: wordsIn(text).map((url) => ({ url })) }).engines.map(({ url }) => url),
  );
  const engines: PlannedEngine[] = [];
  for (const url of urls) engines.push(await askEngine(lines, url));
  const role = await ask(lines, 'Who calls it: programs on this machine (sidecar), or others too (gateway)? [sidecar] ', (text) => oneOf(text || 'sidecar', ROLES)); // prettier-ignore
  const port = await ask(lines, `Port [${plan.port}]: `, (text) => check({ listen: { port: Number(text || plan.port) } }).listen.port); // prettier-ignore
  const tenants = await ask(lines, 'Tenants that get an API key each (empty: no keys): ', (text) => {
    const names = wordsIn(text);
    // The hashes only need to differ.
    check({ auth: { keys: names.map((tenant, at) => ({ tenant, sha256: String(at).padStart(64, '0') })) } });
    return names;
  });
  return { ...plan, engines, embedded: engines.length === 0 ? EMBEDDED : 0, role, port, tenants };
}

async function askEngine(lines: Interface, url: string): Promise<PlannedEngine> {
  const probed = await probe({ url, kind: 'auto' });
  tell(probedText(url, probed));
  const kind = 'kind' in probed ? probed.kind : await ask(lines, `  Its kind (${ENGINE_KINDS.join(', ')}) [auto]: `, (text) => oneOf(text || 'auto', ENGINE_KINDS)); // prettier-ignore
  const isSilent = 'reason' in probed;
  if (!isSilent && probed.capacityTokens !== undefined) return { url, kind };
  const capacityTokens = await ask(lines, '  Tokens that its KV cache holds (empty: its own report, or unknown): ', (text) => (text === '' ? undefined : check({ engines: [{ url, capacityTokens: Number(text) }] }).engines[0]?.capacityTokens)); // prettier-ignore
  return { url, kind, isSilent, ...(capacityTokens !== undefined && { capacityTokens }) };
}

/** One line about what an engine said. */
export function probedText(url: string, probed: Awaited<ReturnType<typeof probe>>): string {
  if ('reason' in probed) return `  ${url}: no answer (${probed.reason})`;
  const capacity = probed.capacityTokens === undefined ? 'KV capacity unknown' : `KV cache of ${probed.capacityTokens} tokens`; // prettier-ignore
  return `  ${url}: ${[probed.kind, ...probed.models.slice(0, 3), capacity].join(', ')}`;
}

/** Repeats the question until `read` takes the answer. */
async function ask<T>(lines: Interface, question: string, read: (text: string) => T): Promise<T> {
  for (;;) {
    const text = (await lines.question(question)).trim();
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      tell(`  ${error.problems.map(({ message }) => message).join('; ')}`);
    }
  }
}

function oneOf<T extends EngineConfig['kind'] | Plan['role']>(text: string, words: readonly T[]): T {
  const word = words.find((each) => each === text.toLowerCase());
  if (word !== undefined) return word;
  throw new ConfigError([{ path: '', message: `must be one of ${words.join(', ')}` }]);
}

const wordsIn = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');
const tell = (text: string) => process.stderr.write(`${plain(text)}\n`);
