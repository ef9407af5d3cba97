import type { IncomingHttpHeaders } from 'node:http';
import type { ProgramView, TenantId } from '../../src/index.js';
import type { Config } from '../config/index.js';
import { GatewayError } from '../errors.js';
import { valueOf } from '../identity/harnesses.js';

const HEADER = 'x-maitred-budget';
const FORM = "'tokens=N, calls=N, engine-seconds=N', each at most once, with whole numbers from 1 to 1000000000000";

type Bound = 'tokens' | 'calls' | 'engineSeconds';
type Bounds = { [bound in Bound]?: number | null | undefined };

/** By its name in the header: its key, its unit in words, and what a program has used of it. */
const BOUNDS: Readonly<Record<string, readonly [Bound, string, (row: ProgramView) => number]>> = {
  tokens: ['tokens', 'tokens', (row) => row.promptTokens + row.outputTokens],
  calls: ['calls', 'calls', (row) => row.callsTotal],
  'engine-seconds': ['engineSeconds', 'seconds of engine time', (row) => row.serviceMs / 1000],
};

/**
 * Refuses a call whose program has used up its budget. Calls under way finish, so a program may end above its bound by
 * as much as they take.
 * @param find the program; undefined: this is its first call
 * @throws GatewayError `budget_exceeded`, `bad_request` for a malformed header
 */
export function checkBudget(
  { budget }: Pick<Config, 'budget'>,
  {
    tenant,
    label,
    headers,
  }: { readonly tenant: TenantId; readonly label: string; readonly headers: IncomingHttpHeaders },
  find: () => ProgramView | undefined,
): void {
  const ofTenant: Bounds = { ...budget, ...budget.tenants[tenant] };
  const ofCall = readHeader(valueOf(headers, HEADER));
  const bounds = Object.values(BOUNDS).flatMap(([key, unit, used]) => {
    const most = Math.min(ofTenant[key] ?? Infinity, ofCall[key] ?? Infinity);
    return most === Infinity ? [] : [{ most, unit, used }];
  });
  const row = bounds.length === 0 ? undefined : find();
  const over = row && bounds.find(({ most, used }) => used(row) >= most);
  if (row === undefined || over === undefined) return;
  const figures = [over.used(row), over.most].map((value) => Math.floor(value).toLocaleString('en-US'));
  throw new GatewayError(
    'budget_exceeded',
    `The program ${JSON.stringify(label)} has used its budget: ${figures[0]} of ${figures[1]} ${over.unit}. The bound is set by ${HEADER} or by the gateway's operator (budget).`,
  );
}

/** A dictionary of RFC 8941 with whole numbers. */
function readHeader(text: string | undefined): Bounds {
  const bounds: Bounds = {};
  for (const member of text?.split(',') ?? []) {
    const [, name = '', digits] = /^\s*([a-z-]+)=([1-9]\d{0,12})\s*$/.exec(member) ?? [];
    const [key] = (Object.hasOwn(BOUNDS, name) && BOUNDS[name]) || [];
    if (key === undefined || bounds[key] !== undefined || Number(digits) > 1e12)
      throw new GatewayError('bad_request', `The header ${HEADER} must be ${FORM}.`, { param: HEADER });
    bounds[key] = Number(digits);
  }
  return bounds;
}
