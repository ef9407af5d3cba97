import { existsSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type AgentProgram,
  openTrace,
  smallAgent,
  SWE_AGENT,
  syntheticAgents,
  TraceError,
} from '../workloads/index.js';

/** Bytes per token of the stand-in's tokenizer, for any text. */
const STAND_IN_BYTES_PER_TOKEN = 4;

/** The programs of one run, their description, and their demand on the engines. */
export interface Workload {
  readonly name: string;
  readonly programs: readonly AgentProgram[];
  readonly demand: Demand;
}

/** Demand of the programs on a KV cache, in tokens. */
export interface Demand {
  readonly calls: number;
  /** Over all programs: the sum of their largest contexts, and of their mean contexts. */
  readonly largestTokens: number;
  readonly meanTokens: number;
  /** The largest context of any program. */
  readonly peakTokens: number;
}

/**
 * The first programs recorded in a file, or in a folder's files in order of their names. `onProblem` receives each
 * skipped part: malformed lines, and the rest of a file that cannot be read further. Undefined: there is no such
 * folder, or nothing usable in it.
 */
export async function recordedWorkload(
  path: string,
  count: number,
  onProblem: (problem: TraceError) => void,
): Promise<Workload | undefined> {
  const programs: AgentProgram[] = [];
  for (const file of await traceFiles(path)) {
    if (programs.length >= count) break;
    try {
      const trace = await openTrace(file, { format: 'mini-swe-agent', onMalformed: onProblem });
      for await (const program of trace.programs) {
        programs.push(program);
        if (programs.length >= count) break;
      }
    } catch (error) {
      if (!(error instanceof TraceError)) throw error;
      onProblem(error);
    }
  }
  if (programs.length === 0) return undefined;
  return describe('recorded mini-swe-agent programs', programs, STAND_IN_BYTES_PER_TOKEN);
}

async function traceFiles(path: string): Promise<string[]> {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  const files = await readdir(path);
  return files
    .filter((file) => /\.jsonl(\.gz)?$/.test(file))
    .sort()
    .map((file) => join(path, file));
}

export function syntheticWorkload(count: number, seed: number): Workload {
  const programs = syntheticAgents(SWE_AGENT, count, seed);
  return describe(`synthetic SWE agents (seed ${seed})`, programs, STAND_IN_BYTES_PER_TOKEN);
}

/** Programs for a small real engine, which chooses its own text: only the lengths of answers are given. */
export function smallWorkload(count: number, seed: number, largestTokens: number, bytesPerToken: number): Workload {
  const programs = syntheticAgents(smallAgent(largestTokens), count, seed, { bytesPerToken, answers: false });
  return describe(`synthetic small agents (seed ${seed})`, programs, bytesPerToken);
}

function describe(name: string, programs: readonly AgentProgram[], bytesPerToken: number): Workload {
  const demand = { calls: 0, largestTokens: 0, meanTokens: 0, peakTokens: 0 };
  for (const program of programs) {
    const contexts = textTokens(program, bytesPerToken).map(
      (tokens, index) => tokens + (program.calls[index]?.outputTokens ?? 0),
    );
    const largest = Math.max(...contexts);
    demand.calls += contexts.length;
    demand.largestTokens += largest;
    demand.meanTokens += contexts.reduce((sum, tokens) => sum + tokens, 0) / contexts.length;
    demand.peakTokens = Math.max(demand.peakTokens, largest);
  }
  return { name, programs, demand };
}

/**
 * Tokens of each call's prompt on an engine with this many bytes of text per token: the conversation so far, with its
 * answers. (A recording's own counts are those of its model's tokenizer.)
 */
function textTokens(program: AgentProgram, bytesPerToken: number): number[] {
  let tokens = 0;
  return program.calls.map(({ messages = [], answer, outputTokens }) => {
    for (const { content } of messages) tokens += Buffer.byteLength(content) / bytesPerToken;
    const prompt = tokens;
    tokens += answer === undefined ? outputTokens : Buffer.byteLength(answer) / bytesPerToken;
    return prompt;
  });
}
