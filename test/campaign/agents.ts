import { Dice } from '../../workloads/dice.js';
import { PATHS, PLAIN, PLAIN_ANSWER, responseIdOf, type ApiName } from './answers.js';
import { Connection, type Ask, type ClientPorts, type Heard, type Leaving } from './clients.js';
import type { Door } from './platform.js';
import { keyOf } from './scenario.js';

/** `worker`s do nothing wrong: they are the bystanders of all others. */
const MANNERS = ['worker', 'worker', 'impatient', 'impatient', 'slow', 'hostile', 'keeper'] as const;
export type Manner = (typeof MANNERS)[number];

/** Share of calls that their clients do not wait for. */
const LEAVING: Readonly<Record<Manner, number>> = { worker: 0, impatient: 0.6, slow: 0, hostile: 0.2, keeper: 0.2 };

const APIS: readonly ApiName[] = ['chat', 'chat', 'completions', 'messages', 'responses', 'embeddings'];
const TRIES_MAX = 3;

export interface AgentPorts extends Omit<ClientPorts, 'ended' | 'door'> {
  /** Of all gateways. */
  readonly doors: readonly Door[];
  readonly asked: (heard: Heard) => void;
  readonly ended: (heard: Heard) => void;
  /** Ids of responses that exist, of all tenants. */
  readonly responses: readonly string[];
  readonly agentDone: () => void;
}

/** One client program: some calls, one after the other or several at once, each tried again as its manners say. */
export class Agent {
  readonly manner: Manner;
  readonly tenant: string;
  readonly #dice: Dice;
  readonly #name: string;
  #left: number;
  #calls = 0;
  #open = 0;
  #connection: Connection | undefined;
  readonly #turns: { readonly role: string; readonly content: string }[] = [];
  readonly #named: boolean;
  readonly #plain: boolean;
  /** Ids of the responses that its own calls make, where they succeed. */
  readonly #own: string[] = [];
  readonly #tries = new Map<string, Try>();

