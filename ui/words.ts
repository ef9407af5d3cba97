import type { Program } from '../sidecar/admin/answers.js';
import { duration } from './format.js';

/** Names of programs and columns. What the scheduler does, the gateway says in words. */

type Named = Pick<Program, 'id' | 'agent_type' | 'identified_by'>;

/** Ids that say nothing to people: generated ones, UUIDs and long hashes. */
const OPAQUE = /^~|[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{20}/i;
/** A program of a batch: the beginning of the batch’s id, and its number there. */
const BATCH_PART = /^(batch_[0-9a-f]{8})[0-9a-f]{16}\.(\d+)$/;
/** A type that has no name, but a hash. */
const UNNAMED = /^[0-9a-f]{8}$/;

/** A type, of whose hash only the beginning is told: nobody reads one. */
export const typeName = (type: string | null): string =>
  type === null ? '–' : isUnnamed(type) ? `type ${type.slice(0, 4)}` : type;
const isUnnamed = (type: string | null): boolean => UNNAMED.test(type ?? '');
/** Its tooltip. */
export const typeHint = (type: string | null): string =>
  isUnnamed(type) ? `${type}. ${MEANINGS.type}` : (type ?? 'not known here');

/** The client's name of a program, or its agent type and the beginning of an id that nobody can read. */
export function nameOf({ id, agent_type: type }: Named): string {
  const ofBatch = BATCH_PART.exec(id);
  if (ofBatch !== null) return `#${ofBatch[2]} ${ofBatch[1]}`;
  if (!OPAQUE.test(id)) return id;
  const kind = type === null || isUnnamed(type) ? '' : `${type} `;
  return kind + id.replace(/^~/, '').slice(0, 8);
}

/** How the gateway knows which calls are the program's. */
export function namedBy({ identified_by: source }: Named): string {
  if (source === null) return 'not named here';
  return source === 'none' ? 'named by nothing: a program of one call' : `named by ${source}`;
}

/** As `top` has it: some of a program's calls may wait while others run, or hang on an engine that is down. */
export function stateOf(row: Pick<Program, 'state' | 'current_wait_seconds' | 'idle_seconds' | 'engines_down'>) {
  const { state, current_wait_seconds: waits, idle_seconds: idle, engines_down: down } = row;
  if (down.length > 0) return 'hangs';
  return state === 'idle' ? `idle ${duration(idle)}` : state === 'running' && waits > 0 ? 'run+wait' : state;
}

/** As `top` has it: a queue orders no background calls. */
export const levelOf = ({ background, level }: Pick<Program, 'background' | 'level'>): string =>
  background ? 'bg' : String(level);

/** Programs whose last call was refused or failed, or was left by its client. */
export const UNANSWERED = 'without an answer';

/** Of columns and figures. */
export const MEANINGS = {
  level:
    'Queue of its calls, or of its next one: of those that wait for room, 0 goes first. By the engine time that the program is likely to need still, which is learnt from others, so it changes without service too. bg: in the background, after all others',
  service: 'Engine time of its calls that have ended, together',
  type: 'Agent type: programs that begin with the same instructions and tools, or name the same x-maitred-workflow. What was learnt of some orders the others',
};

/** Lines of a text that say the same but for ids and figures: the first says it for those after it. */
export const isAlike = (text: string, other = ''): boolean => gist(text) === gist(other);
const gist = (text: string): string => text.replaceAll(/[0-9a-f]{10}-\d+|(?<=[ (])[\d.,]+/g, '');
