import { counted, countText, shareText, timeText } from './figures.js';
import { joined, span, type Line } from './line.js';
import type { OpenedProgram } from './poll.js';
import { fitted, wrapped } from '../text.js';
import type { ProgramDetail } from './wire.js';

/** One program in full. Null: it has ended; undefined: not read yet. */
export function programLines(program: OpenedProgram | null | undefined, width: number): Line[] {
  if (program === undefined) return [joined([span('reading ...', 'dim')], width)];
  if (program === null) return [joined([span('This program has ended.', 'warning')], width)];
  const engines = program.engines.join(', ');
  const facts: [string, string][] = [
    ['program', program.id],
    ['tenant', program.tenant],
    ['level', `${program.level}, after ${timeText(program.attained_service_seconds)} of service`],
    ['calls', `${countText(program.calls)}, ${program.active_calls} active, ${program.promotions} promoted`],
    ['queued', `${timeText(program.waiting_seconds)}, longest ${timeText(program.longest_wait_seconds)}`],
    [
      'engine',
      `${program.engine ?? '-'}${engines === '' || engines === program.engine ? '' : `, running on ${engines}`}`,
    ],
    ['context', `${countText(program.context_tokens)} tokens`],
    ['prompts', `${countText(program.prompt_tokens)} tokens, ${shareText(program.cached_tokens, program.prompt_tokens)} cached`], // prettier-ignore
    ['answers', `${countText(program.output_tokens)} tokens`],
    ['age', `${timeText(program.age_seconds)}, idle ${timeText(program.idle_seconds)}`],
  ];
  return [
    ...facts.map(([name, value]): Line => [span(fitted(name, 9), 'dim'), span(fitted(value, Math.max(0, width - 9)))]),
    [],
    ...program.threads.flatMap((thread) => threadLines(thread, width)),
    ...program.why.flatMap((paragraph): Line[] => [[], ...wrapped(paragraph, width).map((text) => [span(text)])]),
  ];
}

function threadLines({ thread, calls, active }: ProgramDetail['threads'][number], width: number): Line[] {
  const name = thread === '' ? 'root' : `sub-agent ${thread}`;
  return [
    joined([span(fitted(name, Math.min(width, 40)).trimEnd(), 'bold'), span(counted(calls, 'call')), span(`${active.length} active`)], width), // prettier-ignore
    ...active.map((call): Line => {
      const isWaiting = call.state === 'waiting';
      const cause = call.waiting_for === null || call.waiting_for === undefined ? '' : ` for ${call.waiting_for.cause}`;
      return [
        span('  '),
        ...joined(
          [
            span(call.call),
            span(call.state, isWaiting ? 'warning' : 'good'),
            span(isWaiting ? `${timeText(call.waiting_seconds)}${cause}` : `${timeText(call.service_seconds)} served`),
            span(call.engine ?? ''),
            span(`level ${call.level}`),
            span(isWaiting ? '' : `waited ${timeText(call.waiting_seconds)}`),
            span(call.model, 'dim'),
          ],
          width - 2,
        ),
      ];
    }),
  ];
}

const HELP: readonly (readonly [string, string])[] = [
  ['up down', 'select a program; also Page Up, Page Down, Home, End'],
  ['left right', 'sort by the column before or after; also < >'],
  ['r', 'reverse the order'],
  ['/', 'filter by words of the name, and by tenant:NAME, engine:ID, state:waiting (running, idle)'],
  ['Esc', 'drop the filter'],
  ['Enter', 'open the program: its sub-agents and active calls'],
  ['k F9', 'end the program, after a question'],
  ['space f', 'freeze, and go on'],
  ['h ? F1', 'this help, and back'],
  ['q', 'back; quit'],
];
const NOTES: readonly string[] = [
  'STATE: running (an engine runs one of its calls), waiting (its calls are queued), run+wait (both), idle (it has no call: its agent runs tools, or has ended without saying so). A program that says that it has ended leaves the table.',
  'LVL is the queue of its next call; 0 goes first. WAITS is the present wait of its longest-waiting call, FOR its cause, IDLE the time since its last call, QUEUED the waits of all its calls together, SERVICE the engine time that it has received, HITS the share of its prompt tokens that engines had cached.',
  'Causes: no_engine (none is up), retry (an engine failed it), resting (the engine has no room), probation (the engine came back), window (as many calls run as may), kv (its context finds no room in the KV cache), turn (calls ahead of it), knee (it would slow down the running calls too much).',
  'An engine takes a call while its calls in flight are below the window, and its working set, the contexts that run or are held, below the gate: a share of the KV cache. Bars turn red at these limits.',
];

export function helpLines(width: number): Line[] {
  return [
    ...HELP.flatMap(([keys, meaning]) =>
      wrapped(meaning, Math.max(10, width - 12)).map((text, at): Line => [
        span(fitted(at === 0 ? keys : '', 12), 'bold'),
        span(text),
      ]),
    ),
    ...NOTES.flatMap((note): Line[] => [[], ...wrapped(note, width).map((text) => [span(text)])]),
  ];
}
