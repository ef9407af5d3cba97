import { inspect } from 'node:util';
import {
  engineId,
  type EngineId,
  type Millis,
  type ProgramId,
  type ProgramRecord,
  type Tokens,
} from '../../src/index.js';
import { EngineLedger, type Holding } from '../engine-ledger.js';
import { gatewayId, type EngineClaim, type GatewayId } from '../messages.js';
import type { Taken } from '../shared-state.js';
import type { LedgerState } from './shares.js';

/* The scripts' arguments and answers. Any other answer throws a TypeError: the store then counts as failing. */

/** Threads of one record; of more, those with the largest contexts. */
const THREADS_MAX = 256;
const TOKENS = ['loadTokens', 'activeTokens', 'claimTokens', 'cachedTokens'] as const;
type Counted = (typeof TOKENS)[number];

export function claimText(claims: readonly EngineClaim[], released: readonly EngineId[]): string {
  const claimed = claims.map((claim) => {
    const { engine, keeps, window, inFlight, waiting, weight, steps, ended } = claim;
    // A level without calls may be absent. An empty list would be an empty object in Lua.
    const levels = Array.from(waiting.length > 0 ? waiting : [0], (calls: number | undefined) => calls ?? 0);
    const tokens = TOKENS.map((name) => claim[name]);
    return [engine, keeps, window === Infinity ? -1 : window, inFlight, levels, weight, steps, ended, ...tokens];
  });
  return JSON.stringify([...claimed, ...released.map((engine) => [engine])]);
}

/** Service as text keeps all its digits. */
export function recordArguments(program: ProgramId, { serviceMs, calls, contexts, ...place }: ProgramRecord): string[] {
  let threads = Object.entries(contexts);
  if (threads.length > THREADS_MAX) threads = threads.toSorted(([, a], [, b]) => b - a).slice(0, THREADS_MAX);
  return [program, String(serviceMs), String(calls), JSON.stringify({ ...place, threads })];
}

export function parseClaimed(reply: unknown): { readonly isNew: boolean; readonly states: LedgerState[] } {
  const [isNew, text] = listOf(reply);
  return { isNew: countOf(isNew) > 0, states: parseLedgers(textOf(text)) };
}

export const parseLedgers = (text: string): LedgerState[] =>
  listOf(JSON.parse(text)).map((entry) => {
    const [engine, fields] = listOf(entry);
    const { since, rev, holdings } = fieldsOf(fields);
    const named = listOf(holdings).map((holding) => holdingOf(textOf(engine), holding));
    return {
      ledger: new EngineLedger(engineId(textOf(engine)), new Map(named)),
      since: countOf(since),
      rev: countOf(rev),
    };
  });

function holdingOf(engine: string, holding: unknown): [GatewayId, Holding] {
  const [gateway, slots, window, inFlight, waiting, weight, steps, ended, ...tokens] = listOf(holding);
  const claim = {
    engine: engineId(engine),
    keeps: countOf(slots),
    window: window === -1 ? Infinity : countOf(window),
    inFlight: countOf(inFlight),
    waiting: listOf(waiting).map(countOf),
    weight: countOf(weight),
    steps: listOf(steps).map(countOf),
    ended: countOf(ended),
    ...(Object.fromEntries(TOKENS.map((name, i) => [name, tokensOf(tokens[i])])) as Pick<EngineClaim, Counted>),
  };
  return [gatewayId(textOf(gateway)), { claim, slots: claim.keeps }];
}

export function parseTaken(reply: unknown): Taken {
  const [from, service, calls, place] = listOf(reply);
  return {
    from: from === '' ? undefined : gatewayId(textOf(from)),
    record: service === '' ? undefined : recordOf(service, calls, textOf(place)),
  };
}

function recordOf(service: unknown, calls: unknown, place: string): ProgramRecord {
  const { home, threads, root } = fieldsOf(JSON.parse(place));
  const { calls: rootCalls, firstPromptTokens, contextTokens } = fieldsOf(root);
  const contexts = listOf(threads).map((each) => {
    const [thread, size] = listOf(each);
    return [textOf(thread), tokensOf(size)] as const;
  });
  return {
    serviceMs: countOf(Number(service)) as Millis,
    calls: countOf(calls),
    ...(home !== undefined && { home: engineId(textOf(home)) }),
    contexts: Object.fromEntries(contexts),
    root: {
      calls: countOf(rootCalls),
      firstPromptTokens: tokensOf(firstPromptTokens),
      contextTokens: tokensOf(contextTokens),
    },
  };
}

export function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw strange(value);
  return value;
}

export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw strange(value);
  return value;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw strange(value);
  return value as Readonly<Record<string, unknown>>;
}

/** A number of things, or a time: zero or more. */
export function countOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) throw strange(value);
  return value;
}

const tokensOf = (value: unknown): Tokens => countOf(value) as Tokens;

const strange = (value: unknown): TypeError =>
  new TypeError(`the store gave a strange answer: ${inspect(value).slice(0, 80)}`);