  constructor(
    seed: number,
    readonly index: number,
    private readonly keys: boolean,
    private readonly ports: AgentPorts,
  ) {
    const dice = (this.#dice = Dice.of(seed, 200 + index));
    this.manner = MANNERS[dice.int(0, MANNERS.length - 1)] ?? 'worker';
    this.tenant = keys ? (['a', 'b'][dice.int(0, 1)] ?? 'a') : 'default';
    // Names are few, so that programs of one name meet, of one tenant and of several.
    this.#name = `p${dice.int(0, 3)}`;
    this.#named = dice.share() < 0.6;
    this.#plain = !this.#named && this.manner !== 'keeper' && dice.share() < 0.5;
    this.#left = dice.int(2, 4);
    ports.clock.after(dice.int(0, 3000), () => this.#next());
  }

  #next(): void {
    if (this.#left === 0) {
      if (this.#open === 0) this.ports.agentDone();
      return;
    }
    this.#left -= 1;
    const atOnce = this.#dice.share() < 0.2 ? 3 : 1;
    for (let i = 0; i < atOnce; i++) this.#call();
  }

  #call(): void {
    this.#open += 1;
    this.#try({ name: `${this.tenant}.${this.index}.${this.#calls++}`, attempt: 0, drawn: this.#draw() });
  }

  #try(tried: Try): void {
    const { name, attempt, drawn } = tried;
    const dice = this.#dice;
    const says = attempt > 0 && dice.share() < 0.7;
    const ask: Ask = {
      ...drawn,
      rid: `${name}.${attempt}`,
      manner: this.manner,
      headers: { ...drawn.headers, ...(says && { 'x-stainless-retry-count': String(attempt) }) },
      // Who has left once stays the next time, or not.
      leaving: attempt > 0 && dice.share() < 0.5 ? undefined : drawn.leaving,
    };
    const last = this.#connection;
    const reuses = last !== undefined && (last.idle || (last.pipelines && dice.share() < 0.1));
    const connection = reuses
      ? last
      : new Connection({ ...this.ports, door: this.#drawDoor(), ended: (heard) => this.#ended(heard) }, dice.int(0, 3));
    this.#connection = connection;
    this.#tries.set(ask.rid, tried);
    this.ports.say(`client asks ${ask.rid} (${this.manner} of ${this.tenant}): ${ask.method} ${ask.path}`);
    this.ports.asked(connection.ask(ask));
  }

  #ended(heard: Heard): void {
    this.ports.ended(heard);
    const tried = this.#tries.get(heard.ask.rid);
    if (tried === undefined) return;
    const status = heard.head?.status ?? 0;
    const failed = heard.end !== 'whole' || status === 408 || status === 429 || status >= 500;
    if (failed && tried.drawn.again && tried.attempt + 1 < TRIES_MAX) {
      this.ports.clock.after(this.#dice.int(10, 900), () => this.#try({ ...tried, attempt: tried.attempt + 1 }));
      return;
    }
    this.#turns.push({ role: 'assistant', content: PLAIN_ANSWER });
    this.#open -= 1;
    if (this.#open === 0) this.ports.clock.after(this.#dice.int(0, 400), () => this.#next());
  }

  /** Any gateway, for each connection. */
  #drawDoor(): Door {
    const { doors } = this.ports;
    return doors[doors.length === 1 ? 0 : this.#dice.int(0, doors.length - 1)] as Door;
  }

  #draw(): Drawn {
    const dice = this.#dice;
    const junk = this.manner === 'hostile' && dice.share() < 0.7 ? this.#drawJunk() : undefined;
    const kept = this.manner === 'keeper' && dice.share() < 0.6 ? this.#drawKept() : undefined;
    const slow = this.manner === 'slow';
    return {
      ...(junk ?? kept ?? this.#drawCall()),
      leaving: dice.share() < LEAVING[this.manner] ? drawLeaving(dice) : undefined,
      sendGapMs: slow && dice.share() < 0.4 ? dice.int(1, 900) : 0,
      holdMs: slow && dice.share() < 0.6 ? dice.int(1, 6) * 700 : 0,
    };
  }

  #headers(): Record<string, string> {
    return {
      ...(this.keys && { authorization: `Bearer ${keyOf(this.tenant)}` }),
      ...(this.#named && { 'x-maitred-program': this.#name }),
    };
  }

  #drawCall(): DrawnAsk {
    const dice = this.#dice;
    if (this.#plain) return this.#drawPlain();
    const api = this.manner === 'keeper' ? 'responses' : (APIS[dice.int(0, APIS.length - 1)] ?? 'chat');
    const stream = api !== 'embeddings' && dice.share() < 0.5;
    this.#turns.push({ role: 'user', content: `go on ${this.index}` });
    const last = this.#turns.at(-1)?.content;
    const previous = stream || this.manner !== 'keeper' ? undefined : this.#drawPrevious();
    const body = {
      model: 'm',
      ...(api === 'embeddings' ? {} : { stream }),
      ...(this.manner === 'slow' && dice.share() < 0.5 && { user: 'large' }),
      ...(api === 'chat' && { messages: this.#turns }),
      ...(api === 'messages' && { messages: this.#turns, max_tokens: 50 }),
      ...(api === 'completions' && { prompt: last }),
      ...((api === 'responses' || api === 'embeddings') && { input: last }),
      ...(previous !== undefined && { previous_response_id: previous }),
    };
    if (api === 'responses') this.#own.push(responseIdOf(`${this.tenant}.${this.index}.${this.#calls - 1}.0`));
    return asks('POST', PATHS[api], this.#headers(), JSON.stringify(body), { stream, again: dice.share() < 0.7 });
  }

  /** The response to go on from: its own last one, or one that may be a stranger's. */
  #drawPrevious(): string | undefined {
    const { responses } = this.ports;
    return this.#dice.share() < 0.7 ? this.#own.at(-1) : responses[this.#dice.int(0, responses.length)];
  }

  /** A conversation that many have word by word: only its history says whose it is. */
  #drawPlain(): DrawnAsk {
    this.#turns.push({ role: 'user', content: 'go on' });
    const body = { model: 'm', user: PLAIN, messages: this.#turns };
    return asks('POST', PATHS.chat, this.#headers(), JSON.stringify(body), { again: true });
  }

  /** Something about responses, of its own and of strangers, and about programs. */
  #drawKept(): DrawnAsk {
    const dice = this.#dice;
    const { responses } = this.ports;
    const id = responses[dice.int(0, responses.length)] ?? 'resp_none';
    switch (dice.int(0, 4)) {
      case 0:
        return asks('DELETE', `/v1/responses/${id}`, this.#headers(), '');
      case 1:
        return asks('POST', `/v1/responses/${id}/cancel`, this.#headers(), '');
      case 2:
        return asks('POST', `/programs/p${dice.int(0, 3)}/end`, this.#headers(), '');
      default:
        return asks('GET', `/v1/responses/${id}`, this.#headers(), '');
    }
  }

  #drawJunk(): DrawnAsk {
    const [method, path, body, { lies = false, ...wrong } = {}] = JUNK[this.#dice.int(0, JUNK.length - 1)]!;
    return asks(method, path, { ...this.#headers(), ...wrong }, body, { lies });
  }
}

const WORD = '{"model":"m","messages":[{"role":"user","content":"x"}]}';
/** Requests that the gateway refuses, or that are no calls; with a header of their own, or less than they announce. */
const JUNK: readonly (readonly [string, string, string, { authorization?: string; lies?: true }?])[] = [
  ['POST', PATHS.chat, '{"model":'],
  ['POST', PATHS.chat, '{"model":"nobody","messages":[]}'],
  ['POST', PATHS.chat, `{"model":"m","messages":"${'x'.repeat(30_000)}"}`],
  ['POST', PATHS.chat, '{"model":"m","messages":[{}]}', { lies: true }],
  ['POST', PATHS.chat, '{"model":"m","messages":[]}', { authorization: 'Bearer wrong' }],
  ['GET', '/v1/../programs', ''],
  ['GET', '/programs', '', { authorization: 'Bearer wrong-token' }],
  ['POST', '/tokenize', '{"model":"m","prompt":"x"}'],
  ['POST', `${PATHS.chat}/`, WORD],
  ['GET', '/v1/models', ''],
  ['POST', '/v1/messages/count_tokens', WORD],
];

type DrawnAsk = Pick<Ask, 'method' | 'path' | 'headers' | 'body' | 'stream' | 'lies'> & { readonly again: boolean };
/** A call, tried for the so-manyth time. */
interface Try {
  readonly name: string;
  readonly attempt: number;
  readonly drawn: Drawn;
}

type Drawn = DrawnAsk & Pick<Ask, 'leaving' | 'sendGapMs' | 'holdMs'>;

function asks(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  { stream = false, again = false, lies = false } = {},
): DrawnAsk {
  return { method, path, headers, body, stream, again, lies };
}

function drawLeaving(dice: Dice): Leaving {
  const from = (['begun', 'sent', 'sent', 'heard'] as const)[dice.int(0, 3)] ?? 'sent';
  const how = (['reset', 'close', 'close', 'finish'] as const)[dice.int(0, 3)] ?? 'close';
  return { from, how, afterMs: dice.share() < 0.3 ? dice.int(0, 5) : dice.int(0, 900) };
}
