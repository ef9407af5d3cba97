import type { Dispatch, WaitCause } from '../../src/index.js';
import type { UnixSeconds } from './state-answers.js';

export type * from './state-answers.js';

/* The answers of the admin API about programs and calls. Times are seconds, sizes tokens. */

export interface Program {
  /** The client’s id. A leading `~` marks a generated one. */
  readonly id: string;
  readonly tenant: string;
  /** The scheduler’s own id, unique among tenants; every path takes it in place of the id. */
  readonly key: string;
  /** `waiting`: has active calls, and none of them runs. `ending`: it has been ended, and some still wait or run. */
  readonly state: 'waiting' | 'running' | 'idle' | 'ending';
  /** Queue that its next call would enter; 0 goes first. */
  readonly level: number;
  /** Whether all of its active calls are background calls; without any, its last call was one. */
  readonly background: boolean;
  readonly attained_service_seconds: number;
  /** Queued time of all its calls. */
  readonly waiting_seconds: number;
  readonly longest_wait_seconds: number;
  /** Queued time of the call that waits longest now; 0: none waits. */
  readonly current_wait_seconds: number;
  /** Cause of that wait; null: none waits. */
  readonly current_wait_cause: WaitCause | null;
  /** That of its last call; null: not known here. */
  readonly model: string | null;
  /** The source that named it. */
  readonly identified_by: string | null;
  /** The workflow that its calls name, or else a hash of the instructions and tools with which it began. */
  readonly agent_type: string | null;
  /** Its home, or else the engine of a running call. */
  readonly engine: string | null;
  readonly engines: readonly string[];
  /** Those of them that are down: its calls hang there. */
  readonly engines_down: readonly string[];
  readonly active_calls: number;
  readonly calls: number;
  readonly promotions: number;
  readonly context_tokens: number;
  /** Those in its home’s host memory that have left the KV cache, estimated. */
  readonly on_host_tokens: number;
  readonly prompt_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  readonly age_seconds: number;
  readonly idle_seconds: number;
  /** The gateway that runs it; null: this one is in no cluster. */
  readonly gateway: string | null;
}

