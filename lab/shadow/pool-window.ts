import { tokens, type CallArrived, type CallId, type LogStep, type Millis } from '../../src/index.js';
import {
  LoggedPrograms,
  TraceError,
  TraceRecord,
  type AgentProgram,
  type LoggedProgram,
} from '../../workloads/index.js';
import type { Pool } from './pools.js';
import { endedCall, modelOf, type ShadowWindow } from './window.js';

/** Share of the window whose programs are only load: caches and queues are as they were from then on. */
const WARM_UP_SHARE = 0.2;

/** A program that counts, up to its last call with an answer. */
interface Counted {
  /** Its first calls, in the order of their ends; later ones still run or wait. */
  readonly calls: number;
  readonly measuredMs: number;
}

/** A pool's programs in the window. */
export interface PoolWindow {
  readonly steps: readonly LogStep[];
  readonly programs: readonly AgentProgram[];
  /** By the id of the program. */
  readonly counted: ReadonlyMap<string, Counted>;
  /** Calls with an answer, and calls that ended without one and are in no program. */
  readonly calls: number;
  readonly unanswered: number;
}

/**
 * The calls of the window as programs. Calls to other pools are gaps of them. A program counts if it began in the
 * window, after the warm-up.
 */
export function poolWindow(window: ShadowWindow, { models }: Pool, nowMs: number): PoolWindow {
  const steps = window.steps.filter(({ event }) => event.type !== 'callArrived' || models.has(modelOf(event.model)));
  const facts = factsOf(steps);
  const logged = new LoggedPrograms(0);
  const take = (step: LogStep, number: number) => logged.take(step, recordOf(number));
  const over = steps.flatMap(take);
  for (const arrival of facts.open.values()) over.push(...take(ending(arrival, facts.meanTokens, nowMs), NaN));
  const warmMs = window.sinceMs + WARM_UP_SHARE * (nowMs - window.sinceMs);
  const counted = new Map<string, Counted>();
  const count = ({ program, record }: LoggedProgram, calls: number, endedMs: number) => {
    const first = steps[record.place.number];
    if (first?.event.type !== 'callArrived' || first.now < warmMs || !window.isFirst(first.event.call)) return;
    if (calls > 0) counted.set(program.id, { calls, measuredMs: endedMs - first.now });
  };
  const left = logged.rest().filter(isProgram);
  for (const each of over.filter(isProgram)) count(each, each.program.calls.length, each.endedMs);
  for (const each of left) {
    const name = programOf(steps[each.record.place.number]);
    const running = [...facts.open.values()].filter(({ program }) => program === name).length;
    count(each, each.program.calls.length - running, facts.endedMs.get(name) ?? NaN);
  }
  const programs = [...over.filter(isProgram), ...left].map(({ program }) => program);
  programs.sort((a, b) => (a.arrivalMs ?? 0) - (b.arrivalMs ?? 0));
  const calls = programs.reduce((sum, program) => sum + program.calls.length, 0) - facts.open.size;
  return { steps, programs, counted, calls, unanswered: facts.ended - calls };
}

interface Facts {
  /** Calls that wait or run at the end. */
  readonly open: ReadonlyMap<CallId, CallArrived>;
  /** Number of calls that ended. */
  readonly ended: number;
  /** The last answer of each program. */
  readonly endedMs: ReadonlyMap<string, number>;
  /** Mean length of an answer. */
  readonly meanTokens: number;
}

function factsOf(steps: readonly LogStep[]): Facts {
  const open = new Map<CallId, CallArrived>();
  const started = new Set<CallId>();
  const endedMs = new Map<string, number>();
  let [ended, answers, outputTokens] = [0, 0, 0];
  for (const step of steps) {
    const { event, now } = step;
    if (event.type === 'callArrived') open.set(event.call, event);
    if (event.type === 'callStarted') started.add(event.call);
    const call = endedCall(step);
    const arrival = call && open.get(call);
    if (call === undefined || arrival === undefined) continue;
    open.delete(call);
    ended += 1;
    if (event.type === 'callFinished' || started.delete(call)) endedMs.set(arrival.program, now);
    if (event.type !== 'callFinished' || event.usage === undefined) continue;
    answers += 1;
    outputTokens += event.usage.outputTokens;
  }
  return { open, ended, endedMs, meanTokens: outputTokens / Math.max(1, answers) };
}

/** A call that has not ended is load too. Its answer is taken to be of the usual length. */
function ending({ call, promptTokens }: CallArrived, meanTokens: number, nowMs: number): LogStep {
  const usage = { promptTokens, outputTokens: tokens(Math.max(1, Math.round(meanTokens))) };
  return { now: nowMs as Millis, event: { type: 'callFinished', call, usage }, commands: [] };
}

const programOf = (step: LogStep | undefined): string => (step?.event.type === 'callArrived' ? step.event.program : '');
const recordOf = (number: number) => new TraceRecord('', { unit: 'line', number }, undefined);
const isProgram = (found: LoggedProgram | TraceError): found is LoggedProgram => !(found instanceof TraceError);
