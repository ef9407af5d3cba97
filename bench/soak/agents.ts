import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { exchange, VERDICTS, type Answer, type Ask, type Verdict } from './exchange.js';
import { BODY_BYTES, MODEL } from './setting.js';

/** Longer than the gateway's queue and its waits for the first bytes of two engines, one after the other. */
const SILENCE_MS_MAX = 200_000;
/** New streams a second at the start. */
const RAMP = 100;
const TOKENS_MIN = 40;
const TOKENS_SPREAD = 160;
/** Of an answer that comes whole: nothing is heard of it before. */
const WHOLE_SHARE = 0.2;
const TURNS_MAX = 4;
const TRIES_MAX = 3;
const PAUSE_MS = 500;
/** Examples of what was lost that are kept. */
const EXAMPLES = 10;

/** Shares of all tries. */
const LEAVES = 0.05;
const LEAVES_EARLY = 0.02;
const READS_SLOWLY = 0.01;
const WHOLE = 0.04;
const BAD = 0.01;

interface Message {
  readonly role: string;
  readonly content: string;
}

/** The three APIs as an agent writes them. */
const WRITE: Readonly<Record<string, (messages: readonly Message[], tokens: number) => object>> = {
  '/v1/chat/completions': (messages, tokens) => ({ messages, max_tokens: tokens, stream_options: { include_usage: true } }), // prettier-ignore
  '/v1/messages': (messages, tokens) => ({ messages, max_tokens: tokens }),
  '/v1/responses': (messages, tokens) => ({ input: messages, max_output_tokens: tokens }),
};

/** Requests that a gateway must refuse, each with a 4xx. */
const BAD_BODIES: readonly (() => string)[] = [
  () => '{"model": ',
  () => JSON.stringify({ model: MODEL, stream: true }),
  () => JSON.stringify({ model: 'no-such-model', messages: [{ role: 'user', content: 'hello' }] }),
  () => JSON.stringify({ model: MODEL, stream: true, messages: [{ role: 'user', content: 'too long '.repeat(9000) }] }),
  () => JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'x'.repeat(2 * BODY_BYTES) }] }),
];

/** Clients in a closed loop: each has one call under way, of one program after the other. */
export class Agents {
  readonly calls: Record<Verdict, number> = { whole: 0, told: 0, broken: 0, silent: 0, hung: 0, left: 0 };
  /** Said to be complete, with fewer or more tokens than were asked for. */
  wrongLength = 0;
  /** Bad requests that were refused as they should be, and that were not. */
  refused = 0;
  unrefused = 0;
  retries = 0;
  programs = 0;
  /** Turns of a program that were taken for another's, of those that say nothing but their history. */
  split = 0;
  streaming = 0;
  readonly examples: string[] = [];
  readonly #pool: Pool;
  #stopping = false;

  constructor(
    url: string,
    private readonly random: () => number,
  ) {
    this.#pool = new Pool(url, { headersTimeout: 0, bodyTimeout: 0 });
  }

