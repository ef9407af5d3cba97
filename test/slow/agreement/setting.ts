import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PRESETS, type PresetName } from '../../../sim/index.js';
import { openTrace, type AgentProgram } from '../../../workloads/index.js';
import { recordedPrograms, programs } from '../../../workloads/workload.js';
import { WORKLOADS } from '../../../workloads/synthetic/file.js';
import { ROOT } from '../../support/tree.js';

/** A setting that runs in virtual time and in real time alike. */
export interface Setting {
  readonly name: string;
  /** In order of their arrivals. */
  readonly programs: readonly AgentProgram[];
  /** Programs per second, Poisson. */
  readonly ratePerSecond: number;
  readonly seed: number;
  readonly engines: number;
  readonly preset: PresetName;
  /** Tokens of each engine's KV cache. */
  readonly kvTokens: number;
  /** The gateway's configuration file, as for real time; absent: its defaults. */
  readonly file?: string;
  /** Speed-up of the live run over real time. */
  readonly speed: number;
}

const ENGINES = { engines: 2, preset: 'llama-3.1-8b-a100', kvTokens: PRESETS['llama-3.1-8b-a100'].kvTokens } as const;
const AGENTS = { ...ENGINES, ratePerSecond: 0.1, seed: 4, kvTokens: 80_000, speed: 10 } as const;
const AGENT_COUNT = 24;
const RECORDING = join(ROOT, '../shared/traces/mini-swe-agent/gemini-3-pro_swebench-verified_first60.jsonl.gz');

/** Coding agents, recorded ones if available, whose contexts exceed the caches, so that the gate decides. */
export async function agents(): Promise<Setting> {
  const spoken = await spokenAgents();
  if (spoken !== undefined) return { ...spoken, name: 'mini-swe-agent', programs: spoken.programs.map(wordless) };
  return {
    ...AGENTS,
    name: 'coding',
    programs: take(programs(WORKLOADS.coding, AGENTS.seed), AGENT_COUNT).map(wordless),
  };
}

/** Recorded agents with the actual outputs of their tools; undefined: there is no recording. */
export async function spokenAgents(): Promise<Setting | undefined> {
  if (!existsSync(RECORDING)) return undefined;
  const recorded: AgentProgram[] = [];
  const trace = await openTrace(RECORDING, { format: 'mini-swe-agent' });
  for await (const program of trace.programs) recorded.push(program);
  const name = 'mini-swe-agent, real messages';
  return { ...AGENTS, name, programs: take(recordedPrograms(recorded, AGENTS.seed), AGENT_COUNT) };
}

/** Programs of all kinds on a narrow window, so that the order decides. */
export function fleet(): Setting {
  const seed = 2;
  return {
    ...ENGINES,
    name: 'fleet, window 4',
    programs: take(programs(WORKLOADS.fleet, seed), 60).map(wordless),
    ratePerSecond: 0.5,
    seed,
    kvTokens: 80_000,
    file: join(import.meta.dirname, 'narrow-window.yaml'),
    speed: 10,
  };
}

function take(source: Iterable<AgentProgram>, count: number): AgentProgram[] {
  const taken: AgentProgram[] = [];
  for (const program of source) {
    taken.push(program);
    if (taken.length === count) break;
  }
  return taken;
}

/**
 * Text generated for the stand-in has exactly the tokens that the simulator counts, unlike recorded words. The stand-in
 * also calls the recorded model's tools only if told to.
 */
const wordless = ({ calls, ...program }: AgentProgram): AgentProgram => ({
  ...program,
  calls: calls.map(({ after, gapMs, thread, promptTokens, outputTokens, prefix }) => ({
    after,
    gapMs,
    thread,
    promptTokens,
    outputTokens,
    ...(prefix && { prefix }),
  })),
});

/** Programs that continue from their own answers, with prompt lengths as a target counted them. */
export const counted = (programs: readonly AgentProgram[], promptTokens: PromptTokens): AgentProgram[] =>
  programs.map((program) => {
    const countOf = (call: number) => promptTokens.get(program.id)?.[call] ?? NaN;
    const { calls, ...rest } = wordless(program);
    return {
      ...rest,
      calls: calls.map((call, index) => {
        const before = call.prefix !== undefined && 'call' in call.prefix ? call.prefix.call : undefined;
        const kept = before === undefined ? 0 : countOf(before) + (calls[before]?.outputTokens ?? 0);
        const prefix = before === undefined ? call.prefix : { call: before, tokens: kept };
        return { ...call, promptTokens: countOf(index), ...(prefix && { prefix }) };
      }),
    };
  });

/** Prompt tokens of each call of a program, by the program's id. */
export type PromptTokens = ReadonlyMap<string, readonly number[]>;