export interface ProgramPage {
  readonly programs: readonly Program[];
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

/** Programs with a name in common. Calls, tokens, queued and engine time are of present and ended ones. */
export interface ProgramGroup extends Sums {
  /** Null: not known here. */
  readonly name: string | null;
  /** Present ones; so are the next four. */
  readonly programs: number;
  readonly waiting: number;
  readonly running: number;
  /** The longest wait of a call now, background calls aside. */
  readonly current_wait_seconds: number;
  readonly attained_service_seconds: number;
  /** Those of the last 500 to end; none with a `state`, which they do not have. */
  readonly ended: number;
}

/** Of all programs that match; one with calls at several gateways counts at each. */
export interface ProgramGroups extends Omit<ProgramPage, 'programs'> {
  readonly by: 'tenant' | 'model' | 'agent_type' | 'identified_by';
  /** The earliest end of the last 500; null: none has ended. */
  readonly ended_since: UnixSeconds | null;
  /** The one with the most engine time first. */
  readonly groups: readonly ProgramGroup[];
}

/** Why a call waits, at the engine that comes nearest to running it. */
interface WaitingFor {
  readonly cause: WaitCause;
  readonly engine: string | null;
  /** Calls for `window` and `probation`, tokens for `kv`. */
  readonly needs: number | null;
  /** Below 0: more is in use than the limit. */
  readonly free: number | null;
  readonly limit: number | null;
  /** With `turn`: the call that comes first. */
  readonly behind: { readonly call: string; readonly program: string; readonly waiting_seconds: number } | null;
  /** Waiting calls that this engine would run first. */
  readonly ahead: number;
  /** Further waits within which half of such calls, and nine of ten, were dispatched; null: too few have been. */
  readonly expected_seconds: number | null;
  readonly expected_p90_seconds: number | null;
}

/** One of the last attempts that engines failed or refused, in their words. */
interface Attempt {
  readonly engine: string;
  readonly message: string;
  readonly began_at: UnixSeconds;
  readonly failed_at: UnixSeconds;
}

export interface ActiveCall {
  readonly call: string;
  /** The sub-agent’s id; empty for the root. */
  readonly thread: string;
  readonly state: 'waiting' | 'running';
  readonly level: number;
  readonly model: string;
  readonly engine: string | null;
  readonly waiting_seconds: number;
  readonly service_seconds: number;
  /** The last part of it, for which its engine has been down. */
  readonly hung_seconds: number;
  readonly arrived_at: UnixSeconds;
  /** Unix time in seconds; null: none yet, or the answer is no stream. */
  readonly first_token_at: number | null;
  /** Null: it does not wait. */
  readonly waiting_for: WaitingFor | null;
  readonly failures: readonly Attempt[];
  /** Why it waits, or why it runs where it runs. */
  readonly text: string;
}

export interface ProgramDetail extends Program {
  readonly forecast: {
    /** Who foresees its rest: nobody, its agent type, its client. */
    readonly source: 'none' | 'learnt' | 'declared';
    /** Whether the policy ranks by it. */
    readonly used: boolean;
    /** Engine time to come; null: unknown. */
    readonly remaining_seconds: number | null;
  };
  /** Its use of each bound of its budget: the operator's, or that of its last call. */
  readonly budget: readonly {
    readonly name: string;
    readonly unit: string;
    readonly used: number;
    readonly limit: number;
  }[];
  /** The cause of its end while calls of it go on; null: it has not ended. */
  readonly ending: EndedProgram['cause'] | null;
  /** The root’s id is empty. */
  readonly threads: readonly { readonly thread: string; readonly calls: number }[];
  /** The oldest 100. */
  readonly active: readonly ActiveCall[];
}

export interface Explanation {
  /** In words, a paragraph for each active call. */
  readonly text: string;
  /** Of its active calls, those that are explained; null: of a batch, none waits. */
  readonly program: ProgramDetail | null;
  /** If it has ended, and is among the last 500 that have. */
  readonly ended?: EndedProgram;
}

interface Sums extends Pick<Program, 'calls' | 'prompt_tokens' | 'output_tokens'> {
  /** Queued time of all calls. */
  readonly queue_seconds: number;
  readonly service_seconds: number;
}

export interface EndedProgram
  extends Sums, Pick<Program, 'id' | 'tenant' | 'key' | 'model' | 'identified_by' | 'agent_type'> {
  /** `ended`: by its client. `expired`: idle for its lease. `evicted`: idle, and the table needed the row. */
  readonly cause: 'ended' | 'operator' | 'expired' | 'evicted';
  /** The cause in words. */
  readonly why: string;
  /** Whether its last call was: not refused or failed, nor left by its client. */
  readonly answered: boolean;
  readonly ended_at: UnixSeconds;
  /** First arrival to last completion. */
  readonly duration_seconds: number;
  /** All calls together, from arrival to end. */
  readonly calls_seconds: number;
  /** Where its last call ran. */
  readonly engine: string | null;
}

export interface EndedPrograms {
  /** The last 500, the last to end first. */
  readonly programs: readonly EndedProgram[];
}

/** A call that has ended. Engine, level, reason: those of its last dispatch. */
export interface PastCall {
  readonly call: string;
  readonly thread: string;
  readonly model: string;
  readonly background: boolean;
  readonly outcome:
    'completed' | 'client_error' | 'engine_error' | 'cancelled' | 'recalled' | 'timed_out' | 'drained' | 'refused';
  /** HTTP status; 499: the client had left. */
  readonly status: number;
  /** Error code of the gateway; null: none. */
  readonly code: string | null;
  readonly arrived_at: UnixSeconds;
  readonly duration_seconds: number;
  /** The last part of it, for which its engine had been down. */
  readonly hung_seconds: number;
  /** Queued, all attempts together, without `inherited_seconds`. */
  readonly queue_seconds: number;
  /** The same by cause, as far as it was seen: every few seconds somebody looks. */
  readonly waited_for: Readonly<Partial<Record<WaitCause, number>>>;
  /** Queued time of earlier attempts of the client, whose place it took over. */
  readonly inherited_seconds: number;
  /** Arrival to the first event of a stream. */
  readonly first_token_seconds: number | null;
  /** Last dispatch to end; null: it did not run at its end. */
  readonly service_seconds: number | null;
  readonly attempts: number;
  readonly failures: readonly Attempt[];
  /** The words of its error. Of a request that was refused before it became a call, `call` is its own id, and `model` may be ''. */
  readonly message: string | null;
  readonly engine: string | null;
  readonly level: number | null;
  readonly reason: Dispatch['reason'] | null;
  readonly placement: Dispatch['placement'] | null;
  readonly prompt_tokens: number | null;
  readonly cached_tokens: number | null;
  readonly output_tokens: number | null;
  /** How it ended, in one line; in a second one, why it ran where it ran. */
  readonly text: string;
}

export interface PastCallList {
  /** The latest, oldest first. */
  readonly calls: readonly PastCall[];
}