  /** Runs so many agents until `signal`, and then until their calls have ended. */
  async run(count: number, signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => (this.#stopping = true));
    const lives: Promise<void>[] = [];
    for (let index = 0; index < count && !this.#stopping; index += 1) {
      lives.push(this.#live());
      if (index % 10 === 9) await sleep((1000 / RAMP) * 10);
    }
    await Promise.all(lives);
    await this.#pool.destroy();
  }

  /** Calls whose clients were left without an answer and without an error. */
  get lost(): number {
    const { broken, silent, hung } = this.calls;
    return broken + silent + hung + this.wrongLength + this.unrefused;
  }

  async #live(): Promise<void> {
    while (!this.#stopping) await this.#program((this.programs += 1));
  }

  async #program(number: number): Promise<void> {
    const { random } = this;
    const path = random() < 0.7 ? '/v1/chat/completions' : random() < 0.5 ? '/v1/messages' : '/v1/responses';
    const named = path !== '/v1/chat/completions' || random() < 0.5;
    const headers: Record<string, string> = named ? { 'x-maitred-program': `soak-${number}` } : {};
    const messages: Message[] = [{ role: 'user', content: `Task ${number}: ${Math.floor(random() * 1e9)}. ${TASK}` }];
    let program: unknown;
    for (let turn = Math.ceil(random() * TURNS_MAX); turn > 0 && !this.#stopping; turn -= 1) {
      if (random() < BAD) await this.#bad();
      const answer = await this.#turn(path, headers, messages);
      if (answer?.verdict !== 'whole') return;
      const taken = answer.headers['x-maitred-program'];
      if (program !== undefined && taken !== program) this.split += 1;
      program = taken;
      messages.push({ role: 'assistant', content: answer.text }, { role: 'user', content: `Go on, ${turn}.` });
    }
  }

  /** A call, and again when it was refused or its client had gone. Undefined: it was given up. */
  async #turn(path: string, headers: Ask['headers'], messages: readonly Message[]): Promise<Answer | undefined> {
    const stream = this.random() >= WHOLE;
    const most = TOKENS_MIN + this.random() * TOKENS_SPREAD;
    const tokens = Math.floor(stream ? most : WHOLE_SHARE * most);
    const asked = WRITE[path]?.(messages, tokens);
    const body = JSON.stringify({ model: MODEL, stream, ignore_eos: true, ...asked, ...(!stream && { stream_options: undefined }) }); // prettier-ignore
    for (let tries = 0; tries < TRIES_MAX && !this.#stopping; tries += 1) {
      if (tries > 0) this.retries += 1;
      const retry = tries === 0 ? {} : { 'x-stainless-retry-count': `${tries}` };
      const answer = await this.#call({ path, headers: { ...headers, ...retry }, body }, tokens);
      if (answer.verdict === 'whole' && (answer.outputTokens ?? tokens) !== tokens) this.#wrong(answer, tokens);
      if (answer.verdict !== 'told' && answer.verdict !== 'left') return answer;
      await sleep(PAUSE_MS * this.random());
    }
    return undefined;
  }

  async #call(ask: Ask, tokens: number): Promise<Answer> {
    const { random } = this;
    const leaving = new AbortController();
    const chance = random();
    const at = 1 + Math.floor((random() * tokens) / 2);
    const early = chance < LEAVES_EARLY ? setTimeout(() => leaving.abort(), random() * 50) : undefined;
    const leaves = chance >= LEAVES_EARLY && chance < LEAVES_EARLY + LEAVES;
    const slow = chance > 1 - READS_SLOWLY;
    this.streaming += 1;
    const answer = await exchange(this.#pool, ask, {
      silenceMsMax: SILENCE_MS_MAX,
      leave: leaving.signal,
      seen: (events) => {
        if (leaves && events === at) leaving.abort();
        return slow && events % 10 === 0;
      },
    });
    clearTimeout(early);
    this.streaming -= 1;
    this.calls[answer.verdict] += 1;
    if (LOST.has(answer.verdict))
      this.#example(answer, ask.path + (ask.body.includes('"stream":true') ? ', streaming' : ', whole'));
    return answer;
  }

  async #bad(): Promise<void> {
    const body = BAD_BODIES[Math.floor(this.random() * BAD_BODIES.length)]!();
    const answer = await exchange(this.#pool, { path: '/v1/chat/completions', body }, { silenceMsMax: SILENCE_MS_MAX });
    if (answer.verdict === 'told' && answer.status < 500) this.refused += 1;
    else {
      this.unrefused += 1;
      this.#example(answer, `bad request of ${body.length} bytes`);
    }
  }

  #wrong(answer: Answer, tokens: number): void {
    this.wrongLength += 1;
    this.#example(answer, `${tokens} tokens asked for, ${answer.outputTokens} got`);
  }

  #example({ verdict, status, events, error, headers }: Answer, why = ''): void {
    const call = String(headers['x-maitred-call'] ?? 'no call id');
    if (this.examples.length < EXAMPLES)
      this.examples.push(`${verdict} (${call}), status ${status}, ${events} events, ${error} ${why}`);
  }
}

const LOST: ReadonlySet<Verdict> = new Set(
  VERDICTS.filter((verdict) => ['broken', 'silent', 'hung'].includes(verdict)),
);
const TASK = 'The test of the parser fails since this morning: find out why, mend it, and say what it was. '.repeat(3);
