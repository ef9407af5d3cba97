import type { WaitCause } from '../../src/index.js';

/* The answers of the admin API about engines, queues and the gateway. Times are seconds, sizes tokens. */

/** A wall-clock time, with fractions. */
export type UnixSeconds = number;

/** Of calls or programs that ended. */
type Spread = Readonly<Record<'p50' | 'p99', number | null>> & { readonly count: number };

/** A value for each step. */
type Column = readonly (number | null)[];

type Spreads = Readonly<Record<'p50' | 'p99', Column>> & { readonly count: readonly number[] };

export interface Engine {
  readonly id: string;
  readonly url: string;
  readonly kind: string;
  /** `config`, `admin`, or the source that found it; null: it is being removed. */
  readonly source: string | null;
  readonly state: 'starting' | 'up' | 'probation' | 'down' | 'draining' | 'drained';
  /** Whether it takes calls now, and if not, why. */
  readonly text: string;
  /** Unix time in seconds since which it is out of service: its last sign of life, or its drain; null: it is not, or that is not known. */
  readonly down_since: number | null;
  /** The last error; null: none. */
  readonly down_reason: string | null;
  /** When it was out of service in the last five minutes, and why: the last error, or `drained`. Null: it still is. */
  readonly outages: readonly Readonly<{ from: UnixSeconds; until: UnixSeconds | null; reason: string }>[];
  /** Since its last good answer, while it misses probes or is down; null: it is not silent. */
  readonly silent_seconds: number | null;
  /** Whether it was up since it was added or returned to service. */
  readonly was_up: boolean;
  /** Until it is probed again; null: it is in service, or drains. */
  readonly probe_in_seconds: number | null;
  readonly models: readonly string[];
  /** Those of them that its configuration names and that it does not list. */
  readonly unlisted_models: readonly string[];
  /** Most calls in flight; null: no limit, or not in service. */
  readonly window: number | null;
  readonly in_flight: number;
  /** Tokens of running and resident contexts. */
  readonly working_set_tokens: number;
  /** Those of them of idle contexts, kept for a return. */
  readonly idle_tokens: number;
  /** Most tokens of running contexts; null: no gate, or not in service. */
  readonly gate_tokens: number | null;
  /** Most tokens of the working set, more than that with host memory; null: no gate. */
  readonly rest_tokens: number | null;
  /** KV cache of the engine; null: unknown. */
  readonly capacity_tokens: number | null;
  /** Host memory for what leaves the KV cache; 0: none. */
  readonly host_tokens: number;
  /** Tokens of contexts that are there and not in the KV cache, estimated. */
  readonly on_host_tokens: number;
  /** Share of prompt tokens served from the cache, in the time of `/totals`. */
  readonly cached_share: number | null;
  /** From dispatch to the first token of streamed calls, background calls aside, in the time of `/totals`. */
  readonly first_token_seconds: Spread;
  /** It fails so many calls that it should take none. */
  readonly failing: boolean;
  /** It reported no room, and gets no calls for a moment. */
  readonly resting: boolean;
  /** Time until the last call that it refused for lack of room may go there; null: none pauses. */
  readonly refused_seconds: number | null;
  /** Attempts that it failed in the time of `/totals`, of those sent there, the last error, its good answers since, and whether these tell that it is mended; null: none. They began when it had failed none for a minute. */
  readonly failures:
    | (Failures & {
        readonly attempts: number;
        readonly answered_since: number;
        readonly mended: boolean;
        readonly began_at: UnixSeconds;
      })
    | null;
  readonly engine_running: number | null;
  readonly engine_waiting: number | null;
  readonly kv_usage: number | null;
  /** The same of all gateways together, as last heard; null: the gateway is in no cluster. */
  readonly all_gateways: Pick<Engine, 'window' | 'in_flight' | 'working_set_tokens'> | null;
}

export interface EngineList {
  readonly engines: readonly Engine[];
}

export interface Queue {
  readonly waiting: number;
  readonly limit: number;
  /** Those of `waiting` that are background calls. */
  readonly background: number;
  /** Of calls other than background ones. */
  readonly longest_wait_seconds: number;
  readonly waiting_for: Readonly<Record<WaitCause, number>>;
}

