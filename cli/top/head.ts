import { counted, countText, shareText, timeText } from './figures.js';
import { joined, span, type Line, type Span, type Style } from './line.js';
import type { Snapshot } from './poll.js';
import { fitted, widthOf } from '../text.js';
import type { EngineRow } from './wire.js';

/** Narrowest engine beside another. */
const ENGINE_WIDTH_MIN = 76;
/** Narrowest engine that has room for its hits. */
const HITS_FROM = 60;
const GAP = '  ';
/** Share of its limit from which an engine's bar warns. */
const NEARLY_FULL = 0.9;

/** The gateway in two lines: what runs, what waits and for what; and the totals of the last minutes. */
export function totalLines({ engines, queue, total, totals, gateway }: Snapshot, width: number): Line[] {
  const running = engines.reduce((sum, { in_flight: calls }) => sum + calls, 0);
  const waiting = queue.waiting === 0 ? undefined : 'warning';
  const levels = queue.levels.filter(({ waiting: calls }) => calls > 0);
  // The most frequent first: on narrow terminals the last ones have no room.
  const causes = Object.entries(queue.waiting_for)
    .filter(([, calls]) => calls > 0)
    .sort(([, a], [, b]) => b - a);
  const { window_seconds: window, program_completion_seconds: programs, queue_seconds: calls } = totals;
  // By the gateway's clock. Before its start nothing happened.
  const seconds = Math.max(1, Math.min(window, totals.steps.from + window - gateway.started_at));
  return [
    joined(
      [
        span(counted(total, 'program'), 'bold'),
        span(running === 1 ? '1 call runs' : `${countText(running)} calls run`),
        span(queue.waiting === 1 ? '1 waits' : `${countText(queue.waiting)} wait`, waiting),
        ...(queue.waiting > 0 ? [span(`oldest ${timeText(queue.longest_wait_seconds)}`, waiting)] : []),
        ...causes.map(([cause, each], at) => span(`${at === 0 ? 'causes: ' : ''}${cause} ${countText(each)}`)),
        span(levels.length === 0 ? '' : `level:waiting ${levels.map((each) => `${each.level}:${each.waiting}`).join(' ')}`), // prettier-ignore
      ],
      width,
    ),
    joined(
      [
        span(`last ${timeText(seconds)}:`),
        span(`hits ${typeof totals.cached_share === 'number' ? shareText(totals.cached_share, 1) : '-'}`),
        span(`${countText(totals.promoted_calls)} promoted`),
        span(`${(calls.count / seconds).toFixed(1)} calls/s`),
        span(`${counted(programs.count, 'program')} ended`),
        span(`queue limit ${countText(queue.limit)}`),
      ],
      width,
    ),
  ];
}

/** A title, and a line for each engine, or for two of them on wide terminals. At most `height` lines. */
export function engineLines({ engines }: Snapshot, width: number, height: number): Line[] {
  if (height < 2) return [];
  if (engines.length === 0) return [joined([span('there is no engine', 'bad')], width)];
  const across = Math.max(1, Math.min(engines.length, Math.floor((width + GAP.length) / (ENGINE_WIDTH_MIN + GAP.length)))); // prettier-ignore
  const layout = layoutOf(engines, Math.floor((width - (across - 1) * GAP.length) / across));
  // Troubled engines first, if not all have room.
  const ordered = Math.ceil(engines.length / across) < height ? engines : engines.toSorted((a, b) => trouble(b) - trouble(a)); // prettier-ignore
  const title = titleOf(layout);
  const rows = Math.min(height - 1, Math.ceil(engines.length / across));
  const isCut = rows * across < engines.length;
  const shown = ordered.slice(0, Math.max(0, isCut ? (rows - 1) * across : engines.length));
  const cells = shown.map((engine) => engineCell(engine, layout));
  const lines = [beside(Array.from({ length: Math.min(across, Math.max(1, cells.length)) }, () => title))];
  for (let from = 0; from < cells.length; from += across) lines.push(beside(cells.slice(from, from + across)));
  if (isCut && rows > 0)
    lines.push([span(fitted(rest(engines.filter((each) => !shown.includes(each))), width), 'dim')]);
  return lines;
}

