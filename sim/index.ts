/**
 * The engine model, a vLLM-like server: behind HTTP in real or scaled time, as the stand-in engine, and in virtual
 * time, as the simulator.
 *
 * Reading guide, in this order:
 * - `engine/batch.ts`: the work of a step; `engine.ts`: its time, by `roofline.ts`. Pure. `kv-cache.ts`: cached prefixes.
 * - `server/call.ts`: one request from acceptance to its end; `server/runner.ts` drives the engine in wall time.
 * - `apis/chat.ts`: one API's shapes; the other files of that folder are its siblings.
 * - `virtual/world.ts`: programs, the gateway's scheduler and engines on one virtual clock; `virtual/calls.ts`: a call
 *   between its client, the gateway and an engine; `virtual/conditions.ts`: the faults it may meet.
 * - `policies/`: the policies that exist only for comparison.
 * - `text/`: tokens, answers, tool calls. `server/faults.ts`: misbehaviour for tests. `options.ts`: the options.
 * - `calibrate/`: a preset from the timings of a real server; `loadtest/preset.ts` measures them.
 *
 * Programs come from `workloads/`; figures and reports are made in `lab/`.
 */
import { readOptions, type EngineOptions } from './options.js';

export { presetFileSchema } from './engine/preset-file.js';
export { DEFAULT_PRESET, PRESET_NAMES, PRESETS, type Preset, type PresetName } from './engine/presets.js';
export { HashList, type BlockHashes } from './engine/blocks.js';
export { Engine, type EngineSettings, type EngineTotals } from './engine/engine.js';
export { HOST_WRITES, hostOf, type HostOptions, type HostSettings, type HostWrites } from './engine/host-tier.js';
export type { Sequence, Work } from './engine/sequence.js';
export type {
  CallOutcome,
  CallRecord,
  Observer,
  ProgramRecord,
  ClusterOptions,
  WorldOptions,
} from './virtual/options.js';
export type { EngineOptions } from './options.js';
export type { EngineStats, SequenceRecord } from './server/stats.js';
export type { Script, ScriptedAnswer } from './text/answer.js';
export type { Message, Tool, ToolCall } from './text/conversation.js';
export {
  errorsOf,
  fitPreset,
  isGood,
  type Measured,
  type PresetFit,
  type RelativeErrors,
  TIMES,
  type TimeName,
  verdictOf,
} from './calibrate/fit.js';
export { type Served, type TrafficFit, fitTraffic } from './calibrate/traffic.js';
export { stepMs } from './engine/roofline.js';
export { rangeOf, readOptions } from './options.js';
export { makeSimBalancer, SIM_BALANCERS, type SimBalancerName, type SimBalancerOptions } from './policies/balancers.js';
export {
  SIM_POLICIES,
  SIM_RETENTION_NAMES,
  type SimPolicyName,
  type SimRetentionName,
  makeSteps,
} from './policies/policies.js';
export { FAULTS, parseFault } from './server/faults.js';
export { hashText, mix, tokensOf } from './text/tokens.js';
export { CONDITIONS, type Conditions, type ConditionsName, conditionsSchema } from './virtual/conditions.js';
export { ProgramRun } from './virtual/program-run.js';
export { Source } from './virtual/source.js';
export { runWorld } from './virtual/world.js';
export type { EngineResult } from './virtual/replica.js';

export type EngineHandle = Readonly<Awaited<ReturnType<typeof startEngine>>>;

/**
 * Starts a stand-in engine. Rejects with a TypeError that names each bad option, or with the listener's error.
 */
export async function startEngine(options: EngineOptions = {}) {
  const wanted = readOptions(options);
  // Loaded on demand, because each thread of a simulation would load it otherwise.
  const { EngineServer } = await import('./server/server.js');
  const server = new EngineServer(wanted);
  return {
    /** Without `/v1`. */
    url: await server.listen(),
    stats: () => server.stats(),
    /** Has the next calls go wrong, one fault each: see `server/faults.ts`. */
    plan: (...faults: readonly string[]) => server.faults.update({ faults }),
    /** Ends every call and connection; resolves when the port is free. */
    close: () => server.close(),
  };
}