export interface Failures {
  readonly calls: number;
  readonly last_at: UnixSeconds;
  /** The program of the last call, or the engine’s last error; '': not known. */
  readonly last: string;
}

/** Faults of the service come first, then the most frequent. */
interface Failed extends Failures {
  readonly code: string;
  /** `client`: the call was wrong or not allowed. `service`: anything else, such as no room or a failing engine. */
  readonly fault: 'client' | 'service';
  /** That failed the last call; null: not an engine alone. */
  readonly engine: string | null;
}

export interface TotalsAnswer {
  readonly window_seconds: number;
  /** First arrival to last answer of programs that left the table, or were idle for a minute. */
  readonly program_completion_seconds: Spread;
  /** The others of them: their last call was refused or failed, or its client left. */
  readonly programs_unanswered: number;
  /** Clients’ calls that ended or were refused, but for those of `left`. Lines of batches are none. */
  readonly calls: number;
  /** Those of them that were refused or failed, by error code. `engine_400`: an engine’s answer. */
  readonly failed: readonly Failed[];
  /** Calls whose clients left, while they waited or ran, though an engine could have answered them. */
  readonly left: Readonly<Record<'waiting' | 'running', number>>;
  /** Queued time of calls that ended. */
  readonly queue_seconds: Spread;
  readonly cached_share: number | null;
  /** Null: none yet, or `shadow.enabled` is false. */
  readonly shadow: ShadowAnswer | null;
  /** Since when more calls wait for room than run, background calls aside: their waits are longer than their work. To 5 s; null: fewer do. */
  readonly crowded_since: UnixSeconds | null;
}

/** Columns with an entry for each step since `from`. Null: nothing happened. */
export interface History {
  readonly range: '5m' | '1h' | '1d';
  readonly from: UnixSeconds;
  readonly step_seconds: number;
  readonly program_completion_seconds: Spreads;
  readonly queue_seconds: Spreads;
  readonly cached_share: Column;
  /** Mean number of waiting calls, by cause. */
  readonly waiting: Readonly<Record<WaitCause, Column>>;
  /** Mean, all engines together that run calls; so are the following. */
  readonly in_flight: Column;
  /** Null: not read, or an engine has no limit. */
  readonly window: Column;
  readonly working_set_tokens: Column;
  /** Null: not read, or the capacity of an engine is not known. */
  readonly gate_tokens: Column;
  /** Starts, reloads, engines lost and back. */
  readonly marks: readonly { readonly at: UnixSeconds; readonly text: string }[];
}

/** Why there is no `gain`, see docs/INSPECT.md. */
type Doubt =
  | 'foresight' // the policy in force uses what programs declare, or what was learnt of them
  | 'capacity_unknown' // an engine's KV cache is not known
  | 'cache_unknown' // engines do not report the prompt tokens that they found in their caches
  | 'engines_differ' // in their models, or much in their sizes
  | 'few_programs' // too few programs began in the window
  | 'unanswered' // too many calls ended without an answer
  | 'not_fitted' // too few calls for a model of the engines
  | 'too_slow' // a simulation takes too long
  | 'refused' // simulated calls are refused, so their programs have no time
  | 'model_differs' // the simulated programs take much longer, or shorter, than the real ones
  | 'unfinished' // too many programs have not ended
  | 'beyond_seen' // pass-through would run more calls at a time than the model of the engines can be trusted for
  | 'no_difference'; // none that can be told: the range of the ratio includes 1

/** Engines that share models. */
export interface ShadowPool {
  readonly models: readonly string[];
  readonly engines: number;
  /** Programs that the means are of: those that began in the window. */
  readonly programs: number;
  readonly calls: number;
  readonly doubt: Doubt | null;
  /** The policy in force. */
  readonly replay: {
    /** Mean time of a program, first arrival to last end. */
    readonly measured_seconds: number;
    /** The same in the simulator. */
    readonly simulated_seconds: number;
    /** The longer of the two over the shorter, less 1. */
    readonly error: number;
  } | null;
  readonly gain: {
    /** Mean time of the same programs in the simulator, under `pass-through`. */
    readonly pass_through_seconds: number;
    /** It over `simulated_seconds`; above 1 the policy in force is faster. */
    readonly ratio: number;
    /** Its 95 % interval over programs, widened both ways by the error. */
    readonly ratio_low: number;
    readonly ratio_high: number;
  } | null;
}

