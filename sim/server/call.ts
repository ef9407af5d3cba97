import { randomUUID } from 'node:crypto';
import {
  finishOf,
  type Api,
  type Ask,
  type Choice,
  type Formatter,
  type Prompt,
  type Reply,
  type Terms,
  type Usage,
} from '../apis/api.js';
import { ApiError, type JsonObject } from '../apis/fields.js';
import { HashList } from '../engine/blocks.js';
import type { Sequence } from '../engine/sequence.js';
import type { Settings } from '../options.js';
import { Answer, Narrator, choose, questionSeed, type Chosen } from '../text/answer.js';
import type { Message } from '../text/conversation.js';
import { blockHashes, mix } from '../text/tokens.js';
import type { Fault } from './faults.js';
import type { Outlet } from './outlet.js';
import type { Job, Runner } from './runner.js';

export interface CallHost {
  readonly runner: Runner;
  readonly settings: Settings;
  /** Name of the model that serves a request. @throws ApiError 404 for a model that is not served */
  modelOf(terms: Terms): string;
}

interface RunningChoice extends Choice {
  readonly prompt: Prompt;
  /** The first of the `n` answers to its prompt: prompt tokens count once. */
  readonly first: boolean;
  readonly sequence: Sequence<Job>;
  closed: boolean;
}

/**
 * One request for an answer, from its acceptance to its end: submits its choices to the engine and sends their tokens
 * to the client. It ends once, completed or aborted.
 */
export class Call implements Reply {
  readonly id = randomUUID().replaceAll('-', '');
  readonly createdAt = Math.floor(Date.now() / 1000);
  readonly model: string;
  readonly terms: Terms;
  readonly choices: RunningChoice[] = [];
  status: Reply['status'] = 'in_progress';
  readonly #formatter: Formatter;
  #choicesLeft = 0;
  #waitsForDrain = false;
  #outlet: Outlet | undefined;

  /** @throws ApiError when the model is not served, the prompt is too long, or the queue is full */
  constructor(
    private readonly host: CallHost,
    api: Api,
    ask: Ask,
    private readonly fault: Fault,
  ) {
    this.terms = ask.terms;
    this.model = host.modelOf(ask.terms);
    if (host.runner.engine.waiting >= host.settings.maxQueued) {
      throw new ApiError(503, `The server is overloaded: ${host.settings.maxQueued} requests are queued.`);
    }
    const plans = ask.prompts.flatMap((prompt) => this.#plan(prompt));
    this.#formatter = api.format(this);
    this.#choicesLeft = plans.length;
    this.choices = plans.map((start, index) => start(index));
  }

  /** Connects the client's outlet. Without one, the answer is only kept for later retrieval. */
  attach(outlet: Outlet): void {
    this.#outlet = outlet;
    if (!this.terms.stream) return;
    outlet.events(this.#formatter.opening?.() ?? []);
    outlet.flush();
  }

  snapshot(): JsonObject {
    this.#narrate();
    return this.#formatter.whole();
  }

  /** The conversation with its answer, without instructions: what `previous_response_id` continues. */
  conversation(): readonly Message[] {
    this.#narrate();
    const [choice] = this.choices;
    if (choice === undefined) return [];
    const { text, calls } = choice.narrator;
    const messages = choice.prompt.messages.slice(typeof this.terms.body['instructions'] === 'string' ? 1 : 0);
    return [...messages, { role: 'assistant', text, toolCalls: calls }];
  }

  /** Reads out the answer so far, when no stream does. */
  #narrate(): void {
    if (this.terms.stream) return;
    for (const { narrator, sequence } of this.choices) narrator.tell(sequence.generated);
  }

  /** Ends the call early; false when it had ended already. */
  abort(): boolean {
    if (this.status !== 'in_progress') return false;
    this.status = 'cancelled';
    for (const { sequence } of this.choices) this.host.runner.abort(sequence);
    return true;
  }

  /** As `abort`, but the client is still connected: it gets the answer so far. */
  cancel(): boolean {
    if (!this.abort()) return false;
    if (this.terms.stream) this.#outlet?.finish(this.#formatter.closing());
    else this.#outlet?.json(200, this.snapshot());
    return true;
  }

  usage(): Usage | undefined {
    if (this.fault.has('no-usage')) return undefined;
    const usage = { prompt: 0, cached: 0, output: 0 };
    for (const { first, promptTokens, sequence } of this.choices) {
      usage.output += sequence.generated;
      if (!first) continue;
      usage.prompt += promptTokens;
      usage.cached += sequence.cachedTokens;
    }
    return usage;
  }

  metrics(): JsonObject | undefined {
    const [choice] = this.choices;
    // Several answers have no single time, so the real server reports none.
    if (choice === undefined || this.choices.length > 1) return undefined;
    const { arrivedAt, scheduledAt, firstTokenAt, endedAt, generated } = choice.sequence;
    const { speed } = this.host.settings;
    const generationMs = (endedAt - firstTokenAt) / speed;
    const ttftMs = (firstTokenAt - scheduledAt) / speed;
    return {
      time_to_first_token_ms: ttftMs,
      generation_time_ms: generationMs,
      queue_time_ms: (scheduledAt - arrivedAt) / speed,
      mean_itl_ms: generated > 1 ? generationMs / (generated - 1) : null,
      tokens_per_second: (generated * 1000) / (ttftMs + generationMs),
    };
  }

  /** Checks one prompt and chooses its answers. Each function returned submits one of them to the engine. */
  #plan(prompt: Prompt): ((index: number) => RunningChoice)[] {
    const { engine } = this.host.runner;
    const { terms } = this;
    const room = engine.maxModelLen - prompt.ids.length;
    if (prompt.ids.length === 0) throw new ApiError(400, 'The prompt is empty.', 'prompt');
    if (room < (terms.maxTokens ?? 1)) {
      const asked = terms.maxTokens === undefined ? '' : ` and ${terms.maxTokens} output tokens`;
      throw new ApiError(
        400,
        `This model's maximum context length is ${engine.maxModelLen} tokens. However, your request has ` +
          `${prompt.ids.length} input tokens${asked}. Please reduce the length of the input messages or the output.`,
        'max_tokens',
      );
    }
    const max = terms.maxTokens ?? room;
    const hash = promptHash(prompt);
    const { seed, blockSize } = this.host.settings;
    return Array.from({ length: terms.n }, (_, n) => {
      const answer = this.#answer(prompt, questionSeed(seed, hash, n), max);
      const hashes = new HashList(blockHashes(prompt.ids.concat(answer.ids), blockSize, terms.cacheSalt));
      return (index) => this.#submit(prompt, answer, hashes, index, n === 0);
    });
  }

