import { Pool } from 'undici';
import { millis, type EngineId, type ProgramId } from '../../src/index.js';
import type { JsonObject } from '../apis/api.js';
import type { Config, EngineConfig } from '../config/index.js';
import { span } from '../../text/index.js';
import { reasonOf } from '../errors.js';
import type { EngineAdapter, LoadReport } from './adapter.js';
import { addressOf, connectionOf, idOf } from './address.js';
import { ADAPTERS } from './adapters.js';
import { isServing, type EngineState, type FleetPorts, type ToldState } from './engine.js';
import { Evidence } from './evidence.js';
import { configuredModels, inspect, type Inspection } from './inspect.js';
import { joined, lasting, reported } from './load.js';
import { MODELS_PATH } from './models.js';
import { Prober } from './prober.js';
import { Saturation } from './saturation.js';
import { IS_STUCK, Stall } from './stall.js';

export type FleetConfig = Pick<Config, 'health' | 'timeouts'>;

/** One engine and its states, drawn at `EngineState`. At most one probe runs; a change of state discards its result. */
export class Replica {
  readonly id: EngineId;
  readonly url: URL;
  readonly basePath: string;
  /** Connections for calls; probes have their own. */
  readonly pool: Pool;
  /** Adapter of a generic OpenAI-like server until the first healthy probe; out of service, the previous one. */
  adapter: EngineAdapter;
  state: EngineState = 'starting';
  ejections = 0;
  /** Why it is out of service, as far as probes or calls tell, and since when; undefined: it serves, or nothing is known. */
  trouble: { readonly reason: string; readonly sinceMs: number } | undefined;
  /** Models that it serves: their ids, each with its entry in the engine's own /v1/models. */
  models: ReadonlyMap<string, JsonObject>;
  /** The last load report; `{}` before the first. */
  load: LoadReport = {};
  /** Requests that are being passed through to it. */
  passing = 0;
  /** Whether the fleet forgets this engine after its last call. */
  removing = false;

  readonly #prober: Prober;
  /** Whether the adapter is certain. After a failure another server may come back. */
  #identified = false;
  /** The last `engineJoined` as text; '' out of service. */
  #announced = '';
  #callFailures = 0;
  #probeFailures = 0;
  readonly evidence = new Evidence();
  readonly #saturation = new Saturation();
  readonly #stall = new Stall();
  /** Its last good answer to a call, or to a probe by which it was not stuck. */
  heardAtMs = 0;
  /** Ejections since the engine last worked, for the backoff. Failed probes do not count, or it would be found late. */
  #setbacks = 0;
  #probeAtMs = Infinity;
  /** Probes that were healthy, and did not find the capacity. */
  #unsized = 0;
  /** Counts the changes that discard the result of a running probe. */
  #epoch = 0;
  #closed = false;
  #probing: Promise<void> | undefined;
  #cancelTimer = (): void => undefined;

  constructor(
    public config: EngineConfig,
    private readonly settings: FleetConfig,
    private readonly ports: FleetPorts,
  ) {
    const { url, basePath } = addressOf(config);
    this.id = idOf(config);
    this.url = url;
    this.basePath = basePath;
    this.adapter = ADAPTERS[config.kind === 'auto' ? 'openai' : config.kind];
    this.models = configuredModels(config.models ?? []);
    const { connectMs } = settings.timeouts;
    // No limit on connections: the window bounds them, and a queue here would hide calls from the scheduler. Idle
    // sockets close after undici's 4 s, before the 5 s after which uvicorn and Node close theirs.
    this.pool = new Pool(url.origin, { pipelining: 1, allowH2: false, ...connectionOf(config, connectMs) });
    const { setTimer } = ports;
    this.#prober = new Prober(this, { timeoutMs: settings.health.timeoutMs, connectMs, setTimer });
    this.#seek();
  }

  /** Applies a configuration with the same address. */
  reconfigure(config: EngineConfig): void {
    if (config.kind !== this.config.kind) this.#identified = false;
    if (config.models) this.models = configuredModels(config.models, this.models);
    this.config = config;
    this.#epoch += 1;
    this.#seek();
  }

  resume(): void {
    if (this.state !== 'draining') return;
    this.removing = false;
    this.#setbacks = 0;
    this.#enter('starting');
    this.#seek();
  }

  drain(): void {
    if (this.state === 'draining') return;
    // Also one that is down: no call must wait for it.
    const isKnown = this.state !== 'starting' || this.models.size > 0;
    this.#enter('draining');
    // It is not probed any more: its last load would look like the present one for ever.
    this.load = lasting(this.load);
    this.trouble = undefined;
    if (isKnown) this.ports.emit({ type: 'engineDrained', engine: this.id });
  }

  remove(): void {
    this.drain();
    this.removing = true;
  }

