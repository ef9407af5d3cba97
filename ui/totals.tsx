import { Chart } from './chart.js';
import { clock, count, duration, percent } from './format.js';
import { Shadow } from './shadow.js';
import { queue, totals } from './state.js';

/** Sums of the last minutes. */
export function Totals() {
  const sums = totals.value;
  if (sums === undefined) return null;
  const { program_completion_seconds: completion, queue_seconds: queued } = sums;
  return (
    <section aria-labelledby="totals">
      <h2 id="totals">Last {duration(sums.window_seconds)}</h2>
      <dl class="totals">
        <Figure name="Waiting now" value={count(queue.value?.waiting ?? 0)} />
        <Figure name="Programs finished" value={count(completion.count)} />
        <Figure name="Completion time" value={duration(completion.mean)} more={tail(completion.p99)} />
        <Figure name="Queue time of a call" value={duration(queued.mean)} more={tail(queued.p99)} />
        <Figure name="Prompt from cache" value={percent(sums.cached_share)} />
        <Figure name="Calls ended" value={count(queued.count)} />
      </dl>
      {sums.shadow !== null && <Shadow {...sums.shadow} />}
    </section>
  );
}

/** The same minutes as curves and, for readers of the screen, as a table. */
export function History() {
  const sums = totals.value;
  if (sums === undefined) return null;
  const { steps, step_seconds: stepSeconds } = sums;
  const times = steps.calls.map((_, index) => steps.from + index * stepSeconds);
  const columns: readonly (readonly [string, (index: number) => string])[] = [
    ['Calls', (at) => String(steps.calls[at])],
    ['Programs', (at) => String(steps.programs[at])],
    ['Queue time', (at) => duration(steps.queue_seconds[at] ?? null)],
    ['p99', (at) => duration(steps.queue_p99_seconds[at] ?? null)],
    ['Completion time', (at) => duration(steps.program_completion_seconds[at] ?? null)],
    ['From cache', (at) => percent(steps.cached_share[at] ?? null)],
  ];
  return (
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      <div class="charts">
        <Chart
          name="Queue time of a call: mean, p99"
          times={times}
          values={steps.queue_seconds}
          most={steps.queue_p99_seconds}
          format={duration}
        />
        <Chart name={`Calls ended in ${stepSeconds} s`} times={times} values={steps.calls} format={count} isWhole />
        <Chart
          name="Completion time of programs, mean"
          times={times}
          values={steps.program_completion_seconds}
          format={duration}
        />
        <Chart name="Prompt from cache" times={times} values={steps.cached_share} format={percent} max={1} />
      </div>
      <details>
        <summary>As a table</summary>
        <div class="wide" tabIndex={0} role="region" aria-label="The charts as a table">
          <table>
            <thead>
              <tr>
                {['From', ...columns.map(([name]) => name)].map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times
                .map((time, index) => (
                  <tr key={time}>
                    <th scope="row">{clock(time)}</th>
                    {columns.map(([name, cell]) => (
                      <td key={name}>{cell(index)}</td>
                    ))}
                  </tr>
                ))
                .reverse()}
            </tbody>
          </table>
        </div>
      </details>
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
