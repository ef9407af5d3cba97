import type { ProgramId } from '../../src/index.js';
import { DEFAULT_TENANT } from '../config/index.js';
import { labelOf, tenantOf } from '../identity/names.js';
import type { TotalsAnswer } from './answers.js';
import { isCalm } from './engine-parts.js';
import { logOf } from './engine-words.js';
import { count, counted, isRecent, latestOf, named } from './figures.js';
import { part, type Part, type Seen } from './status-part.js';

/** Share of the calls from which failures call for a look. */
const FAILED_SHARE = 0.01;
const CODES_SHOWN = 3;

/** Codes of failures whose remedy stands beside them meanwhile, that of the engines or of the gateway that drains, and that then are over. */
const TOLD_BESIDE = ['no_engine', 'draining'];
const ERRORS_TOLD = 'look up in docs/OPERATIONS.md#errors what each code asks for';
/** Failures of engines, but for those that they word themselves, such as `engine_400`. */
const BY_ENGINES = /^engine_[a-z]/;

/** At most one, of the calls that failed by that fault. */
export function failedParts({ engines, totals }: Seen, fault: 'client' | 'service'): Part[] {
  const codes = totals.failed.filter((each) => each.fault === fault);
  const [worst] = codes;
  if (worst === undefined) return [];
  const failures = codes.reduce((sum, code) => sum + code.calls, 0);
  const lastAt = Math.max(...codes.map(({ last_at: at }) => at));
  const isMany = failures >= FAILED_SHARE * totals.calls;
  const isOne = codes.length === 1;
  const shown = codes
    .slice(0, CODES_SHOWN)
    .map((each) => `${isOne ? '' : `${count(each.calls)} `}with ${each.code}${byWhom(each)}`);
  const what = `${isOne ? '' : ':'} ${shown.join(', ')}${codes.length > CODES_SHOWN ? ' and others' : ''}`;
  const title = `${count(failures)} of ${counted(totals.calls, 'call')} failed${fault === 'client' ? ' by the client’s fault' : ''}`;
  const level = fault === 'service' && isMany && isRecent(lastAt) ? 'warn' : 'good';
  const text = `${title}${latestOf(what, lastAt)}.`;
  return [part(fault === 'client' ? 'clients' : 'failures', level, title, text, remedyOf(worst, engines))];
}

/** An engine that is out of service, or fails calls still, has its remedy in its own row. */
function remedyOf({ code, engine }: TotalsAnswer['failed'][number], engines: Seen['engines']): string {
  if (TOLD_BESIDE.includes(code)) return '';
  if (!BY_ENGINES.test(code)) return ERRORS_TOLD;
  return engines.some((each) => each.id === engine && isCalm(each)) ? logOf(`${engine}`) : '';
}

/** ` (the last by program "p" of tenant t on gpu-1)`, as far as it has names. */
function byWhom({ last, engine }: TotalsAnswer['failed'][number]): string {
  const [label, tenant] = [labelOf(last as ProgramId), tenantOf(last as ProgramId)];
  const program = label === '~' ? '' : ` program ${named(label)}`;
  const owner = tenant === DEFAULT_TENANT ? '' : `${program && ' of'} tenant ${tenant}`;
  const by = last === '' || program + owner === '' ? '' : ` by${program}${owner}`;
  const where = engine ? ` on ${engine}` : '';
  return by + where && ` (the last${by}${where})`;
}
