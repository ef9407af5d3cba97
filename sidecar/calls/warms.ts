import { randomUUID } from 'node:crypto';
import {
  LEVELS,
  millis,
  tokens,
  type CancelWarm,
  type EngineId,
  type Event,
  type Millis,
  type Usage,
  type Warm,
} from '../../src/index.js';
import type { AnswerFacts } from '../apis/api.js';
import type { Config } from '../config/index.js';
import type { Engine, Fleet } from '../engines/fleet.js';
import { toEngine } from '../http/headers.js';
import { spliceFields, withoutField } from '../http/splice.js';
import { Attempt, type AttemptSink } from './attempt.js';
import { KeptPrompts, type KeptPrompt } from './kept-prompts.js';
import type { Sessions } from './sessions.js';

export interface WarmPorts {
  readonly config: () => Config;
  readonly fleet: Pick<Fleet, 'get'>;
  readonly sessions: Sessions;
  /** Most bytes of kept prompts. */
  readonly bytesMax: number;
  readonly now: () => Millis;
  /** Receives the outcomes. */
  readonly emit: (event: Event) => void;
}

type Place = Pick<Warm, 'engine' | 'program' | 'thread'>;

interface Running {
  readonly attempt: Attempt;
  readonly place: Place;
  readonly startedAt: Millis;
}

/**
 * The scheduler's warms: a thread's last request again, for one token. They belong to no call: no client waits for
 * them, no call metric counts them, and their failures say nothing about an engine.
 */
export class Warms {
  /** One at a time on each engine. */
  readonly #running = new Map<EngineId, Running>();
  /** The prompts to warm. */
  readonly prompts: KeptPrompts;
  #isClosed = false;

  constructor(private readonly ports: WarmPorts) {
    this.prompts = new KeptPrompts(ports.bytesMax);
  }

  start({ engine: id, program, thread }: Warm): void {
    const place = { engine: id, program, thread };
    const startedAt = this.ports.now();
    const engine = this.ports.fleet.get(id);
    const prompt = this.prompts.get(program, thread);
    if (this.#isClosed || engine === undefined || prompt === undefined || !engine.models.has(prompt.facts.model))
      return this.#tell(place, startedAt);
    this.#running.set(id, { attempt: this.#attempt(engine, prompt), place, startedAt });
  }

  cancel({ engine }: CancelWarm): void {
    this.#running.get(engine)?.attempt.abort();
    this.#end(engine);
  }

  /** Ends all, and begins no more. */
  close(): void {
    this.#isClosed = true;
    for (const [engine, { attempt }] of this.#running) {
      attempt.abort();
      this.#end(engine);
    }
  }

  #attempt(engine: Engine, prompt: KeptPrompt): Attempt {
    const { auth, limits, timeouts } = this.ports.config();
    const { adapter, basePath, config } = engine;
    const { api, path, search, facts, headers, program } = prompt;
    const abortId = adapter.abort === undefined ? undefined : randomUUID();
    const request = {
      method: 'POST',
      path: basePath + path + search,
      headers: toEngine(headers, { dropKey: auth.keys.length > 0, apiKey: config.apiKey, plain: true }),
      body: bodyOf(prompt, {
        // After the calls of every queue.
        ...adapter.priorityFields(LEVELS, LEVELS, path),
        ...(abortId !== undefined && adapter.abort?.fields(abortId, path)),
        ...this.ports.sessions.fields(engine, program, path),
      }),
    };
    const call = { api, facts: { ...facts, stream: false }, wantsMessage: false, secrets: [] };
    const options = { firstByteMs: timeouts.firstByteMs, idleMs: timeouts.idleMs, decode: true };
    return new Attempt(engine, call, request, options, limits.answerBytes, abortId, this.#sink(engine, prompt));
  }

  #sink(engine: Engine, { program, thread }: KeptPrompt): AttemptSink {
    const ignore = (): void => undefined;
    const fail = (): void => this.#end(engine.id);
    return {
      opened: ignore,
      began: ignore,
      forward: ignore,
      progressed: ignore,
      streamed: fail,
      busy: fail,
      failed: fail,
      answered: (_status, _headers, _body, facts) => {
        if (facts !== undefined) return this.#end(engine.id, computedTokens(engine, facts));
        // The engine refuses it, and would again.
        this.prompts.drop(program, thread);
        fail();
      },
    };
  }

  #end(engine: EngineId, computed?: number): void {
    const running = this.#running.get(engine);
    if (running === undefined) return;
    this.#running.delete(engine);
    this.#tell(running.place, running.startedAt, computed);
  }

  /** @param computed prompt tokens that the engine computed; absent: it did not do it */
  #tell(place: Place, startedAt: Millis, computed?: number): void {
    this.ports.emit({
      type: 'memoryMoved',
      ...place,
      action: 'warm',
      ok: computed !== undefined,
      tokens: tokens(computed ?? 0),
      ms: millis(this.ports.now() - startedAt),
    });
  }
}

/** The request's body for a warm. */
function bodyOf({ api, raw, keys }: KeptPrompt, more: Record<string, unknown>): Buffer {
  const { set, drop } = api.oneToken?.(keys) ?? { set: {}, drop: [] };
  const dropped = drop.filter((name) => keys.has(name));
  const body = dropped.reduce(withoutField, raw);
  const left = new Set(keys);
  for (const name of dropped) left.delete(name);
  return spliceFields(body, left, { ...set, ...more });
}

/** Prompt tokens that the engine has computed; the whole prompt if it does not report cached ones. */
function computedTokens({ adapter }: Engine, { usage: read, usageObject }: AnswerFacts): number {
  const usage: Partial<Usage> = (usageObject && adapter.readUsage?.(usageObject)) ?? read ?? {};
  return Math.max(0, (usage.promptTokens ?? 0) - (usage.cachedTokens ?? 0));
}
