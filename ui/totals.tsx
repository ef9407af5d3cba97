import { Facts } from './figures.js';
import { count, duration, percent } from './format.js';
import { Shadow } from './shadow.js';
import { queue, totals } from './state.js';
import { LEVEL_MEANING } from './words.js';

export function Totals() {
  const sums = totals.value;
  if (sums === undefined) return null;
  const { program_completion_seconds: completion, queue_seconds: queued } = sums;
  const { waiting = 0, background = 0, longest_wait_seconds: longest = 0 } = queue.value ?? {};
  const now = [
    ...(waiting > background ? [`${count(waiting - background)}, the longest for ${duration(longest)}`] : []),
    ...(background > 0 ? [`${count(background)} in the background`] : []),
  ];
  const levels = queue.value?.levels.filter(({ waiting }) => waiting > 0) ?? [];
  return (
    <section aria-labelledby="totals">
      <h2 id="totals">Last {sums.window_seconds / 60} minutes</h2>
      <Facts
        style="totals"
        facts={[
          ['Waiting now', now.join('; ') || '0'],
          ['Programs finished', count(completion.count), 'Also those that lines of batches make'],
          ['Completion time, p50 / p99', `${duration(completion.p50)} / ${duration(completion.p99)}`],
          ['Queue time of started calls, p50 / p99', `${duration(queued.p50)} / ${duration(queued.p99)}`],
          ['Prompt from cache', percent(sums.cached_share)],
          ['Calls ended', count(queued.count)],
        ]}
      />
      {levels.length > 0 && (
        <p class="quiet" title={LEVEL_MEANING}>
          Waiting calls by level, of which 0 goes first:{' '}
          {levels.map(({ level, waiting }) => `${count(waiting)} at ${level}`).join(', ')}.
        </p>
      )}
      <Shadow />
    </section>
  );
}
