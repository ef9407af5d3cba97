import { setTimeout as sleep } from 'node:timers/promises';
import { request, type Dispatcher } from 'undici';
import type { AgentCall, AgentProgram } from '../workloads/index.js';

/** How the programs are played. */
export interface Pace {
  /** Base URL of the gateway, without `/v1`. */
  readonly url: string;
  readonly model: string;
  readonly dispatcher: Dispatcher;
  /** Times as fast as real: waits are divided by it, and what is measured multiplied, so that all results are in real time. */
  readonly speed: number;
  /** What a recorded gap is multiplied by, after it was cut at `gapMsMax`. */
  readonly gapScale: number;
  readonly gapMsMax: number;
  /** Keeps apart, in the engine's prefix cache, what different runs leave there. */
  readonly cacheSalt: string;
  /** Ends the replay early; what is under way then counts as failed. */
  readonly signal: AbortSignal;
  readonly watcher: Watcher;
}

/** Is told how the replay gets on. */
export interface Watcher {
  answered(): void;
  /** A program has ended, finished or not. */
  ended(): void;
}

/** What became of one program. Times are those of the real-time run that this one stands for. */
export interface ProgramOutcome {
  readonly id: string;
  readonly seconds: number;
  readonly calls: number;
  /** The ids that the gateway took its calls for. */
  readonly seenAs: ReadonlySet<string>;
  /** Time that its calls were neither queued nor worked on: gateway, network, and a machine that does not keep up. */
  readonly overheadSeconds: number;
  /** Absent: all its calls were answered. */
  readonly failure?: string;
}

type ChatMessage = Readonly<Record<'role' | 'content', string>>;

interface Answer {
  readonly choices?: readonly { readonly message?: { readonly content?: string | null } }[];
  readonly metrics?: Readonly<Record<'queue_time_ms' | 'time_to_first_token_ms' | 'generation_time_ms', number | null>>;
}

/** Plays all programs at once; each says nothing of who it is but its conversation. Never rejects. */
export function replay(programs: readonly AgentProgram[], pace: Pace): Promise<ProgramOutcome[]> {
  return Promise.all(programs.map((program) => play(program, pace)));
}

async function play(program: AgentProgram, pace: Pace): Promise<ProgramOutcome> {
  const { speed, gapScale, gapMsMax, signal, watcher } = pace;
  const conversation: ChatMessage[] = [];
  const seenAs = new Set<string>();
  let calls = 0;
  let overheadMs = 0;
  let failure: string | undefined;
  const startedAt = performance.now();
  try {
    for (const call of program.calls) {
      if (call.gapMs > 0) await sleep((Math.min(call.gapMs, gapMsMax) * gapScale) / speed, undefined, { signal });
      conversation.push(...(call.messages ?? []));
      const answer = await ask(conversation, call, pace);
      calls += 1;
      watcher.answered();
      seenAs.add(answer.program);
      overheadMs += answer.overheadMs;
      conversation.push({ role: 'assistant', content: answer.content });
    }
  } catch (error) {
    failure = `call ${calls + 1} of ${program.calls.length}: ${error instanceof Error ? error.message : String(error)}`;
  }
  watcher.ended();
  const toSeconds = (ms: number) => (ms * speed) / 1000;
  return {
    id: program.id,
    seconds: toSeconds(performance.now() - startedAt),
    calls,
    seenAs,
    overheadSeconds: toSeconds(overheadMs),
    ...(failure !== undefined && { failure }),
  };
}

interface Answered {
  readonly content: string;
  readonly program: string;
  readonly overheadMs: number;
}

/** One call as mini-swe-agent makes it: the whole conversation, not streamed, no header that tells whose it is. */
async function ask(messages: readonly ChatMessage[], call: AgentCall, pace: Pace): Promise<Answered> {
  const { url, model, dispatcher, cacheSalt, signal } = pace;
  const { answer: content } = call;
  // An engine says something, even where a recording says that it did not.
  const outputTokens = Math.max(1, call.outputTokens);
  // A stand-in is told what to say, and keeps from the gateway how long that is. A real engine says what it likes, for so long.
  const wanted =
    content === undefined
      ? { max_tokens: outputTokens, ignore_eos: true, temperature: 0 }
      : { sim: { content, output_tokens: outputTokens } };
  const startedAt = performance.now();
  const response = await request(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, cache_salt: cacheSalt, include_metrics: true, ...wanted }),
    dispatcher,
    signal,
  });
  const text = await response.body.text();
  const tookMs = performance.now() - startedAt;
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}: ${text.slice(0, 300)}`);
  const answer = JSON.parse(text) as Answer;
  const said = answer.choices?.[0]?.message?.content;
  if (typeof said !== 'string' || (content !== undefined && said !== content)) throw new Error('not the wanted answer');
  const { queue_time_ms, time_to_first_token_ms, generation_time_ms } = answer.metrics ?? {};
  const engineMs = (queue_time_ms ?? 0) + (time_to_first_token_ms ?? 0) + (generation_time_ms ?? 0);
  const queueMs = Number(response.headers['x-maitred-queue-ms'] ?? 0);
  return {
    content: said,
    program: String(response.headers['x-maitred-program']),
    overheadMs: answer.metrics === undefined ? 0 : Math.max(0, tookMs - queueMs - engineMs),
  };
}