/** An estimate of what `pass-through` would have made of the latest programs. */
export interface ShadowAnswer {
  readonly made_at: UnixSeconds;
  readonly window_seconds: number;
  /** CPU time. */
  readonly took_seconds: number;
  readonly pools: readonly ShadowPool[];
}

interface ClusterState {
  readonly pool: string;
  /** `alone`: the server is away; `split`: so it is, and others may go on with it. */
  readonly standing: 'shared' | 'alone' | 'split';
  readonly standing_seconds: number;
  /** Live gateways, this one included, as last heard. */
  readonly live: number;
  readonly gateways: readonly string[];
  /** Those whose programs, calls and times are missing here: they did not answer within a second. */
  readonly silent: readonly string[];
  /** Those of which the same is missing because they are of another version. */
  readonly other_version: readonly string[];
  /** Operations of the server that failed or were late, since the start. */
  readonly failures: number;
  readonly last_failure: string | null;
}

export interface Batch {
  readonly id: string;
  readonly tenant: string;
  readonly lines: Readonly<Record<'total' | 'completed' | 'failed', number>>;
  /** Lines that wait in the queue or run. */
  readonly in_flight: number;
  /** Lines that have all answers that they need. */
  readonly ready: number;
  /** Until its end at the pace so far; null: too few lines have ended to tell, or none for long. */
  readonly rest_seconds: number | null;
  /** The same in words, or why none has ended; '': too few have, or it is stuck. */
  readonly pace: string;
  /** Whether its lines are calls like all others, because its window would end too early. */
  readonly late: boolean;
  readonly expires_at: UnixSeconds;
  /** Whether none of its lines can go on, for the reason that the text begins with. */
  readonly stuck: boolean;
  /** The cause that stops it, why lines pause, and why the first ones failed; '' if nothing does and none has. */
  readonly text: string;
}

export interface EndedBatch extends Pick<Batch, 'id' | 'tenant' | 'lines'> {
  readonly status: 'failed' | 'completed' | 'expired' | 'cancelled';
  readonly ended_at: UnixSeconds;
  /** Its counts and the first failures, or the first faults of its file. */
  readonly text: string;
}

interface StatusPart {
  readonly level: 'good' | 'warn' | 'bad';
  readonly text: string;
}

export interface GatewayState {
  readonly api: 3;
  /** Changes with every start of the gateway. */
  readonly instance: string;
  readonly policy: string;
  readonly draining: boolean;
  /** Is something wrong; who waits, and for what? In words, and in short, the worst first: '' if nothing calls for a look. */
  readonly status: StatusPart & {
    readonly title: string;
    /** The remedies where something is wrong; '' otherwise. */
    readonly helps: string;
    /** The sentences of `text`, each with its level, in short ('' if it is good), and what to do; the level of all is the worst. */
    readonly parts: readonly (StatusPart & {
      readonly title: string;
      readonly about: 'gateway' | 'engines' | 'calls' | 'batches' | 'clients' | 'failures' | 'gain';
      readonly remedy?: string;
    })[];
  };
  /** Null: there is no demo fleet to send. */
  readonly demo: 'idle' | 'running' | null;
  /** Programs of the demo fleet under way; null: none is. */
  readonly demo_programs: { readonly ended: number; readonly total: number } | null;
  /** Whether it estimates its gain over `pass-through`. */
  readonly estimates: boolean;
  /** Null: no state is shared. */
  readonly cluster: ClusterState | null;
  /** Batches under way, the oldest first, at most 20 of each gateway. */
  readonly batches: readonly Batch[];
  /** The last to end first, at most 10 of each gateway. */
  readonly ended_batches: readonly EndedBatch[];
}
