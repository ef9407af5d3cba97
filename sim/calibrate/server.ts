import type { LookupFunction } from 'node:net';
import { createParser } from 'eventsource-parser';
import { Agent, fetch, type RequestInit, type Response } from 'undici';
import { z } from 'zod';

/** The server did not answer as needed; the message gives the reason. */
export class ServerError extends Error {
  override readonly name = 'ServerError';
}

export interface ServerOptions {
  /** Base URL of an OpenAI-compatible server, with or without `/v1`. */
  readonly target: string;
  readonly apiKey?: string | undefined;
  /** Resolves its host name. Absent: the system's resolver. */
  readonly lookup?: LookupFunction | undefined;
}

/** One measured answer; times in milliseconds since the request was sent. */
export interface Answer {
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly firstTokenMs: number;
  readonly endMs: number;
}

/** Facts that a server reports of itself. */
export interface ServerFacts {
  readonly model: string;
  readonly maxModelLen: number | undefined;
  /** Capacity of its KV cache in tokens, if its metrics report it. */
  readonly kvTokens: number | undefined;
}

/** Longest time of one answer. */
const ANSWER_MS_MAX = 120_000;

const modelsSchema = z.object({
  data: z.array(z.object({ id: z.string(), max_model_len: z.number().int().positive().nullish() })).min(1),
});
const chunkSchema = z.object({
  choices: z.array(z.unknown()).default([]),
  usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number() }).nullish(),
});

/** An OpenAI-compatible server under measurement. Every method throws a ServerError, or the signal's reason. */
export class Server {
  readonly #base: string;
  readonly #agent: Agent;
  readonly #headers: Readonly<Record<string, string>>;
  /** Fields beyond OpenAI's that fix the length of answers. Dropped when the server does not know them. */
  #extras: object = { ignore_eos: true };

  constructor(
    { target, apiKey, lookup }: ServerOptions,
    private readonly signal: AbortSignal,
  ) {
    this.#agent = new Agent(lookup && { connect: { lookup } });
    this.#base = target.replace(/\/+$/, '').replace(/\/v1$/, '');
    this.#headers = {
      'content-type': 'application/json',
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    };
  }

  /** Closes all connections, busy ones included. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async facts(model: string | undefined): Promise<ServerFacts> {
    const response = await this.#fetch('/v1/models');
    const body: unknown = await response.json().catch(() => undefined);
    const models = modelsSchema.safeParse(body);
    if (!response.ok || !models.success) throw new ServerError(`GET /v1/models: ${response.status}, and no model`);
    const served = models.data.data;
    const found = model === undefined ? served[0] : served.find(({ id }) => id === model);
    if (found === undefined)
      throw new ServerError(`it does not serve ${model}, but ${served.map(({ id }) => id).join(', ')}`);
    return { model: found.id, maxModelLen: found.max_model_len ?? undefined, kvTokens: await this.#kvTokens() };
  }

  /** Streams an answer of this many tokens, or fewer if the server does not support a fixed length. */
  async complete(model: string, prompt: string, maxTokens: number): Promise<Answer> {
    const ask = { model, prompt, max_tokens: maxTokens, temperature: 0, stream: true };
    const body = { ...ask, stream_options: { include_usage: true }, ...this.#extras };
    const sentAt = performance.now();
    const response = await this.#fetch('/v1/completions', { method: 'POST', body: JSON.stringify(body) });
    if (response.status === 400 && 'ignore_eos' in this.#extras) {
      await response.body?.cancel();
      this.#extras = {};
      return this.complete(model, prompt, maxTokens);
    }
    if (!response.ok || response.body === null) {
      const said = (await response.text()).slice(0, 200);
      throw new ServerError(`POST /v1/completions: ${response.status} ${said}`);
    }
    return this.#read(response.body, sentAt);
  }

  async #read(body: ReadableStream<Uint8Array>, sentAt: number): Promise<Answer> {
    let [firstTokenMs, endMs] = [NaN, NaN];
    let usage: z.infer<typeof chunkSchema>['usage'];
    const parser = createParser({
      onEvent: ({ data }) => {
        if (data === '[DONE]') return;
        const chunk = chunkSchema.parse(JSON.parse(data));
        usage = chunk.usage ?? usage;
        if (chunk.choices.length === 0) return;
        endMs = performance.now() - sentAt;
        if (Number.isNaN(firstTokenMs)) firstTokenMs = endMs;
      },
    });
    const decoder = new TextDecoder();
    try {
      for await (const bytes of body) parser.feed(decoder.decode(bytes, { stream: true }));
    } catch (error) {
      this.signal.throwIfAborted();
      throw new ServerError(`the answer broke off: ${String(error)}`);
    }
    if (usage === undefined || usage === null || Number.isNaN(endMs))
      throw new ServerError('an answer came without tokens or without its usage');
    return { promptTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens, firstTokenMs, endMs };
  }

  /** From vLLM's metrics; undefined without them. */
  async #kvTokens(): Promise<number | undefined> {
    const response = await this.#fetch('/metrics');
    const text = await response.text();
    const info = /^vllm:cache_config_info\{(.*)\}/m.exec(text)?.[1] ?? '';
    const label = (name: string) => Number(new RegExp(`(?:^|,)${name}="(\\d+)"`).exec(info)?.[1]);
    // vLLM's null block holds no tokens.
    const tokens = label('block_size') * (label('num_gpu_blocks') - 1);
    return response.ok && tokens > 0 ? tokens : undefined;
  }

  async #fetch(path: string, init: RequestInit = {}): Promise<Response> {
    try {
      return await fetch(this.#base + path, {
        ...init,
        headers: this.#headers,
        dispatcher: this.#agent,
        // A server must not choose another one to be measured.
        redirect: 'manual',
        signal: AbortSignal.any([this.signal, AbortSignal.timeout(ANSWER_MS_MAX)]),
      });
    } catch (error) {
      this.signal.throwIfAborted();
      const { cause } = error as Error;
      throw new ServerError(`${this.#base}${path}: ${cause instanceof Error ? cause.message : String(error)}`);
    }
  }
}
