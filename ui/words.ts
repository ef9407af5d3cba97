import type { ActiveCall, Engine, PastCall, Program, Queue } from '../sidecar/admin/answers.js';
import { brief, clock, count, counted, duration, percent, ratio, tokens } from './format.js';

/** The scheduler's decisions in words. */

type Named = Pick<Program, 'id' | 'agent_type' | 'identified_by'>;

/** Ids that say nothing to people: generated ones, UUIDs and long hashes. */
const OPAQUE = /^~|[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{20}/i;
/** A type that has no name, but a hash. */
const UNNAMED = /^[0-9a-f]{8}$/;

/** The client's name of a program, or its agent type and the beginning of an id that nobody can read. */
export function nameOf({ id, agent_type: type }: Named): string {
  if (!OPAQUE.test(id)) return brief(id);
  const kind = type === null || UNNAMED.test(type) ? '' : `${type} `;
  return kind + id.replace(/^~/, '').slice(0, 8);
}

/** How the gateway knows which calls are the program's. */
export const NAMED_BY = ({ identified_by: source }: Named): string =>
  source === null
    ? 'not named here'
    : source === 'none'
      ? 'named by nothing: a program of one call'
      : `named by ${source}`;

const PLACED: Readonly<Record<NonNullable<PastCall['placement']>, (engine: string) => string>> = {
  home: (engine) => `on ${engine}, which holds its program’s cache`,
  bound: (engine) => `on ${engine}, which became its program’s home`,
  spread: (engine) => `on ${engine}, as any engine would do`,
  spilled: (engine) => `on ${engine}, its new home, because its old one was full for too long`,
};

const BEGAN: Readonly<Record<NonNullable<PastCall['reason']>, string>> = {
  direct: 'Ran at once',
  queued: 'Its turn came, and it ran',
  promoted: 'Was promoted, as its program had waited too long for its service, and ran',
  retried: 'Was sent again, as engines failed or had no room, and ran',
};

/** Why a call ran when and where it did, without figures: often the same for many calls. '': it did not run. */
export function reasonWords({ reason, placement, engine }: PastCall): string {
  if (engine === null || reason === null) return '';
  return `${BEGAN[reason]}${placement === null ? '' : ` ${PLACED[placement](engine)}`}.`;
}

function endWords(call: PastCall): string {
  const { outcome, code, status, duration_seconds: took, first_token_seconds: first } = call;
  if (outcome === 'cancelled') return `Its client left after ${duration(took)}.`;
  if (outcome === 'drained') return 'It ended with the gateway.';
  if (outcome === 'refused') return `Refused with ${status} ${code ?? ''} before it entered the queue.`;
  if (outcome !== 'completed') return `It failed with ${status} ${code ?? ''} after ${duration(took)}.`;
  const cached = ratio(call.cached_tokens ?? 0, call.prompt_tokens ?? 0);
  const prompt = call.prompt_tokens === null ? '' : `, prompt of ${tokens(call.prompt_tokens)} tokens`;
  const hit = call.cached_tokens === null || cached === null ? '' : `, ${percent(cached)} of it cached`;
  return `Answered after ${duration(took)}${first === null ? '' : `, first token after ${duration(first)}`}${prompt}${hit}.`;
}

/** Outcome of a call. @param before level of the program's call before it */
export function figureWords(call: PastCall, before: number | null): string {
  const sentences: string[] = [];
  if (call.engine !== null && call.reason !== 'direct')
    sentences.push(`Waited ${duration(call.queue_seconds)} at level ${call.level ?? 0}.`);
  if (call.attempts > 1) sentences.push(`Was sent ${call.attempts} times.`);
  if (call.inherited_seconds > 0)
    sentences.push(
      `It took over the place of an earlier attempt, which had waited ${duration(call.inherited_seconds)}.`,
    );
  const move = levelMove(call, before);
  if (move === 'demoted')
    sentences.push(`Its program sank from level ${before} to ${call.level}: it had received more service.`);
  return [...sentences, endWords(call)].join(' ');
}

/** All about a call that has ended. */
export const callWords = (call: PastCall, before: number | null): string =>
  `${reasonWords(call)} ${figureWords(call, before)}`.trim();

export function levelMove({ level, reason }: PastCall, before: number | null): 'promoted' | 'demoted' | undefined {
  if (reason === 'promoted') return 'promoted';
  return level !== null && before !== null && level > before ? 'demoted' : undefined;
}

/** Texts of the causes of waiting; in full, each call's own text says why. */
export const WAITED_FOR: Readonly<Record<keyof Queue['waiting_for'], string>> = {
  no_engine: 'an engine',
  retry: 'another attempt',
  refused: 'another attempt, after others',
  resting: 'an engine that reported no room',
  probation: 'an engine on probation',
  window: 'the window',
  kv: 'KV cache',
  turn: 'calls ahead',
  knee: 'a smaller batch',
  background: 'room that no other call needs',
};

/** Meanings of the causes of healthy engines. */
export const WAIT_MEANINGS: Partial<typeof WAITED_FOR> = {
  window: 'The engines run as many calls as their windows allow',
  kv: 'KV cache is held for calls in flight and programs that are expected to return',
  turn: 'An engine has room, but calls ahead go first',
  knee: 'An engine has room, but one more call would slow its batch by more than it gains (the knee)',
  background: 'Background calls start where no other call needs the room',
};

export const LEVEL_MEANING =
  'Queue of its next call: 0 goes first. By the engine time that the program is likely to need still, which is learnt from others, so it changes without service too';
export const SERVICE_MEANING = 'Engine time of all its calls together';

/** ` for the window`, or `: 5 for the window, 3 for KV cache`; the most frequent first. */
export function causesWords(causes: Queue['waiting_for']): string {
  const there = (Object.keys(WAITED_FOR) as (keyof typeof WAITED_FOR)[]).filter((cause) => causes[cause] > 0);
  const [first, ...others] = there.sort((a, b) => causes[b] - causes[a]);
  if (first === undefined) return '';
  if (others.length === 0) return ` for ${WAITED_FOR[first]}`;
  return `: ${[first, ...others].map((cause) => `${count(causes[cause])} for ${WAITED_FOR[cause]}`).join(', ')}`;
}

/** Share of the gate above which hardly any call finds room. */
const GATE_FULL = 0.97;

/** Whether an engine takes calls now, and if not, why. */
export function engineWords(engine: Engine): { readonly open: boolean; readonly text: string } {
  const closed = (text: string) => ({ open: false, text });
  if (engine.state === 'joining') return closed(`Starting: ${engine.down_reason ?? 'not healthy yet'}.`);
  if (engine.state === 'ejected')
    return closed(`Down since ${clock(engine.down_since ?? 0)}: ${engine.down_reason ?? 'unknown'}.`);
  if (engine.state === 'draining') return closed(`Draining: ${counted(engine.in_flight, 'call')} left, no new ones.`);
  if (engine.resting) return closed('Rests for a moment: it reported that it has no room.');
  if (engine.state === 'probation' && engine.in_flight > 0) return closed('On probation: one call at a time.');
  if (engine.window !== null && engine.in_flight >= engine.window) return closed('Its window is full.');
  if (engine.rest_tokens !== null && engine.working_set_tokens >= GATE_FULL * engine.rest_tokens)
    return closed(`Its KV gate is full: ${tokens(engine.working_set_tokens)} of ${tokens(engine.rest_tokens)} tokens, ${tokens(engine.idle_tokens)} of them idle contexts.`); // prettier-ignore
  return { open: true, text: engine.state === 'probation' ? 'On probation: takes one call.' : 'Takes calls.' };
}

/** An active call, with the thread of its program that made it. */
export type ThreadCall = ActiveCall & { readonly thread: string };

/** Level of the program's last dispatched call before this one. */
export const levelBefore = (past: readonly PastCall[], index: number): number | null =>
  past.slice(0, index).findLast(({ level }) => level !== null)?.level ?? null;
