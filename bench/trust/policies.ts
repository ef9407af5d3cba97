import { overSamePrograms, pairedRatio, pairOf, type RunMeasures, type Scenario, type Setup } from '../../lab/index.js';
import { mean } from '../numbers.js';
import { Runs } from '../report/recordings.js';

const UNGATED = { 'admission.gate': 0 };
/** The paper's order: by the engine time that a program has had. */
const ATTAINED = { 'policy.order': 'attained', 'policy.charge': 'chain', 'admission.forecast': 'length' };

/** Policies of one kind: AgentServeSim's by its own name, and ours. */
export const KINDS: readonly { readonly what: string; readonly theirs: string; readonly ours: Setup }[] = [
  { what: 'order alone (Autellix’ PLAS)', theirs: 'lru-plas', ours: { policy: 'plas', settings: { ...UNGATED, ...ATTAINED } } }, // prettier-ignore
  { what: 'no more programs than the cache holds (a gate)', theirs: 'gate', ours: { policy: 'fcfs-window' } },
];

/** Mean program seconds that AgentServeSim published, of stock vLLM and of its policies (`evolve/arena`, `baselines.json`). */
export const THEIRS: readonly {
  readonly load: string;
  readonly stock: number;
  readonly seconds: Readonly<Record<string, number>>;
}[] = [
  { load: '50 of SWE-bench at 0.04/s, B200', stock: 1940.9, seconds: { 'lru-plas': 1843, gate: 1213.2 } }, // prettier-ignore
  { load: '50 of SWE-bench at 0.02/s, 70B, RTX PRO 6000', stock: 3725.6, seconds: { 'lru-plas': 3664.3 } }, // prettier-ignore
  { load: '`lb20` at 0.1/s, B200', stock: 2314.5, seconds: { 'lru-plas': 2300.1 } },
];

const one: Omit<Scenario, 'ratePerSecond' | 'machine'> = { programs: { recording: 'mini-swe-agent' }, count: 50, engines: 1 }; // prettier-ignore

/** Coding agents on SWE-bench too, on one engine that they overload as much. */
const OURS: Readonly<Record<string, Scenario>> = {
  '50 of mini-swe-agent at 0.2/s, A100': { ...one, ratePerSecond: 0.2, machine: 'llama-3.1-8b-a100' },
  '50 of mini-swe-agent at 0.04/s, Qwen3-Coder, H100': { ...one, ratePerSecond: 0.04, machine: 'qwen3-coder-30b-a3b' },
};

/** Mean program time of our policies over that of pass-through, by load. */
export async function ourRatios() {
  const runs = await Runs.over(['mini-swe-agent']);
  return Object.entries(OURS).map(([load, scenario]) => {
    const stock = runs.of(scenario, { policy: 'pass-through' });
    const secondsOf = ({ program_seconds }: RunMeasures) => program_seconds.mean;
    return {
      load,
      /** Under pass-through. */
      seconds: mean(stock.map((run) => secondsOf(run) ?? NaN)),
      ratios: KINDS.map(({ ours }) => {
        const pairs = runs
          .of(scenario, ours)
          .flatMap((run, at) => pairOf(...overSamePrograms(stock[at] as RunMeasures, run), secondsOf));
        return pairedRatio(pairs).ratio ?? NaN;
      }),
    };
  });
}