interface Layout {
  readonly name: number;
  readonly state: number;
  /** Columns of the hits; 0: no engine's are known. */
  readonly hits: number;
  readonly bar: number;
}

function layoutOf(engines: readonly EngineRow[], width: number): Layout {
  const name = Math.min(Math.max(6, ...engines.map(({ id }) => widthOf(id))), Math.max(6, Math.floor(width / 4)));
  const state = Math.max(5, ...engines.map((engine) => widthOf(stateOf(engine))));
  const hits = width >= HITS_FROM && engines.some(({ cached_share: share }) => typeof share === 'number') ? 5 : 0;
  return { name, state, hits, bar: Math.max(8, Math.floor((width - name - state - hits - 3) / 2)) };
}

function titleOf({ name, state, hits, bar }: Layout): Line {
  const titles = [
    fitted('ENGINE', name),
    fitted('STATE', state),
    fitted(bar < 18 ? 'CALLS' : 'IN FLIGHT / WINDOW', bar),
    fitted(bar < 18 ? 'SET/GATE' : 'WORKING SET / GATE', bar),
  ];
  return [span(titles.join(' ') + fitted(hits === 0 ? '' : 'HITS', hits, 'right'), 'dim')];
}

function engineCell(engine: EngineRow, { name, state, hits, bar }: Layout): Line {
  const {
    in_flight: calls,
    window,
    working_set_tokens: tokens,
    gate_tokens: gate,
    capacity_tokens: capacity,
    cached_share: share,
  } = engine;
  return [
    span(`${fitted(engine.id, name)} `),
    span(`${fitted(stateOf(engine), state)} `, trouble(engine) > 0 ? 'bad' : 'good'),
    ...barOf(calls, window ?? undefined, bar),
    span(' '),
    // Without a gate the cache is the limit.
    ...barOf(tokens, gate ?? capacity ?? undefined, bar),
    span(fitted(hits === 0 ? '' : typeof share === 'number' ? shareText(share, 1) : '-', hits, 'right')),
  ];
}

/** A bar of `used` against its limit, near which it warns; without a limit, only the figure. */
function barOf(used: number, limit: number | undefined, width: number): Span[] {
  const room = width - 2;
  const share = limit === undefined || limit <= 0 ? 0 : Math.min(1, used / limit);
  const exact = `${countText(used)}/${limit === undefined ? '-' : countText(limit)}`;
  const figure = exact.length <= room ? exact : countText(used);
  const filled = Math.round(share * room);
  const text = '|'
    .repeat(Math.max(0, Math.min(filled, room - figure.length)))
    .padEnd(Math.max(0, room - figure.length));
  const style: Style | undefined = limit === undefined || used < NEARLY_FULL * limit ? 'good' : used < limit ? 'warning' : 'bad'; // prettier-ignore
  return [span('['), span(text, style), span(fitted(figure, room - text.length, 'right')), span(']')];
}

const stateOf = ({ state, resting }: EngineRow): string => (state === 'up' && resting ? 'resting' : state);

/** How much an engine needs to be seen. */
const trouble = (engine: EngineRow): number => (stateOf(engine) === 'up' ? 0 : engine.state === 'ejected' ? 2 : 1);

function rest(engines: readonly EngineRow[]): string {
  const states = new Map<string, number>();
  for (const engine of engines) states.set(stateOf(engine), (states.get(stateOf(engine)) ?? 0) + 1);
  const calls = engines.reduce((sum, { in_flight: each }) => sum + each, 0);
  return `${engines.length} more: ${[...states].map(([state, each]) => `${each} ${state}`).join(', ')}; ${calls} calls in flight`; // prettier-ignore
}

const beside = (cells: readonly Line[]): Line => cells.flatMap((cell, at) => (at === 0 ? cell : [span(GAP), ...cell]));
