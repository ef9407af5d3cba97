import { type PolicyName, POLICY_NAMES } from '../src/index.js';
import { startStandIns, type Engines } from '../processes/engines.js';
import { configure, readEngines, readModel, startGateway } from '../processes/gateway.js';
import { get } from '../processes/http.js';
import type { PresetName } from '../sim/index.js';
import { UsageError, type DemoOptions } from './options.js';
import type { Run } from './report.js';
import { simulate } from './simulate.js';
import { recordedWorkload, smallWorkload, syntheticWorkload, type Demand, type Workload } from './workload.js';

/** The engines, the programs, and the pace of a demo. */
export interface Stage {
  readonly speed: number;
  /** Factor for tool times. */
  readonly gapScale: number;
  workload(seed: number): Promise<Workload>;
  engines(demand: Demand): Promise<Engines>;
  describe(demand: Demand): string;
  /** One policy in virtual time, on this preset; absent: the engines are real ones, of unknown speed. */
  readonly simulate?: (policy: PolicyName, seed: number, workload: Workload, preset: PresetName) => Run;
}

const PROGRAMS = 30;
const PROGRAMS_SMALL = 24;
const GAP_SCALE = 0.3;
/** Path from the root of the repository, where `npm run` runs. */
const TRACES = '../shared/traces/mini-swe-agent';
/** Share of an engine's longest context that programs may fill, so that none is refused. */
const CONTEXT_SHARE = 0.7;
/** Mean largest context in tokens, for an engine that does not report its cache. */
const CONTEXT_TOKENS = 2600;

export type Say = (text: string) => void;

export const makeStage = (options: DemoOptions, say: Say): Promise<Stage> =>
  options.engine.length > 0 ? realStage(options, say) : Promise.resolve(standInStage(options, say));

function standInStage(options: DemoOptions, say: Say): Stage {
  const { engines: count, preset, speed, kvShare, gapScale = GAP_SCALE, gapMax, balancer, config: file } = options;
  // Each engine must hold at least the largest context alone, with the chat template's marks; otherwise it would cut
  // the answer.
  const kvTokens = ({ largestTokens, peakTokens }: Demand) =>
    Math.ceil(Math.max((largestTokens * kvShare) / count, peakTokens * 1.1 + 256));
  return {
    speed,
    gapScale,
    workload: (seed) => standInWorkload(options, seed, say),
    engines: (demand) => startStandIns({ count, preset, speed, kvTokens: kvTokens(demand) }),
    describe: (demand) => `${count} stand-in engines (${preset}) of ${thousands(kvTokens(demand))} KV tokens`,
    simulate: (policy, seed, { programs, demand }, simulated) =>
      simulate(
        policy,
        seed,
        programs,
        { engines: count, preset: simulated, kvTokens: kvTokens(demand), gapScale, gapMsMax: gapMax * 1000 },
        configure({ policy, balancer, file, engines: [], speed: 1 }),
      ),
  };
}

async function standInWorkload(options: DemoOptions, seed: number, say: Say): Promise<Workload> {
  const { synthetic, traces, programs = PROGRAMS } = options;
  if (synthetic) return syntheticWorkload(programs, seed);
  const recorded = await recordedWorkload(traces ?? TRACES, programs, (problem) => say(`left out: ${problem.message}`));
  if (recorded !== undefined) {
    if (recorded.programs.length < programs) say(`only ${recorded.programs.length} programs are recorded there`);
    return recorded;
  }
  if (traces !== undefined) throw new UsageError(`no recorded program in ${traces}`);
  say(`no recorded programs in ${TRACES}: synthetic ones instead`);
  return syntheticWorkload(programs, seed);
}

async function realStage(options: DemoOptions, say: Say): Promise<Stage> {
  const { engine: urls, programs: count = PROGRAMS_SMALL, kvShare } = options;
  const { capacityTokens, contextTokensMax, bytesPerToken } = await inspect(urls);
  if (capacityTokens === undefined)
    say(`the engines do not tell the size of their KV caches: no gate, unless --config names it`);
  const wanted = capacityTokens === undefined ? CONTEXT_TOKENS : capacityTokens / kvShare / count;
  const largestTokens = Math.min(wanted, contextTokensMax);
  if (largestTokens < wanted) say(`contexts are cut to ${thousands(largestTokens)} tokens, as longer ones do not fit`);
  const workload = (seed: number) => smallWorkload(count, seed, largestTokens, bytesPerToken);
  return {
    speed: 1,
    gapScale: options.gapScale ?? 1,
    workload: (seed) => Promise.resolve(workload(seed)),
    engines: () => Promise.resolve({ urls, stop: () => Promise.resolve() }),
    describe: () =>
      `${urls.join(', ')}: ${capacityTokens === undefined ? 'unknown' : thousands(capacityTokens)} KV tokens`,
  };
}

interface Inspection {
  /** Total of all engines; undefined when one does not report it. */
  readonly capacityTokens: number | undefined;
  /** The highest mean of programs' largest contexts that every engine can hold. */
  readonly contextTokensMax: number;
  readonly bytesPerToken: number;
}

/** The gateway's findings about real engines. */
async function inspect(engines: readonly string[]): Promise<Inspection> {
  // A missing engine is reported at once, not only when the gateway gives up.
  await Promise.all(engines.map((url) => get(`${url}/v1/models`)));
  const gateway = await startGateway({ policy: POLICY_NAMES[0], engines, speed: 1 });
  try {
    const model = await readModel(gateway.url);
    const rows = await readEngines(gateway.url);
    const each = rows.map((row) => row.capacity_tokens ?? Infinity);
    const total = each.reduce((sum, tokens) => sum + tokens, 0);
    return {
      capacityTokens: Number.isFinite(total) ? total : undefined,
      contextTokensMax: CONTEXT_SHARE * Math.min(model.max_model_len ?? Infinity, ...each),
      bytesPerToken: await readBytesPerToken(gateway.url, model.id),
    };
  } finally {
    await gateway.stop();
  }
}

/** Bytes per token of the programs' plain words on the engine; if unknown, the usual value for English. */
async function readBytesPerToken(gateway: string, model: string): Promise<number> {
  const [program] = smallWorkload(1, 0, CONTEXT_TOKENS, 4).programs;
  const text = program?.calls[0]?.messages?.at(-1)?.content ?? '';
  const response = await fetch(`${gateway}/tokenize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, prompt: text }),
  });
  if (!response.ok) return 4;
  const { count } = (await response.json()) as { readonly count?: unknown };
  return typeof count === 'number' && count > 0 ? Buffer.byteLength(text) / count : 4;
}

export const thousands = (tokens: number): string => `${(tokens / 1000).toFixed(1)} k`;
