import { count, duration } from './format.js';
import { queue } from './state.js';

/** The queues side by side, the one that goes first on the left. */
export function Queues() {
  const { waiting = 0, limit = 0, longest_wait_seconds: longest = 0, levels = [] } = queue.value ?? {};
  const most = Math.max(1, ...levels.map((level) => level.waiting));
  return (
    <section aria-labelledby="queues">
      <h2 id="queues">Queues</h2>
      <p class="quiet">
        {waiting === 0
          ? 'No call waits.'
          : `${count(waiting)} of at most ${count(limit)} calls wait, the longest for ${duration(longest)}.`}
      </p>
      <table class="queues">
        <caption class="sr">Waiting calls by queue</caption>
        <tbody>
          <tr>
            {levels.map(({ level, waiting: here }) => (
              <td key={level} class={here > 0 ? 'busy' : ''}>
                <div class="column">
                  <div style={{ height: `${(100 * here) / most}%` }} />
                </div>
                {count(here)}
              </td>
            ))}
          </tr>
        </tbody>
        <thead>
          <tr>
            {levels.map(({ level }) => (
              <th key={level} scope="col">
                <span class="sr">queue </span>
                {level}
              </th>
            ))}
          </tr>
        </thead>
      </table>
    </section>
  );
}
