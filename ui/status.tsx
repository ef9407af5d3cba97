import { useEffect } from 'preact/hooks';
import { clock, count, counted, duration } from './format.js';
import { connection, engines, gateway, queue } from './state.js';
import { WAIT_MEANINGS, causesWords } from './words.js';

const CALM = new URL('icon.svg', import.meta.url).href;
const ALARM = new URL('icon-alarm.svg', import.meta.url).href;

interface Status {
  readonly level: 'good' | 'warn' | 'bad';
  readonly text: string;
  /** The title of the tab. */
  readonly short: string;
}

/** Is something wrong; who waits, and for what? Also in the title and the icon of the tab. */
export function StatusLine() {
  const { level, text, short } = status();
  useEffect(() => {
    document.title = short === '' ? 'maitred' : `${short} – maitred`;
    document.querySelector<HTMLLinkElement>('link[rel=icon]')?.setAttribute('href', level === 'bad' ? ALARM : CALM);
  }, [level, short]);
  return (
    <p class={`status ${level}`}>
      {text} {batchWords()} {clusterWords()}
    </p>
  );
}

function status(): Status {
  if (connection.value.state === 'reconnecting')
    return {
      level: 'bad',
      text: 'The gateway cannot be reached. What is below is its last state.',
      short: 'Unreachable',
    };
  const all = engines.value?.engines ?? [];
  const down = all.filter(({ down_reason: reason, state }) => reason !== null && state !== 'draining');
  const up = all.filter(({ state }) => state === 'up' || state === 'probation').length;
  const waits = waitWords();
  if (down.length > 0) {
    const text = `${down.map(downWords).join(' ')} ${counted(up, 'engine')} of ${all.length} up. ${waits}`;
    return { level: 'bad', text, short: `${down.length === 1 ? down[0]?.id : counted(down.length, 'engine')} down` };
  }
  const { waiting = 0 } = queue.value ?? {};
  const isWell = up > 0 && up === all.length && !hasTroubledWaits();
  const well = isWell && waiting > 0 && gateway.value?.draining !== true ? 'All well: ' : '';
  const text = `${up === all.length ? counted(up, 'engine') : `${up} of ${counted(all.length, 'engine')}`} up. ${well}${waits}`;
  const short = waiting > 0 ? `${count(waiting)} waiting` : '';
  if (gateway.value?.draining === true) return { level: 'warn', text: `The gateway is draining. ${text}`, short };
  return { level: up === 0 ? 'bad' : isWell ? 'good' : 'warn', text, short: up === 0 ? 'No engine' : short };
}

function downWords({ id, down_since: since, down_reason: reason, probe_in_seconds: probe }: EngineRow): string {
  const next = probe === null ? '' : ` Next probe ${probe < 1 ? 'now' : `in ${duration(Math.round(probe))}`}.`;
  return `${id} is down since ${clock(since ?? 0)} (${reason}).${next}`;
}

type EngineRow = NonNullable<typeof engines.value>['engines'][number];

/** How far each batch is; empty: none is under way. */
function batchWords(): string {
  const words = gateway.value?.batches.map(({ id, lines, rest_seconds: rest, late }) => {
    const left = rest === null ? '' : `, about ${duration(rest)} left`;
    return `${id}: ${count(lines.completed + lines.failed)} of ${counted(lines.total, 'line')}${left}${late ? ', late' : ''}.`;
  });
  return words?.join(' ') ?? '';
}

/** The part of a cluster that the page lacks; empty: none. */
function clusterWords(): string {
  const { standing, silent = [] } = gateway.value?.cluster ?? {};
  if (standing === 'split') return 'The shared state is away: what other gateways do is missing here.';
  return silent.length > 0 ? `What ${silent.join(', ')} does is missing: no answer.` : '';
}

/** Calls wait for room while all is well; for an engine or another attempt when something is wrong. */
function hasTroubledWaits(): boolean {
  const causes = Object.entries(queue.value?.waiting_for ?? {});
  return causes.some(([cause, calls]) => calls > 0 && !(cause in WAIT_MEANINGS));
}

function waitWords(): string {
  const { waiting = 0, waiting_for: causes, longest_wait_seconds: longest = 0 } = queue.value ?? {};
  if (waiting === 0 || causes === undefined) return 'No call waits.';
  const verb = waiting === 1 ? 'call waits' : 'calls wait';
  return `${count(waiting)} ${verb}${causesWords(causes)}, the longest for ${duration(longest)}.`;
}
