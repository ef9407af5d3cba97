import type { ShadowAnswer } from '../sidecar/admin/answers.js';
import { counted, dated, duration, percent } from './format.js';
import { gateway, totals } from './state.js';

type Pool = ShadowAnswer['pools'][number];

const SINCE = 'began and ended since the last start, reload or change of engines';

const DOUBTS: Readonly<Record<Exclude<NonNullable<Pool['doubt']>, 'no_difference'>, string>> = {
  foresight: 'the policy uses what programs declare or what was learnt, which cannot be replayed',
  capacity_unknown: 'the KV cache of an engine is not known; set engines[].capacityTokens',
  cache_unknown: 'no engine reports cached prompt tokens (vLLM: --enable-prompt-tokens-details)',
  engines_differ: 'the engines differ in models or size',
  few_programs: `fewer than 20 programs ${SINCE}`,
  unanswered: 'too many calls ended without an answer',
  not_fitted: 'too few calls to model the engines',
  too_slow: 'the simulation takes too long',
  refused: 'simulated calls are refused',
  unfinished: 'many programs had not ended yet',
  model_differs: 'the simulation does not match the measured times',
  beyond_seen: 'pass-through would run more calls at once than were seen, so their speed is not known',
};

/** An estimate of what `pass-through` would have made of the latest programs. */
export function Shadow() {
  const latest = totals.value?.shadow;
  const isMade = gateway.value?.estimates === true;
  return (
    <div>
      <h3>Does it help?</h3>
      {isMade && latest?.pools.length === 0 && <p>No figure: no engine is in service.</p>}
      {latest?.pools.map((pool) => (
        <p key={pool.models.join()}>
          {latest.pools.length > 1 && `${pool.models.join(', ')}: `}
          {textOf(pool, latest)}
        </p>
      ))}
      <p class="quiet">
        {!isMade
          ? 'No estimate is made: shadow.enabled is false.'
          : latest
            ? 'Replayed in a simulation of these engines, made anew each minute while calls end. Calls arrive there as they did: where clients begin a program only once another has ended, the true difference is smaller.'
            : `No estimate yet: it takes a minute, and 20 programs that ${SINCE}. Calls in the background, such as lines of batches, do not count.`}
      </p>
    </div>
  );
}

function textOf({ doubt, programs, replay, gain }: Pool, made: ShadowAnswer): string {
  const verdict = gain === null ? withheld(doubt) : gained(gain);
  const of = `${counted(programs, 'program')} of the ${duration(made.window_seconds)} until ${dated(made.made_at)}`;
  if (replay === null) return `${verdict} (${of}).`;
  const passed = gain === null ? '' : `, ${exact(gain.pass_through_seconds)} under pass-through`;
  const simulated = `simulated ${exact(replay.simulated_seconds)} under ${gateway.value?.policy ?? 'the policy'}${passed}`;
  return `${verdict}. Mean of ${of}: measured ${exact(replay.measured_seconds)}; ${simulated}. The simulation is off by ${percent(replay.error)}.`;
}

/** Seconds, exact enough for the ratio of two of them. */
const exact = (seconds: number): string =>
  `${seconds.toLocaleString('en', { minimumSignificantDigits: 3, maximumSignificantDigits: 3 })} s`;

function withheld(doubt: Pool['doubt']): string {
  return doubt === null || doubt === 'no_difference' ? 'No difference that can be told' : `No figure: ${DOUBTS[doubt]}`;
}

function gained({ ratio, ratio_low: low, ratio_high: high }: NonNullable<Pool['gain']>): string {
  const [times, than, least, most] =
    ratio > 1 ? [ratio, 'faster', low, high] : [1 / ratio, 'slower', 1 / high, 1 / low];
  return `Programs end ${times.toFixed(2)}x ${than} than without scheduling (${least.toFixed(2)} to ${most.toFixed(2)})`;
}