  /** The engine generated an answer to a call of the program, or began to. */
  succeeded(program: ProgramId): void {
    this.evidence.succeeds();
    this.heardAtMs = this.ports.now();
    this.#callFailures = 0;
    this.#saturation.served(program, this.heardAtMs);
    if (isServing(this)) this.#setbacks = 0;
    this.responded();
  }

  /** The engine answered anything, if only a refusal of the request, or a passed-through request. */
  responded(): void {
    if (this.state !== 'probation') return;
    this.state = 'up';
    // The scheduler does not see probes and passed-through requests, so it must be told.
    this.ports.emit(joined(this));
    this.ports.log.info({ engine: this.id }, 'engine is up again');
  }

  /** No connection came about, which no request causes. Counts immediately. */
  unreached(): void {
    this.evidence.fails(this.ports.now());
    if (!isServing(this)) return;
    this.#callFailures += 1;
    if (this.#callFailures >= this.#failuresMax()) this.#eject('it cannot be reached');
  }

  /** The engine failed a call: reset, 5xx, cut short, too slow, too large or unreadable. It is probed, not taken down. */
  misanswered(program: ProgramId): void {
    this.evidence.fails(this.ports.now());
    this.#suspect(this.evidence.failed, program);
  }

  /** Another engine answered a call that this one had failed. @param acquittals as they were then @param error its own words come after a colon */
  outdone(program: ProgramId, acquittals: number, error: string): void {
    if (acquittals !== this.evidence.acquittals) return;
    this.evidence.fault = (error.split(':', 1)[0] ?? '').replace(/^The engine |\.$/g, '');
    this.#suspect(this.evidence.outdone, program);
  }

  #suspect(programs: Set<ProgramId>, program: ProgramId): void {
    if (!isServing(this)) return;
    // An engine may fail for hours without a success.
    if (programs.size < this.settings.health.failuresMax) programs.add(program);
    if (programs.size >= this.#failuresMax()) this.#probeNow();
  }

  /**
   * The engine reported "no room" (429, 503). @param seconds its `Retry-After`
   * @returns milliseconds for which the engine rests; undefined: the refusal concerns only this program
   */
  refused(program: ProgramId, status: number, seconds: number | undefined): number | undefined {
    return this.#saturation.refused(program, status === 429, seconds && seconds * 1000, this.ports.now());
  }

  /** All that it works on, calls and requests that are passed through. */
  get inFlight(): number {
    return this.ports.inFlight(this.id) + this.passing;
  }

  /** Its state in words for people. To them, one that was probed in vain is down even if it never was up. */
  get told(): ToldState {
    if (this.state === 'draining') return this.inFlight === 0 ? 'drained' : 'draining';
    return this.state === 'starting' && this.trouble !== undefined ? 'down' : this.state;
  }

  /** Milliseconds since its last good answer while it misses probes or is down; 0: it is not silent. Slow calls and probes alone are none. */
  get silentMs(): number {
    const { intervalMs, timeoutMs } = this.settings.health;
    const ms = this.ports.now() - this.heardAtMs;
    const isSilent = isServing(this) && this.#probeFailures > 0 && ms >= intervalMs + timeoutMs;
    return isSilent || this.state === 'down' ? ms : 0;
  }

  /** Milliseconds until its next probe; 0 while one runs. */
  get probeInMs(): number {
    return Math.max(0, this.#probeAtMs - this.ports.now());
  }

  /** Milliseconds until the engine is up if its next probes succeed; Infinity unless it is down or on probation. */
  get backInMs(): number {
    const { intervalMs, timeoutMs } = this.settings.health;
    const probedInMs = this.probeInMs + timeoutMs;
    if (this.state === 'probation') return probedInMs;
    return this.state === 'down' ? probedInMs + intervalMs : Infinity;
  }

  /** Ends probes and closes connections: `break` closes them immediately, `finish` after their calls. */
  async close(calls: 'finish' | 'break'): Promise<void> {
    this.#closed = true;
    this.#cancelTimer();
    const pool = calls === 'break' ? this.pool.destroy() : this.pool.close();
    await Promise.all([pool, this.#prober.close(), this.#probing]);
  }

  #failuresMax(): number {
    return this.state === 'probation' ? 1 : this.settings.health.failuresMax;
  }

  #enter(state: EngineState): void {
    this.state = state;
    this.#epoch += 1;
    this.#callFailures = 0;
    this.#probeFailures = 0;
    this.evidence.clear();
    this.#announced = '';
    this.#schedule();
  }

  #eject(reason: string): void {
    this.ejections += 1;
    this.evidence.acquittals += 1;
    this.#setbacks += 1;
    this.#identified = false;
    this.load = {};
    // As long as nothing was heard of it, it was no help.
    this.trouble = { reason, sinceMs: this.heardAtMs };
    this.#enter('down');
    this.ports.log.warn({ engine: this.id, reason }, 'engine is down');
    const silentMs = millis(this.ports.now() - this.heardAtMs);
    this.ports.emit({ type: 'engineLost', engine: this.id, silentMs });
  }

  #schedule(): void {
    this.#cancelTimer();
    if (this.#closed || this.#probing || this.state === 'draining') return;
    const { intervalMs, backoffMs, backoffMsMax } = this.settings.health;
    const ms = isServing(this) ? intervalMs : Math.min(backoffMs * 2 ** Math.max(0, this.#setbacks - 1), backoffMsMax);
    this.#probeAtMs = this.ports.now() + ms;
    this.#cancelTimer = this.ports.setTimer(() => this.#probeNow(), ms);
  }

  #probeNow(): void {
    this.#cancelTimer();
    if (this.#closed || this.#probing || this.state === 'draining') return;
    this.#probing = this.#probe();
  }

  async #probe(): Promise<void> {
    const epoch = this.#epoch;
    const found = await inspect(this.#prober, this.config, this.#identified ? this.adapter : undefined).catch(reasonOf);
    this.#probing = undefined;
    if (this.#closed) return;
    if (epoch !== this.#epoch) {
      // After an ejection, the backoff starts now. After a reconfiguration, the engine must be probed again.
      if (this.state === 'down') this.#schedule();
      else this.#probeNow();
      return;
    }
    if (typeof found === 'string') this.#unhealthy(found);
    else this.#healthy(found);
    this.#schedule();
  }

  #unhealthy(reason: string, isCertain = false): void {
    this.ports.log.debug({ engine: this.id, state: this.state, reason }, 'engine probe failed');
    if (isServing(this)) {
      this.#probeFailures += 1;
      // If calls of several programs have failed as well, one failed probe is enough.
      const isSuspect = this.evidence.failed.size >= this.#failuresMax();
      if (isCertain || isSuspect || this.#probeFailures >= this.#failuresMax()) this.#eject(reason);
      return;
    }
    if (this.state === 'starting' && this.trouble === undefined)
      this.ports.log.warn({ engine: this.id, reason }, 'engine is down');
    this.trouble = { reason, sinceMs: this.trouble?.sinceMs ?? this.ports.now() };
  }

  #healthy({ adapter, isSure, models = this.models, load }: Inspection): void {
    if (models.size === 0 && !isServing(this))
      return this.#unhealthy(`${MODELS_PATH} lists no models, or does not answer`);
    this.adapter = adapter;
    this.#identified ||= isSure;
    this.models = models;
    const stuckMs = this.#stall.note(load, this.ports.now());
    if (stuckMs === 0) this.heardAtMs = this.ports.now();
    if (stuckMs >= this.settings.health.stuckMs)
      return this.#unhealthy(`${IS_STUCK}: it has run none of its ${load.waiting} requests for ${span(stuckMs)}`, true);
    // A failed scrape keeps the known capacity, context and window.
    this.load = { ...lasting(this.load), ...load };
    this.#probeFailures = 0;
    if (this.evidence.outdone.size >= this.#failuresMax())
      return this.#eject(`${this.evidence.fault}, where others answered`);
    // It answers the question that the failed calls raised.
    this.evidence.failed.clear();
    this.responded();
    if (!isServing(this)) this.#enter(this.state === 'down' ? 'probation' : 'up');
    this.#announce();
    // Those who hear that it is back may ask what it had.
    this.trouble = undefined;
    // One probe of a busy engine may have failed to read it.
    if (joined(this).capacityTokens === undefined && (this.#unsized += 1) === 2)
      this.ports.log.warn({ engine: this.id }, 'engine capacity is unknown: no working-set gate; set capacityTokens');
    const report = reported(this, load);
    if (report) this.ports.emit(report);
  }

  /** Probes it now. Calls may wait for its models until it is up. */
  #seek(): void {
    const isAway = !isServing(this) && this.state !== 'draining';
    if (isAway && this.models.size > 0) this.ports.emit({ ...joined(this), down: true });
    this.#probeNow();
  }

  #announce(): void {
    const event = joined(this);
    const text = JSON.stringify({ ...event, probation: undefined });
    if (text === this.#announced) return;
    this.#announced = text;
    const { models, windowMax, capacityTokens, contextTokensMax } = event;
    const { kind } = this.adapter;
    this.ports.log.info(
      { engine: this.id, kind, state: this.state, models, windowMax, capacityTokens, contextTokensMax },
      'engine joined',
    );
    if (windowMax === undefined && reported(this, this.load) === undefined)
      this.ports.log.info({ engine: this.id }, 'engine reports no load: its window follows completions');
    this.ports.emit(event);
  }
}

/** One engine replica, as the gateway uses it: the fleet alone puts it in and out of service. */
export type Engine = Pick<Replica, 'passing'> &
  Readonly<Omit<Replica, 'close' | 'drain' | 'reconfigure' | 'remove' | 'removing' | 'resume'>>;
