import { hash } from 'node:crypto';
import { programId } from '../../src/index.js';
import type { ProgramId, TenantId } from '../../src/index.js';

/**
 * Names of programs: `tenant:id` for an id that a client sent, `tenant~id` for one that was made here.
 * The tenant's own `:`, `~` and `%` are escaped, so the first `:` or `~` ends the tenant whatever stands behind it:
 * no id reaches into another tenant, and none that a client sends equals one that was made.
 */
const ID_CHARS_MAX = 256;
const PRINTABLE = /^[\x20-\x7e]+$/;

/**
 * An id as a client sent it, trimmed. One that is too long or not printable ASCII is replaced by its hash: it still holds
 * a program together, and goes safely into headers, logs and paths. `undefined` for what cannot be an id.
 */
export function cleanId(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value !== 'string') return undefined;
  const id = value.trim();
  if (id === '') return undefined;
  return id.length <= ID_CHARS_MAX && PRINTABLE.test(id) ? id : `sha256-${hash('sha256', id, 'hex')}`;
}

export const namedProgram = (tenant: TenantId, id: string): ProgramId => programId(`${escaped(tenant)}:${id}`);

export const madeProgram = (tenant: TenantId, id: string): ProgramId => programId(`${escaped(tenant)}~${id}`);

/** What the client knows the program as. Ids made here keep their `~`, by which an operator tells them. */
export function labelOf(program: ProgramId): string {
  const end = program.search(/[:~]/);
  return program[end] === '~' ? program.slice(end) : program.slice(end + 1);
}

function escaped(tenant: TenantId): string {
  return tenant.replace(/[%:~]/g, (char) => (char === '%' ? '%25' : char === ':' ? '%3A' : '%7E'));
}
