import type { ShadowAnswer } from '../sidecar/admin/answers.js';
import { clock, count, duration, percent } from './format.js';
import { gateway } from './state.js';

type Pool = ShadowAnswer['pools'][number];

const DOUBTS: Readonly<Record<NonNullable<Pool['doubt']>, string>> = {
  capacity_unknown: 'the KV cache of an engine is not known; set engines[].capacityTokens',
  cache_unknown: 'the engines do not report the prompt tokens that they found in their caches',
  engines_differ: 'the engines differ in models or size',
  few_programs: 'too few programs began in that time',
  unanswered: 'too many calls ended without an answer',
  not_fitted: 'too few calls for a model of the engines',
  beyond_seen: 'fcfs would run more calls at a time than were seen, so their speed is not known',
  model_differs: 'simulated programs take a different time than real ones',
  too_slow: 'the simulation takes too long',
};

/** An estimate of what `fcfs` would have made of the latest programs. */
export function Shadow({ made_at: madeAt, window_seconds: seconds, pools }: ShadowAnswer) {
  return (
    <div class="shadow">
      <h3>Against fcfs, estimated</h3>
      {madeAt === null ? (
        <p class="quiet">No estimate yet.</p>
      ) : (
        <>
          {pools.map((pool) => (
            <PoolLine key={pool.models.join()} pool={pool} isNamed={pools.length > 1} />
          ))}
          <p class="quiet">
            The {duration(seconds)} until {clock(madeAt)}, replayed in a simulator fitted to these engines.
          </p>
        </>
      )}
    </div>
  );
}

function PoolLine({ pool, isNamed }: { readonly pool: Pool; readonly isNamed: boolean }) {
  const name = isNamed ? `${pool.models.join(', ')}: ` : '';
  return (
    <p>
      {name}
      {textOf(pool)}
    </p>
  );
}

function textOf(pool: Pool): string {
  const { doubt, programs, ratio, ratio_low: low, ratio_high: high, measured_seconds: measured } = pool;
  const of = `${count(programs)} programs`;
  if (doubt === 'model_differs')
    return `No figure: ${DOUBTS[doubt]}: ${duration(pool.simulated_seconds)}, not ${duration(measured)} (${of}).`;
  if (doubt !== null || ratio === null || measured === null || pool.simulated_seconds === null)
    return `No figure: ${doubt === null ? 'nothing was measured' : DOUBTS[doubt]} (${of}).`;
  const policy = gateway.value?.policy ?? 'the policy';
  const range = low === null || high === null ? '' : ` (${low.toFixed(2)} to ${high.toFixed(2)})`;
  const times = `measured ${duration(measured)}; simulated ${duration(pool.simulated_seconds)} under ${policy}, ${duration(pool.fcfs_seconds)} under fcfs`;
  const error = percent(Math.abs(pool.simulated_seconds / measured - 1));
  return `Under fcfs, a program would take ${ratio.toFixed(2)} times as long${range}. Mean of ${of}: ${times}. The simulator is off by ${error}.`;
}
