import { count, duration, percent } from './format.js';
import { Shadow } from './shadow.js';
import { queue, totals } from './state.js';

/** Sums of the last minutes. */
export function Totals() {
  const sums = totals.value;
  if (sums === undefined) return null;
  const { program_completion_seconds: completion, queue_seconds: queued } = sums;
  return (
    <section aria-labelledby="totals">
      <h2 id="totals">Last {sums.window_seconds / 60} minutes</h2>
      <dl class="totals">
        <Figure name="Waiting now" value={count(queue.value?.waiting ?? 0)} />
        <Figure name="Programs finished" value={count(completion.count)} />
        <Figure name="Completion time, p50" value={duration(completion.p50)} more={tail(completion.p99)} />
        <Figure name="Queue time, started calls, p50" value={duration(queued.p50)} more={tail(queued.p99)} />
        <Figure name="Prompt from cache" value={percent(sums.cached_share)} />
        <Figure name="Calls ended" value={count(queued.count)} />
      </dl>
      <Shadow />
    </section>
  );
}

const tail = (p99: number | null): string => (p99 === null ? '' : `p99 ${duration(p99)}`);

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly more?: string;
}

function Figure({ name, value, more = '' }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value} {more !== '' && <small>{more}</small>}
      </dd>
    </div>
  );
}