  #answer(prompt: Prompt, seed: number, max: number): Answer {
    const { terms } = this;
    const { settings } = this.host;
    const scripted = settings.script?.(prompt.messages, prompt.tools);
    const exact = terms.ignoreEos ? max : undefined;
    const chosen: Chosen = scripted
      ? { text: scripted.content ?? '', toolCalls: scripted.tool_calls ?? [] }
      : choose({ ...prompt, seed, minTokens: terms.minTokens, exactTokens: exact });
    const toolCalls = chosen.toolCalls.map((call) => ({
      ...call,
      id: call.id ?? `call_${randomUUID().replaceAll('-', '')}`,
    }));
    return new Answer(
      { role: 'assistant', text: chosen.text, toolCalls },
      { max, min: exact ?? 0, cost: scripted?.output_tokens },
    );
  }

  #submit(prompt: Prompt, answer: Answer, hashes: HashList, index: number, first: boolean): RunningChoice {
    const sequence = this.host.runner.submit({
      promptTokens: prompt.ids.length,
      outputTokens: answer.ids.length,
      blockHashes: hashes,
      failsLoad: this.fault.has('load-fails'),
      progressed: () => this.#progressed(index),
    });
    if (sequence === undefined) throw new ApiError(400, 'The request exceeds the KV cache.');
    return {
      index,
      answer,
      narrator: new Narrator(answer),
      promptTokens: prompt.ids.length,
      promptIds: prompt.isEmbedded === true ? prompt.ids : [],
      prompt: { ...prompt, ids: [] },
      first,
      sequence,
      opened: false,
      closed: false,
    };
  }

  #progressed(index: number): void {
    const choice = this.choices[index];
    if (choice === undefined || this.status !== 'in_progress') return;
    if (choice.sequence.state === 'finished') {
      this.#choicesLeft -= 1;
      if (this.#choicesLeft === 0) this.status = 'completed';
    }
    if (this.terms.stream) this.#stream(choice);
    else if (this.status === 'completed') this.#outlet?.json(200, this.snapshot());
  }

  /** Writes the tokens that the client has not received. A slow client gets several as one event. */
  #stream(choice: RunningChoice): void {
    const outlet = this.#outlet;
    if (outlet === undefined || this.#waitsForDrain || choice.closed) return;
    if (outlet.congested) {
      this.#waitsForDrain = true;
      outlet.onceDrained(() => this.#drained());
      return;
    }
    const { narrator, answer, sequence } = choice;
    // Faults count events, so under a fault each token has its own event.
    const stride = outlet.fault.size > 0 ? 1 : answer.ids.length;
    while (narrator.told < sequence.generated) {
      const deltas = narrator.tell(Math.min(narrator.told + stride, sequence.generated));
      const events = this.#formatter.delta(choice, deltas);
      choice.opened = true;
      if (finishOf(choice) !== null) this.#close(choice, outlet, events);
      else outlet.events(events);
    }
    outlet.flush();
  }

  /** Sends the last token's events together with the end of the stream: they may contain the finish reason. */
  #close(choice: RunningChoice, outlet: Outlet, last: readonly string[]): void {
    choice.closed = true;
    const events = [...last, ...(this.#formatter.finish?.(choice) ?? [])];
    if (this.choices.some(({ closed }) => !closed)) outlet.events(events);
    else outlet.finish([...events, ...this.#formatter.closing()]);
  }

  #drained(): void {
    this.#waitsForDrain = false;
    for (const choice of this.choices) this.#stream(choice);
  }
}

const promptHash = ({ ids }: Prompt): number => ids.reduce(mix, ids.length) >>> 0;
