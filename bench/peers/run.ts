import type { LoadDocument } from '../../loadtest/report/index.js';
import { startStandIns, startGateway } from '../../processes/gateway.js';
import { runToEnd, type Server } from '../../processes/process.js';
import { DEFAULT_PRESET } from '../../sim/index.js';
import { watchOthers, type Disturbance } from '../disturbance.js';
import type { Load } from './loads.js';
import { startRouter } from './router.js';

/** The peer, then policies of the gateway; `maitred` is its default. */
export const TARGETS = ['vllm-router', 'maitred', 'fcfs-window', 'pass-through'] as const;
/** Those of a comparison with the peer. */
export const PEERS: readonly TargetName[] = ['vllm-router', 'maitred', 'pass-through'];
export type TargetName = (typeof TARGETS)[number];

const RUN_MS_MAX = 600_000;
const ENGINES = 2;
/** Tokens of each engine's KV cache: a third of the largest contexts of 30 recorded agents together. */
const KV_TOKENS = 110_500;

/**
 * One load through one target. Times are in model time, as on engines of real pace, and of completed programs only. NaN:
 * the load tester does not know.
 */
export type Run = Readonly<ReturnType<typeof resultOf>>;

export interface RunChoice {
  readonly load: Load;
  readonly target: TargetName;
  readonly seed: number;
  readonly router: string | undefined;
  /** Real engines; empty: stand-ins. */
  readonly engine: readonly string[];
}

/**
 * Runs a load through a target, on engines of its own where there are no real ones.
 * @throws Error when something does not start, or reports no figures
 */
export async function run(choice: RunChoice): Promise<Run> {
  const { load, target, seed, engine } = choice;
  const engines =
    engine.length > 0
      ? { urls: engine, stop: () => Promise.resolve() }
      : await startStandIns(ENGINES, DEFAULT_PRESET, KV_TOKENS, load.speed);
  try {
    const server = await startTarget(choice, engines.urls);
    try {
      const disturbance = watchOthers();
      const { stdout, stderr } = await runToEnd(loadArgs(choice, server.url), RUN_MS_MAX);
      if (!stdout.startsWith('{')) throw new Error(stderr || 'the load tester ended without a report');
      return resultOf(JSON.parse(stdout) as LoadDocument, load, target, seed, disturbance());
    } finally {
      await server.stop();
    }
  } finally {
    await engines.stop();
  }
}

/** The gateway has its default settings, with times divided by the speed, like the router's. */
function startTarget({ load: { speed }, target, router }: RunChoice, engines: readonly string[]): Promise<Server> {
  return target === 'vllm-router' && router !== undefined
    ? startRouter(router, engines, KV_TOKENS, speed)
    : startGateway({ policy: target === 'fcfs-window' || target === 'pass-through' ? target : 'plas', engines, speed });
}

/** All targets get the same identity of programs, in the router's own header and field. */
const loadArgs = ({ load, seed }: RunChoice, url: string): string[] => [
  ...['load', '--target', `${url}/v1`, ...load.args, '--gap-max', '60s', '--speed', `${load.speed}`],
  ...['--identity', 'vllm-router', '--seed', `${seed}`, '--quiet', '--json', '-'],
];

export function resultOf(
  document: LoadDocument,
  { title }: Load,
  target: TargetName,
  seed: number,
  disturbance: Disturbance,
) {
  const [report] = document.targets;
  if (report === undefined) throw new Error('the load tester reports no target');
  const { program_seconds: seconds, seconds_per_token: perToken, errors, programs, completed } = report;
  const refused = errors.http_429 + errors.http_503;
  return {
    load: title,
    target,
    seed,
    meanSeconds: seconds.mean ?? NaN,
    p99Seconds: seconds.p99 ?? NaN,
    msPerToken: (perToken.mean ?? NaN) * 1000,
    cachedShare: (report.cached_tokens ?? NaN) / report.prompt_tokens,
    programs,
    completed,
    refused,
    /** Calls that failed otherwise than by 429 or 503. */
    failed: report.calls_failed - refused,
    errors: report.error_examples,
    unfinished: document.programs_unfinished,
    /** Of the load tester's lateness in sending calls, in real milliseconds. */
    lateMsP99: document.generator.late_send_ms.p99,
    disturbance,
    warnings: document.warnings,
  };
}
