import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { programId, tenantId, type ProgramId, type TenantId } from '../../src/index.js';

/**
 * Names of programs: `tenant:id` for a client's id, `tenant~id` for a generated one. The tenant's own `:`, `~` and `%`
 * are escaped, so the first `:` or `~` ends the tenant. No id reaches into another tenant, or equals a generated one.
 */
const ID_CHARS_MAX = 256;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** A client's id, trimmed; of one too long or not printable ASCII, its hash. `undefined`: the value cannot be an id. */
export function cleanId(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value !== 'string') return undefined;
  const id = value.trim();
  if (id === '') return undefined;
  return id.length <= ID_CHARS_MAX && PRINTABLE.test(id) ? id : `sha256-${hash('sha256', asUnicode(id), 'hex')}`;
}

/** Node reads each byte of a header as a character: of one in UTF-8, the text that was sent. */
function asUnicode(text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  return bytes.toString('latin1') === text && isUtf8(bytes) ? bytes.toString() : text;
}

/** Whether a row is the program of this id, as a client sends it, or of this key. */
export function isNamed(asked: string): (row: { readonly id: string; readonly key: string } | null) => boolean {
  const clean = cleanId(asked);
  return (row) => row !== null && (row.key === asked || row.id === asked || row.id === clean);
}

export const namedProgram = (tenant: TenantId, id: string): ProgramId => programId(`${escaped(tenant)}:${id}`);

export const madeProgram = (tenant: TenantId, id: string): ProgramId => programId(`${escaped(tenant)}~${id}`);

/** The client's name of the program. Generated ids keep their `~`, so that operators recognise them. */
export function labelOf(program: ProgramId): string {
  const end = program.search(/[:~]/);
  return program[end] === '~' ? program.slice(end) : program.slice(end + 1);
}

export const tenantOf = (program: ProgramId): TenantId =>
  tenantId((/^[^:~]*/.exec(program)?.[0] ?? '').replaceAll(/%(?:25|3A|7E)/g, decodeURIComponent));

const escaped = (tenant: TenantId): string =>
  tenant.replace(/[%:~]/g, (char) => (char === '%' ? '%25' : char === ':' ? '%3A' : '%7E'));
