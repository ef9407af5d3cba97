import { randomUUID } from 'node:crypto';
import { millis, tokens, type CancelWarm, type Event, type Millis, type Usage, type Warm } from '../../src/index.js';
import type { AnswerFacts } from '../apis/api.js';
import type { Config } from '../config/schema.js';
import type { Engine, Fleet } from '../engines/fleet.js';
import { toEngine } from '../http/headers.js';
import { spliceFields, withoutField } from '../http/splice.js';
import { Attempt, type AttemptSink } from './attempt.js';
import { KeptPrompts, type KeptPrompt } from './kept-prompts.js';

export interface WarmPorts {
  readonly config: () => Config;
  readonly fleet: Pick<Fleet, 'get'>;
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
 * The scheduler's warms: a thread's last request again, for one token. They are nobody's calls: no client waits for
 * them, no call metric counts them, and their failures say nothing about an engine.
 */
export class Warms {
  readonly #running = new Map<string, Running>();
  /** The prompts to warm. */
  readonly prompts: KeptPrompts;
  #isClosed = false;

  constructor(private readonly ports: WarmPorts) {
    this.prompts = new KeptPrompts(ports.bytesMax);
  }

  start({ engine: id, program, thread }: Warm): void {
    const { fleet, now } = this.ports;
    const place = { engine: id, program, thread };
    const startedAt = now();
    const engine = fleet.get(id);
    const prompt = this.prompts.get(program, thread);
    if (this.#isClosed || engine === undefined || prompt === undefined || !engine.models.has(prompt.facts.model))
      return this.#tell(place, startedAt, false, 0);
    this.#running.set(nameOf(place), { attempt: this.#attempt(engine, prompt, place), place, startedAt });
  }

  cancel(place: CancelWarm): void {
    this.#running.get(nameOf(place))?.attempt.abort();
    this.#end(place, false, 0);
  }

  /** Ends all, and begins no more. */
  close(): void {
    this.#isClosed = true;
    for (const { attempt, place } of [...this.#running.values()]) {
      attempt.abort();
      this.#end(place, false, 0);
    }
  }

  #attempt(engine: Engine, prompt: KeptPrompt, place: Place): Attempt {
    const { auth, limits, policy, timeouts } = this.ports.config();
    const { adapter, basePath, config } = engine;
    const { api, path, search, facts, headers } = prompt;
    const abortId = adapter.abort === undefined ? undefined : randomUUID();
    const request = {
      method: 'POST',
      path: basePath + path + search,
      headers: toEngine(headers, { dropKey: auth.keys.length > 0, apiKey: config.apiKey, plain: true }),
      body: bodyOf(prompt, {
        // After the calls of every queue.
        ...adapter.priorityFields(policy.levels, policy.levels, path),
        ...(abortId !== undefined && adapter.abort?.fields(abortId, path)),
      }),
    };
    const call = { api, facts: { ...facts, stream: false }, wantsMessage: false, secrets: [] };
    const options = { firstByteMs: timeouts.firstByteMs, idleMs: timeouts.idleMs, decode: true };
    return new Attempt(engine, call, request, options, limits.answerBytes, abortId, this.#sink(engine, place));
  }

  #sink(engine: Engine, place: Place): AttemptSink {
    const ignore = (): void => undefined;
    const fail = (): void => this.#end(place, false, 0);
    return {
      opened: ignore,
      began: ignore,
      forward: ignore,
      progressed: ignore,
      streamed: fail,
      busy: fail,
      failed: fail,
      answered: (_status, _headers, _body, facts) => {
        if (facts !== undefined) return this.#end(place, true, computedTokens(engine, facts));
        // The engine refuses it, and would again.
        this.prompts.drop(place.program, place.thread);
        fail();
      },
    };
  }

  #end(place: Place, ok: boolean, computed: number): void {
    const name = nameOf(place);
    const running = this.#running.get(name);
    if (running === undefined) return;
    this.#running.delete(name);
    this.#tell(running.place, running.startedAt, ok, computed);
  }

  #tell({ engine, program, thread }: Place, startedAt: Millis, ok: boolean, computed: number): void {
    const ms = millis(this.ports.now() - startedAt);
    this.ports.emit({ type: 'memoryMoved', engine, program, thread, action: 'warm', ok, tokens: tokens(computed), ms });
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

/** Prompt tokens that the engine has put into its cache; the whole prompt where it does not tell which were there. */
function computedTokens({ adapter }: Engine, { usage: read, usageObject }: AnswerFacts): number {
  const usage: Usage | undefined = (usageObject && adapter.readUsage?.(usageObject)) ?? read;
  if (usage === undefined) return 0;
  return usage.createdTokens ?? usage.promptTokens - Math.min(usage.promptTokens, usage.cachedTokens ?? 0);
}

const nameOf = ({ engine, program, thread }: Place): string => JSON.stringify([engine, program, thread]);
