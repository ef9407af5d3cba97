import { Chart } from './chart.js';
import { clock, count, duration, percent } from './format.js';
import { Shadow } from './shadow.js';
import { totals } from './state.js';

/** Sums of the last minutes. */
export function Totals() {
  const sums = totals.value;
  if (sums === undefined) return null;
  const { program_completion_seconds: completion, queue_seconds: queued, steps, step_seconds: stepSeconds } = sums;
  const times = steps.calls.map((_, index) => steps.from + index * stepSeconds);
  return (
    <section aria-labelledby="totals">
      <h2 id="totals">Last {duration(sums.window_seconds)}</h2>
      <dl class="totals">
        <Figure name="Programs finished" value={count(completion.count)} />
        <Figure name="Completion time" value={duration(completion.mean)} more={`p99 ${duration(completion.p99)}`} />
        <Figure name="Queue time of a call" value={duration(queued.mean)} more={`p99 ${duration(queued.p99)}`} />
        <Figure name="Prompt from cache" value={percent(sums.cached_share)} />
        <Figure name="Calls ended" value={count(queued.count)} />
        <Figure name="Promoted calls" value={count(sums.promoted_calls)} />
      </dl>
      {sums.shadow !== null && <Shadow {...sums.shadow} />}
      <div class="charts">
        <Chart name="Calls ended" times={times} values={steps.calls} format={count} />
        <Chart name="Queue time, mean" times={times} values={steps.queue_seconds} format={duration} />
        <Chart name="Completion time, mean" times={times} values={steps.program_completion_seconds} format={duration} />
        <Chart name="Prompt from cache" times={times} values={steps.cached_share} format={percent} max={1} />
      </div>
      <details>
        <summary>As a table</summary>
        <div class="wide" tabIndex={0} role="region" aria-label="The charts as a table">
          <table>
            <thead>
              <tr>
                <th scope="col">From</th>
                <th scope="col">Calls</th>
                <th scope="col">Programs</th>
                <th scope="col">Queue time</th>
                <th scope="col">Completion time</th>
                <th scope="col">From cache</th>
                <th scope="col">Promoted</th>
              </tr>
            </thead>
            <tbody>
              {times
                .map((time, index) => (
                  <tr key={time}>
                    <th scope="row">{clock(time)}</th>
                    <td>{steps.calls[index]}</td>
                    <td>{steps.programs[index]}</td>
                    <td>{duration(steps.queue_seconds[index] ?? null)}</td>
                    <td>{duration(steps.program_completion_seconds[index] ?? null)}</td>
                    <td>{percent(steps.cached_share[index] ?? null)}</td>
                    <td>{steps.promoted_calls[index]}</td>
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

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly more?: string;
}

function Figure({ name, value, more }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value} {more !== undefined && <small>{more}</small>}
      </dd>
    </div>
  );
}
