import { setTimeout as sleep } from 'node:timers/promises';
import { LoadError, runLoad, type LoadCallRecord, type LoadOptions } from '../../loadtest/index.js';
import { inChain, type AgentProgram } from '../../workloads/index.js';
import { BODY_BYTES, MODEL } from './stage.js';

/** Longer than the gateway's queue, its waits for the first bytes of two engines, and the longest answer. */
const CALL_MS_MAX = 600_000;
const TURNS_MAX = 4;
const PROMPT_TOKENS = 100;
const TOKENS_MIN = 40;
const TOKENS_SPREAD = 160;
/** Of an answer that comes whole: nothing is heard of it before. */
const WHOLE_SHARE = 0.2;
/** Longest pause before a program, so that clients of refused calls do not ask again at once. */
const PAUSE_MS = 500;
/** Examples of what was lost that are kept. */
const EXAMPLES = 10;

type Kind = Pick<LoadOptions, 'api' | 'identity' | 'stream'>;

const KINDS: readonly (readonly [share: number, kind: Kind])[] = [
  [0.33, { api: 'chat', identity: 'none', stream: true }],
  [0.33, { api: 'chat', identity: 'maitred', stream: true }],
  [0.13, { api: 'messages', identity: 'maitred', stream: true }],
  [0.12, { api: 'responses', identity: 'maitred', stream: true }],
  [0.04, { api: 'chat', identity: 'none', stream: false }],
];
/** Share of agents that leave in the middle of their calls, all at once. */
const LEAVERS = 0.05;
const LEAVE_MS = 20_000;

const BAD_BODIES: readonly (() => string)[] = [
  () => '{"model": ',
  () => JSON.stringify({ model: MODEL, stream: true }),
  () => JSON.stringify({ model: 'no-such-model', messages: [{ role: 'user', content: 'hello' }] }),
  () => JSON.stringify({ model: MODEL, stream: true, messages: [{ role: 'user', content: 'too long '.repeat(9000) }] }),
  () => JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'x'.repeat(2 * BODY_BYTES) }] }),
];
const BAD_MS = 500;

/** Clients in a closed loop: each has one call under way, of one program after the other. */
export class Agents {
  readonly calls = { whole: 0, told: 0, left: 0, lost: 0 };
  refused = 0;
  programs = 0;
  readonly examples: string[] = [];

  constructor(
    private readonly url: string,
    private readonly random: () => number,
  ) {}

  /** Runs so many agents until `over`: then all leave, in the middle of their calls. */
  async run(count: number, over: AbortSignal): Promise<void> {
    const kinds = KINDS.map(([share, kind]) => this.#play(Math.ceil(share * count), kind, over));
    await Promise.all([...kinds, this.#leave(Math.ceil(LEAVERS * count), over), this.#ask(over)]);
  }

  async #play(concurrency: number, kind: Kind, signal: AbortSignal): Promise<void> {
    const wanted = new Map<string, AgentProgram>();
    const options: LoadOptions = {
      ...kind,
      targets: [this.url],
      programs: () => this.#programs(kind.stream, wanted),
      maxPrograms: Infinity,
      runs: 1,
      durationMs: Infinity,
      arrivals: { type: 'closed', concurrency },
      timeScale: 1,
      gapMsMax: Infinity,
      model: MODEL,
      seed: 0,
      ignoreEos: true,
      recordedAnswers: false,
      connections: concurrency,
      timeoutMs: CALL_MS_MAX,
      ownsTargets: true,
      baseline: 'none',
    };
    const observer = {
      callEnded: (record: LoadCallRecord) =>
        this.#ended(record, wanted.get(record.program)?.calls[record.call]?.outputTokens),
      programEnded: ({ program }: { readonly program: string }) => void wanted.delete(program),
    };
    this.calls.left += (await runLoad(options, observer, signal)).programsUnfinished;
  }

  *#programs(stream: boolean, wanted: Map<string, AgentProgram>): Generator<AgentProgram, never> {
    const { random } = this;
    for (;;) {
      this.programs += 1;
      let promptTokens = PROMPT_TOKENS;
      const calls = Array.from({ length: Math.ceil(random() * TURNS_MAX) }, (_, turn) => {
        const outputTokens = Math.floor((stream ? 1 : WHOLE_SHARE) * (TOKENS_MIN + random() * TOKENS_SPREAD));
        const made = { gapMs: turn === 0 ? random() * PAUSE_MS : 0, promptTokens, outputTokens };
        const before = turn === 0 ? {} : { prefix: { call: turn - 1, tokens: promptTokens - PROMPT_TOKENS } };
        promptTokens += outputTokens + PROMPT_TOKENS;
        return { ...made, ...before };
      });
      const program = { id: `soak-${this.programs}`, calls: inChain(calls) };
      wanted.set(program.id, program);
      yield program;
    }
  }

  #ended(record: LoadCallRecord, tokens: number | undefined): void {
    const { outcome, detail = '', outputTokens } = record;
    const fate = fateOf(record, tokens);
    this.calls[fate] += 1;
    if (fate === 'lost') this.#example(`${outcome} ${detail}, ${tokens} tokens asked for, ${outputTokens} got`);
  }

  async #leave(count: number, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      const signal = AbortSignal.any([over, AbortSignal.timeout(Math.ceil(LEAVE_MS * this.random()))]);
      try {
        await this.#play(count, KINDS[0]![1], signal);
      } catch (error) {
        // A fault may hit its first look at the gateway.
        if (!(error instanceof LoadError) && !signal.aborted) throw error;
      }
      await sleep(PAUSE_MS);
    }
  }

  async #ask(over: AbortSignal): Promise<void> {
    for (; !over.aborted; await sleep(BAD_MS)) {
      const body = BAD_BODIES[Math.floor(this.random() * BAD_BODIES.length)]!();
      const headers = { 'content-type': 'application/json' };
      const { status } = await fetch(`${this.url}/v1/chat/completions`, { method: 'POST', headers, body }).catch(() =>
        Response.error(),
      );
      if (status >= 400 && status < 500) this.refused += 1;
      else {
        this.calls.lost += 1;
        this.#example(`bad request of ${body.length} bytes: status ${status}`);
      }
    }
  }

  #example(text: string): void {
    if (this.examples.length < EXAMPLES) this.examples.push(text);
  }
}

/**
 * The fate of a call, to its client: it has all that it asked for; it was told of an error, by a status with a body
 * or by an event; or neither.
 * @param tokens that were asked for
 */
export function fateOf(
  { outcome, detail = '', outputTokens }: Pick<LoadCallRecord, 'outcome' | 'detail' | 'outputTokens'>,
  tokens = NaN,
): 'whole' | 'told' | 'lost' {
  // None: an engine's fault has left them out.
  if (outcome === 'completed') return outputTokens === tokens || outputTokens === 0 ? 'whole' : 'lost';
  // A faulty engine may cut the body of its own refusal. A 5xx is the gateway's.
  const isTold =
    outcome.startsWith('http_4') ||
    (outcome.startsWith('http_') && !detail.endsWith(': ')) ||
    detail.startsWith('an error event');
  return isTold ? 'told' : 'lost';
}
