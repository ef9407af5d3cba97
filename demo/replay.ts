import { setTimeout as sleep } from 'node:timers/promises';
import { request, type Dispatcher } from 'undici';
import type { AgentCall, AgentProgram } from '../workloads/index.js';

/** Pace and identity of a replay. */
export interface Pace {
  /** Base URL of the gateway, without `/v1`. */
  readonly url: string;
  readonly model: string;
  readonly dispatcher: Dispatcher;
  /**
   * Speed-up over real time: waits are divided by it, and measured times multiplied, so that all results are in real
   * time.
   */
  readonly speed: number;
  /** Factor for recorded gaps, after the cut at `gapMsMax`. */
  readonly gapScale: number;
  readonly gapMsMax: number;
  /** Separates the runs in the engines' prefix caches. */
  readonly cacheSalt: string;
  /** Ends the replay early; programs under way then count as failed. */
  readonly signal: AbortSignal;
  readonly onAnswer: () => void;
}

/** The outcome of one program. Times are scaled to real time. */
export interface ProgramOutcome {
  readonly id: string;
  readonly seconds: number;
  readonly calls: number;
  /** The program ids that the gateway gave to its calls. */
  readonly seenAs: ReadonlySet<string>;
  /** Time in which its calls were neither queued nor processed: gateway, network, and a slow machine. */
  readonly overheadSeconds: number;
  /** Absent: all its calls were answered. */
  readonly failure?: string;
}

type ChatMessage = Readonly<Record<'role' | 'content', string>>;

interface Answer {
  readonly choices?: readonly { readonly message?: { readonly content?: string | null } }[];
  readonly metrics?: Readonly<Record<'queue_time_ms' | 'time_to_first_token_ms' | 'generation_time_ms', number | null>>;
}

/** Plays all programs at once, identified by nothing but their conversations. Never rejects. */
export function replay(programs: readonly AgentProgram[], pace: Pace): Promise<ProgramOutcome[]> {
  return Promise.all(programs.map((program) => play(program, pace)));
}

async function play(program: AgentProgram, pace: Pace): Promise<ProgramOutcome> {
  const { speed, gapScale, gapMsMax, signal, onAnswer } = pace;
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
      onAnswer();
      seenAs.add(answer.program);
      overheadMs += answer.overheadMs;
      conversation.push({ role: 'assistant', content: answer.content });
    }
  } catch (error) {
    failure = `call ${calls + 1} of ${program.calls.length}: ${error instanceof Error ? error.message : String(error)}`;
  }
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

/** One call as mini-swe-agent makes it: the whole conversation, not streamed, without identifying headers. */
async function ask(messages: readonly ChatMessage[], call: AgentCall, pace: Pace): Promise<Answered> {
  const { url, model, dispatcher, cacheSalt, signal } = pace;
  const { answer: content } = call;
  // An engine generates at least one token, even where a recording has none.
  const outputTokens = Math.max(1, call.outputTokens);
  // A stand-in gets its answer in advance, hidden from the gateway, so that its length stays unknown there. A real
  // engine chooses its own text of that length.
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
