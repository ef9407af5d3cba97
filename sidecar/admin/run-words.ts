import type { Dispatch, ForecastView, ProgramView, WaitCause } from '../../src/index.js';
import { labelOf } from '../identity/names.js';
import type { ActiveCall, EndedProgram, PastCall, ProgramDetail } from './answers.js';
import { agoOf, count, counted, named, percent, span } from './figures.js';

const REASONS: Readonly<Record<Dispatch['reason'], string>> = {
  direct: 'without waiting',
  queued: 'when its turn came',
  promoted: 'after it was moved to the front, because its program had waited too long',
  retried: 'on another attempt, after an engine failed or had no room',
};

export const WAITED_FOR: Readonly<Record<WaitCause, string>> = {
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

/** A program and the last of its calls that ended; then what is foreseen. */
export function lastCallInWords(
  { id, activeCalls, forecast }: ProgramView,
  calls: readonly PastCall[],
  budget: Budget,
): string {
  const now = activeCalls > 0 ? `has ${counted(activeCalls, 'active call')}` : 'is idle: no call of it waits or runs';
  return [
    `Program ${named(labelOf(id))} ${now}.`,
    lastInWords(calls) || 'No ended call of it is known here.',
    ...budgetInWords(budget),
    ...forecastInWords(forecast),
  ].join('\n');
}

/** The last of its calls, and those that failed otherwise, as clients ask again; '': none is known. */
export const lastInWords = (calls: readonly PastCall[]): string =>
  calls
    .slice(-1)
    .flatMap((last) => [`Its last call, ${inShort(last)}`, ...failedInWords(calls, faultOf(last))])
    .join('\n');

/** A paragraph for each way in which calls failed: of the last one, as the status names it. @param but a way that is told already */
export function failedInWords(calls: readonly PastCall[], but?: string): string[] {
  const last = new Map(calls.filter(isFailed).map((call) => [faultOf(call), call]));
  return [...last].flatMap(([fault, call]) =>
    fault === but
      ? []
      : `Its last call to fail with ${fault}, ${agoOf(call.arrived_at + call.duration_seconds)}, ${inShort(call)}`,
  );
}

const faultOf = ({ code, status }: PastCall): string => code ?? String(status);

const isFailed = ({ outcome }: PastCall): boolean => !/^(?:completed|cancelled|recalled|drained)$/.test(outcome);
const inShort = ({ call, engine, text }: PastCall): string =>
  `${call}${engine === null ? '' : ` on ${engine}`}: ${text}`;

/** At most one line: the last of the requests that came after the program's end. */
export const sinceInWords = (refused: readonly PastCall[]): string[] =>
  refused
    .slice(-1)
    .map(
      ({ call, text }) =>
        `${refused.length === 1 ? 'A later request of its name' : `${count(refused.length)} later requests of its name; the last`}, ${call}: ${text}`,
    );

type Budget = ProgramDetail['budget'];

/** At most one sentence: what is used of the program's budget, and whether that is all. */
export function budgetInWords(budget: Budget): string[] {
  if (budget.length === 0) return [];
  const uses = budget.map(({ unit, used, limit }) => `${count(Math.floor(used))} of ${count(limit)} ${unit}`);
  const end = budget.some(({ used, limit }) => used >= limit) ? ': its next call is refused (budget_exceeded)' : '';
  return [`Of its budget it has used ${uses.join(', ')}${end}.`];
}

/** At most one paragraph, of a program that has been ended while calls of it go on. */
export function leavingInWords({ id, threads }: ProgramView, ending: ProgramDetail['ending']): string[] {
  if (ending === null) return [];
  return [`Program ${named(labelOf(id))} ends, because ${END_CAUSES[ending]}; ${leftInWords(threads)}.`];
}

/** `1 call still runs and 2 wait`. @param calls at least one */
export function leftInWords(calls: readonly Pick<ActiveCall, 'state'>[]): string {
  const running = calls.filter(({ state }) => state === 'running').length;
  const parts = [
    [running, 'run'],
    [calls.length - running, 'wait'],
  ] as const;
  const [first = '', ...second] = parts.flatMap(([some, does]) =>
    some > 0 ? [`${count(some)} ${some === 1 ? `${does}s` : does}`] : [],
  );
  return [first.replace(' ', ` call${first.startsWith('1 ') ? '' : 's'} still `), ...second].join(' and ');
}

/** At most one sentence; none while nothing is foreseen, or no end is. */
export function forecastInWords(forecast: ForecastView | undefined): string[] {
  if (forecast === undefined || !Number.isFinite(forecast.remainingMs) || forecast.remainingMs < 50) return [];
  const used = forecast.used ? '' : ' The policy does not rank by that.';
  const rest = `${span(forecast.remainingMs)} more of engine time`;
  const told = {
    declared: `The program is expected to need ${rest}, by what its client declared.`,
    learnt: `Of the ended programs most like it, half needed at most ${rest}.`,
  };
  return [`${told[forecast.source]}${used}`];
}

/** A prompt that an engine refuses may be one that is too long for all, which go to any. */
type Past = Partial<Record<'isCold' | 'isRefused' | 'isTooLong' | 'isBackground', boolean>> & { readonly it?: string };

/** At most one line, without its wait, which is told apart: calls that run for one reason share these words. */
export function dispatchInWords(dispatch: Dispatch | undefined, balancer: string, past: Past = {}): string[] {
  // Over-long prompts are dispatched as well, so a running call without a dispatch does not exist.
  if (dispatch === undefined) return [];
  const { engine, level, reason, placement } = dispatch;
  const { isCold = false, isRefused = false, isTooLong = false, isBackground = false, it = 'It' } = past;
  const why =
    balancer !== 'program-affinity'
      ? ', as it keeps no program on one engine'
      : isRefused
        ? ''
        : ', because its prompt is short, and so costs little to compute on any';
  const where = {
    home: `${engine} is its program’s home, and ${balancer} sends such a call home${isCold ? '; by then nothing of its prompt was cached there' : ', where its context may be cached'}`,
    bound: `Its program had no home yet, or none that was up, so ${balancer} chose ${engine} of the engines with room; it became the home`,
    spread: isTooLong
      ? `No engine takes so long a prompt: ${engine} is to refuse it at once`
      : `${balancer} chose ${engine} of all engines with room${why}`,
    spilled: `${reason === 'retried' ? 'After that' : 'Its program’s home had no room for too long, so'} ${balancer} chose ${engine}, which became the home`,
  }[placement];
  const from = isBackground ? 'in the background' : `from level ${level}`;
  return [`${it} was sent ${from}, ${REASONS[reason]}. ${where}.`];
}

/** How a call ended, in one line; in a second one, why it ran where it ran. */
export function pastCallInWords(call: Omit<PastCall, 'text'>, dispatch: Dispatch | undefined, balancer: string) {
  const {
    attempts,
    inherited_seconds: inherited,
    queue_seconds: queued,
    prompt_tokens: prompt,
    cached_tokens: cached,
  } = call;
  const details = [
    ...(queued >= 0.001 ? [`It waited ${span(1000 * queued)} in the queue${causesInWords(call)}.`] : []),
    ...(attempts > 1 ? [`It was sent ${counted(attempts, 'time')}.`] : []),
    ...failuresInWords(call),
    ...(inherited > 0
      ? [`It took over the place of an earlier attempt, which had waited ${span(1000 * inherited)}.`]
      : []),
  ];
  const isCold = cached === 0 && (prompt ?? 0) > 0;
  const it = call.failures.length === 0 ? 'It' : `Its ${attempts > 1 ? 'last' : 'only'} attempt`;
  const past = { isCold, isBackground: call.background, isRefused: call.outcome === 'client_error', it };
  return [[endInWords(call), ...details].join(' '), ...dispatchInWords(dispatch, balancer, past)].join('\n');
}

export const ended = (message: string): string => (/[.!?]$/.test(message) ? message : `${message}.`);

/** Each engine’s words when it failed the call; equal ones once, with their count. Of many failures only the last are known. */
function failuresInWords({ failures, attempts }: Pick<PastCall, 'failures' | 'attempts'>): string[] {
  const said = failures.map(({ engine, message }) => `${engine}: ${ended(message)}`);
  const times = (text: string) => said.filter((each) => each === text).length;
  const told = [...new Set(said)].map((text) => (times(text) > 1 ? `${times(text)} times ${text}` : text));
  const isPart = said.length > 1 && said.length < attempts;
  return isPart ? [`The last ${said.length} failures:`, ...told] : told;
}

/** The causes of its wait, the longest first. */
function causesInWords({ waited_for: waited }: Omit<PastCall, 'text'>): string {
  const causes = Object.entries(waited).sort(([, a], [, b]) => b - a) as [WaitCause, number][];
  if (causes.length === 1) return causes.map(([cause]) => ` for ${WAITED_FOR[cause]}`).join('');
  return causes
    .map(([cause, seconds], at) => `${at === 0 ? ': ' : ', '}${span(1000 * seconds)} for ${WAITED_FOR[cause]}`)
    .join('');
}

/** How a program ended: the answer in the first line. @param known the last of its calls, as far as they are known */
export function endedInWords(row: EndedProgram, known: readonly PastCall[]): string {
  const { calls, duration_seconds: took, queue_seconds: queued, engine } = row;
  const waited = queued < 0.001 ? 'without waiting' : `and waited ${span(1000 * queued)} in all`;
  const where = engine === null || known.length > 0 ? '' : ` The last one went to ${engine}.`;
  return `${whenEnded(row)}\nIt had ${counted(calls, 'call')} in ${span(1000 * took)}, ${waited}.${where}\n${lastInWords(known)}`.trim();
}

export const whenEnded = ({ id, why, ended_at: at }: EndedProgram): string =>
  `Program ${named(id)} ended ${agoOf(at)}: ${why}.`;

/** Whether a program is a line of a batch. @param id its label */
export const isLine = (id: string): boolean => /^batch_[\da-f]{24}\./.test(id);

/** Of a batch's line, no client declares the end. */
export const whyEnded = ({ id, cause }: Pick<EndedProgram, 'id' | 'cause'>): string =>
  cause === 'ended' && isLine(id) ? 'its line is done' : END_CAUSES[cause];

const END_CAUSES: Readonly<Record<EndedProgram['cause'], string>> = {
  ended: 'its client said that it was over',
  operator: 'an operator ended it',
  expired: 'it was idle for its lease',
  evicted: 'it was idle, and the table of programs was full',
};

function endInWords(call: Omit<PastCall, 'text'>): string {
  const {
    outcome,
    code,
    status,
    message,
    failures,
    duration_seconds: seconds,
    hung_seconds: hung,
    first_token_seconds: first,
  } = call;
  const took = `${span(1000 * seconds)}${hung === 0 ? '' : `, of which ${call.engine} had been down for the last ${span(1000 * hung)}`}`;
  if (outcome === 'recalled') return `Its batch, which ends or is late, took it back after ${took}.`;
  if (status === 499) return `Its client left after ${took}${code === 'no_engine' ? ', while no engine was up' : ''}.`;
  if (outcome === 'drained') return 'It ended with the gateway.';
  const fault =
    status < 400
      ? `${code ?? 'an error'} ${first === null ? 'before its answer began' : 'amid its answer'}`
      : `${status}${code === null ? '' : ` ${code}`}`;
  // The words of engines are told with their attempts.
  const why = message === null || (failures.length > 0 && code !== 'no_engine') ? '.' : `: ${ended(message)}`;
  if (outcome === 'refused') return `Refused with ${fault} before it entered the queue${why}`;
  if (outcome !== 'completed') return `It failed with ${fault} after ${took}${why}`;
  const { prompt_tokens: prompt, cached_tokens: cached } = call;
  const told = prompt === null ? '' : `, prompt of ${counted(prompt, 'token')}`;
  const hit = cached === null || !prompt ? '' : `, ${percent(cached / prompt)} of it cached`;
  return `Answered after ${took}${first === null ? '' : `, first token after ${span(1000 * first)}`}${told}${hit}.`;
}
