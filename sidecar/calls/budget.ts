import type { ProgramView, TenantId } from '../../src/index.js';
import type { Config } from '../config/index.js';
import { GatewayError } from '../errors.js';
import { readNumbers } from './client-headers.js';

export const BUDGET_HEADER = 'x-maitred-budget';
const FORM =
  "'tokens=N, calls=N, engine-seconds=N, repeats=N', each at most once, with whole numbers from 1 to 1000000000000";

export type Bound = 'tokens' | 'calls' | 'engineSeconds' | 'repeats';

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
 * The bounds of a program: the lowest of its tenant's, its workflow's and the call's own; none without.
 * @param text the call's header
 * @param find the program; undefined: this is its first call
 * @throws GatewayError `bad_request` for a malformed header
 */
export function budgetOf(
  { budget }: Pick<Config, 'budget'>,
  { tenant, workflow = '' }: { readonly tenant: TenantId; readonly workflow?: string | undefined },
  text: string | undefined,
  find: () => Spender | undefined,
) {
  const own = budget.tenants[tenant];
  const ofTenant: { readonly [bound in Bound]?: number | null | undefined } = own ? { ...budget, ...own } : budget;
  const ofWorkflow = Object.hasOwn(budget.workflows, workflow) ? budget.workflows[workflow] : undefined;
  const ofCall = readHeader(text);
  const limitOf = ({ key, name }: Kind) =>
    Math.min(ofTenant[key] ?? Infinity, ofWorkflow?.[key] ?? Infinity, ofCall[name] ?? Infinity);
  const bounds = KINDS.filter((kind) => limitOf(kind) < Infinity);
  const row = bounds.length === 0 ? undefined : find();
  return bounds.map((kind) => ({ ...kind, used: row === undefined ? 0 : kind.used(row), limit: limitOf(kind) }));
}

type Budget = Readonly<ReturnType<typeof budgetOf>>;

/** Calls that are left after this one, and of the rest as much as this one may take; undefined without bounds. */
export const leftOf = (uses: Budget): string | undefined =>
  uses
    .map(({ name, used, limit }) => `${name}=${Math.max(0, Math.ceil(limit - used) - (name === 'calls' ? 1 : 0))}`)
    .join(', ') || undefined;

const figuresOf = ({ used, limit, unit }: Budget[number]) =>
  `${[used, limit].map((value) => Math.floor(value).toLocaleString('en-US')).join(' of ')} ${unit}`;

/** The bounds that are near, and of which the program's model has not been told. */
export const nearing = (
  uses: Budget,
  warnAt: number | null,
  program: { readonly warned: ReadonlySet<Bound> } | undefined,
): Budget =>
  warnAt === null
    ? []
    : uses.filter(
        ({ key, used, limit }) => used >= Math.min(warnAt * limit, limit - 1) && program?.warned.has(key) !== true,
      );

export const warning = (near: Budget): string =>
  `[Note by the gateway: further calls of this task will be refused. It has used ${near.map(figuresOf).join(', and ')}. Finish now with what you have.]`;

/** Calls under way finish, so a program may end above its bound by as much as they take. @param text the call's header */
export function exceeded(uses: Budget, label: string, text: string | undefined): GatewayError | undefined {
  const over = uses.find(({ used, limit }) => used >= limit);
  if (over === undefined) return undefined;
  const setBy =
    readHeader(text)[over.name] === over.limit ? `the header ${BUDGET_HEADER}` : "the gateway's operator (budget)";
  return new GatewayError(
    'budget_exceeded',
    `The program ${JSON.stringify(label)} has used its budget: ${figuresOf(over)}. The bound is set by ${setBy}.`,
  );
}

const NAMES = KINDS.map(({ name }) => name);
const readHeader = (text: string | undefined): Readonly<Record<string, number>> =>
  text === undefined ? {} : readNumbers(BUDGET_HEADER, text, NAMES, [1, 1e12], FORM);
