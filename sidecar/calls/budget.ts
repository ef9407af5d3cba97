import { z } from 'zod';
import type { ProgramView } from '../../src/index.js';
import { countSchema, type Config } from '../config/index.js';
import { GatewayError } from '../errors.js';
import { readNumbers } from '../http/headers.js';
import { valueOf } from '../identity/claims.js';
import type { Identity } from '../identity/identity.js';
import type { CallSpec } from './spec.js';

const HEADER = 'x-maitred-budget';
const FORM =
  "'tokens=N, calls=N, engine-seconds=N, repeats=N', each at most once, with whole numbers from 1 to 1000000000000";

type Bound = 'tokens' | 'calls' | 'engineSeconds' | 'repeats';

export type Spender = Pick<ProgramView, 'promptTokens' | 'outputTokens' | 'callsTotal' | 'serviceMs'> & {
  /** Answers in a row that asked for the same tool calls. */
  readonly repeats: number;
};

interface Kind {
  readonly key: Bound;
  readonly name: string;
  readonly unit: string;
  readonly used: (row: Spender) => number;
}

const KINDS: readonly Kind[] = [
  { key: 'tokens', name: 'tokens', unit: 'tokens', used: (row) => row.promptTokens + row.outputTokens },
  { key: 'calls', name: 'calls', unit: 'calls', used: (row) => row.callsTotal },
  { key: 'engineSeconds', name: 'engine-seconds', unit: 'seconds of engine time', used: (row) => row.serviceMs / 1000 },
  { key: 'repeats', name: 'repeats', unit: 'equal requests for tools in a row', used: (row) => row.repeats },
];

/**
 * Refuses a call whose program has used up its budget. Calls under way finish, so a program may end above its bound by
 * as much as they take.
 * @param find the program; undefined: this is its first call
 * @returns what is left: calls after this one, of the rest what this one may still take; undefined without bounds
 * @throws GatewayError `budget_exceeded`, `bad_request` for a malformed header
 */
export function checkBudget(
  { budget }: Pick<Config, 'budget'>,
  { tenant, label, headers }: Pick<CallSpec, 'tenant' | 'headers'> & Pick<Identity, 'label'>,
  find: () => Spender | undefined,
): string | undefined {
  const own = budget.tenants[tenant];
  const ofTenant: { readonly [bound in Bound]?: number | null | undefined } = { ...budget, ...own };
  const ofCall = readHeader(valueOf(headers, HEADER));
  const mostOf = ({ key, name }: Kind) => Math.min(ofTenant[key] ?? Infinity, ofCall[name] ?? Infinity);
  const bounds = KINDS.filter((kind) => mostOf(kind) < Infinity);
  if (bounds.length === 0) return undefined;
  const row = find();
  const usedOf = ({ used }: Kind) => (row === undefined ? 0 : used(row));
  const over = bounds.find((kind) => usedOf(kind) >= mostOf(kind));
  if (over === undefined)
    return bounds
      .map((kind) => `${kind.name}=${Math.ceil(mostOf(kind) - usedOf(kind) - (kind.key === 'calls' ? 1 : 0))}`)
      .join(', ');
  const figures = [usedOf(over), mostOf(over)].map((value) => Math.floor(value).toLocaleString('en-US'));
  throw new GatewayError(
    'budget_exceeded',
    `The program ${JSON.stringify(label)} has used its budget: ${figures[0]} of ${figures[1]} ${over.unit}. The bound is set by ${HEADER} or by the gateway's operator (budget).`,
  );
}

const boundsSchema = z.strictObject(
  Object.fromEntries(KINDS.map(({ name }) => [name, countSchema(1, 1e12).optional()])),
);

function readHeader(text: string | undefined): z.output<typeof boundsSchema> {
  const { data } = boundsSchema.safeParse(text === undefined ? {} : readNumbers(text));
  if (data !== undefined) return data;
  throw new GatewayError('bad_request', `The header ${HEADER} must be ${FORM}.`, { param: HEADER });
}
