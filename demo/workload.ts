import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { contextBytes, readMiniSweAgent, SMALL_AGENT, SWE_AGENT, syntheticAgents } from '../sim/index.js';
import type { AgentProgram } from '../sim/index.js';

/** The programs of one run, and what they are in words. */
export interface Workload {
  readonly name: string;
  readonly programs: readonly AgentProgram[];
}

/**
 * The first programs recorded in the folder's files, by name; `onMalformed` is told of lines that were left out.
 * Undefined: there is no such folder, or nothing recorded in it. @throws TraceError for a file that cannot be read.
 */
export async function recordedWorkload(
  folder: string,
  count: number,
  onMalformed: (error: Error) => void,
): Promise<Workload | undefined> {
  if (!existsSync(folder)) return undefined;
  const files = (await readdir(folder)).filter((file) => /\.jsonl(\.gz)?$/.test(file)).sort();
  const programs: AgentProgram[] = [];
  for (const file of files) {
    if (programs.length >= count) break;
    for await (const program of readMiniSweAgent(join(folder, file), onMalformed)) {
      programs.push(program);
      if (programs.length >= count) break;
    }
  }
  return programs.length > 0 ? { name: 'recorded mini-swe-agent programs', programs } : undefined;
}

export function syntheticWorkload(count: number, seed: number): Workload {
  return { name: `synthetic SWE agents (seed ${seed})`, programs: syntheticAgents(SWE_AGENT, count, seed) };
}

/** Programs for a small real engine, which says what it likes: only how long its answers are is fixed. */
export function smallWorkload(count: number, seed: number, bytesPerToken: number): Workload {
  const programs = syntheticAgents(SMALL_AGENT, count, seed, bytesPerToken);
  return { name: `synthetic small agents (seed ${seed})`, programs };
}

export function withoutAnswers(programs: readonly AgentProgram[]): AgentProgram[] {
  return programs.map(({ id, calls }) => ({
    id,
    calls: calls.map(({ messages, outputTokens, gapMs }) => ({ messages, outputTokens, gapMs })),
  }));
}

/** What the programs take of a KV cache, in tokens. */
export interface Demand {
  readonly calls: number;
  /** Of all programs together: their largest contexts, and their contexts on average. */
  readonly largestTokens: number;
  readonly meanTokens: number;
  /** The largest context of any. */
  readonly peakTokens: number;
}

export function demandOf(programs: readonly AgentProgram[], bytesPerToken: number): Demand {
  const demand = { calls: 0, largestTokens: 0, meanTokens: 0, peakTokens: 0 };
  for (const program of programs) {
    const contexts = contextBytes(program).map(
      (bytes, index) => bytes / bytesPerToken + (program.calls[index]?.outputTokens ?? 0),
    );
    const largest = Math.max(...contexts);
    demand.calls += contexts.length;
    demand.largestTokens += largest;
    demand.meanTokens += contexts.reduce((sum, tokens) => sum + tokens, 0) / contexts.length;
    demand.peakTokens = Math.max(demand.peakTokens, largest);
  }
  return demand;
}
