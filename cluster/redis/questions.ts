import type { GatewayId } from '../messages.js';
import type { RedisOptions } from './options.js';

const ANSWER_MS_MAX = 1000;
/** Questions of others that are being answered, and those that wait for that; further ones get no answer. */
const ANSWERING_MAX = 32;
const WAITING_MAX = 512;

interface QuestionPorts extends Pick<RedisOptions, 'gateway' | 'answer'> {
  readonly publish: (channel: string, text: string) => void;
  /** The channel that all gateways hear, and the beginning of those that each one hears. */
  readonly asked: string;
  readonly answers: string;
}

export class Questions {
  readonly #open = new Map<number, { answers: Map<GatewayId, string>; awaited: Set<GatewayId>; end: () => void }>();
  #last = 0;
  #answering = 0;
  readonly #waiting: (() => void)[] = [];
  /** Those that did not answer in time last time: the next question does not wait for them. */
  readonly silent = new Set<GatewayId>();

  constructor(private readonly ports: QuestionPorts) {}

  ask(question: string, others: readonly GatewayId[]): Promise<ReadonlyMap<GatewayId, string>> {
    for (const gateway of this.silent) if (!others.includes(gateway)) this.silent.delete(gateway);
    // The time of the question, and unlike those before.
    const id = (this.#last = Math.max(performance.now(), this.#last + 0.001));
    const answers = new Map<GatewayId, string>();
    const awaited = new Set(others.filter((gateway) => !this.silent.has(gateway)));
    if (others.length > 0) this.ports.publish(this.ports.asked, JSON.stringify([this.ports.gateway, id, question]));
    if (awaited.size === 0) return Promise.resolve(answers);
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#open.delete(id);
        for (const gateway of awaited) this.silent.add(gateway);
        resolve(answers);
      };
      const timer = setTimeout(end, ANSWER_MS_MAX);
      this.#open.set(id, { answers, awaited, end });
    });
  }

  /** A message of another form, as other versions may send, is not heard: the store is well all the same. */
  heard(channel: string, text: string): void {
    const message = messageIn(text);
    if (message === undefined) return;
    const [from, id, said] = message;
    if (channel === this.ports.asked) {
      if (from !== this.ports.gateway) void this.#answer(from, id, said);
      return;
    }
    if (performance.now() - id < ANSWER_MS_MAX) this.silent.delete(from);
    const question = this.#open.get(id);
    question?.answers.set(from, said);
    if (question?.awaited.delete(from) === true && question.awaited.size === 0) question.end();
  }

  /** Ends open questions with the answers that they have. */
  close(): void {
    for (const { end } of this.#open.values()) end();
  }

  async #answer(from: GatewayId, id: number, question: string): Promise<void> {
    if (this.#answering === ANSWERING_MAX) {
      if (this.#waiting.length < WAITING_MAX) this.#waiting.push(() => void this.#answer(from, id, question));
      return;
    }
    this.#answering += 1;
    const said = await this.ports.answer(question).catch(() => '');
    this.#answering -= 1;
    this.#waiting.shift()?.();
    this.ports.publish(this.ports.answers + from, JSON.stringify([this.ports.gateway, id, said]));
  }
}

function messageIn(text: string): [GatewayId, number, string] | undefined {
  try {
    const message = JSON.parse(text) as [GatewayId, number, string];
    const [from, id, said] = message;
    return typeof from === 'string' && typeof id === 'number' && typeof said === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
