import { count, duration } from './format.js';
import type { Queue } from '../sidecar/admin/answers.js';
import { queue } from './state.js';

/** The queues side by side, the one that goes first on the left. */
export function Queues() {
  const now = queue.value;
  return (
    <section aria-labelledby="queues">
      <h2 id="queues">Queues</h2>
      {now === undefined || now.waiting === 0 ? <p class="quiet">No call waits.</p> : <Levels levels={now.levels} />}
    </section>
  );
}

function Levels({ levels }: Pick<Queue, 'levels'>) {
  const most = Math.max(1, ...levels.map((level) => level.waiting));
  const [first, last] = [levels[0]?.up_to_seconds ?? null, levels.at(-2)?.up_to_seconds ?? null];
  return (
    <>
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
      {first !== null && (
        <p class="quiet">
          Level by the engine time that a program is likely to need: 0 below {duration(first)}, {levels.length - 1} from{' '}
          {duration(last)} on.
        </p>
      )}
    </>
  );
}
