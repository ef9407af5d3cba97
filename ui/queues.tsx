import { count, duration } from './format.js';
import { queue } from './state.js';
import { causesWords } from './words.js';

/** The queues side by side, the one that goes first on the left. */
export function Queues() {
  const now = queue.value;
  const levels = now?.levels ?? [];
  const most = Math.max(1, ...levels.map((level) => level.waiting));
  return (
    <section aria-labelledby="queues">
      <h2 id="queues">Queues</h2>
      <p class="quiet">
        {now === undefined || now.waiting === 0
          ? 'No call waits.'
          : `${count(now.waiting)} of at most ${count(now.limit)} calls wait${causesWords(now.waiting_for)}. The longest has waited ${duration(now.longest_wait_seconds)}.`}
      </p>
      <table class="queues">
        <caption class="sr">Waiting calls by level</caption>
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
                <span class="sr">level </span>
                {level}
              </th>
            ))}
          </tr>
        </thead>
      </table>
    </section>
  );
}
