import { Dice } from '../../workloads/dice.js';
import { PLAIN, apiOf, otherAnswer, previousIn, sourceOf } from './answers.js';
import type { Clock } from './clock.js';
import { drawFault, planOf, withLength, type Step } from './faults.js';
import { MessageReader, type Head } from './http1.js';
import type { Host } from './platform.js';
import { WIRE_BYTES } from './socket.js';
import type { Wire } from './wire.js';

/** A request as an engine has it. */
export interface Served {
  readonly engine: SimEngine;
  readonly wire: Wire;
  /** The client's `x-request-id`; '' for what the gateway asks for itself. */
  readonly rid: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
  /** The engine has neither answered in full nor lost the connection. */
  running: boolean;
  sentBytes: number;
}

export interface EnginePorts {
  readonly clock: Clock;
  readonly say: (text: string) => void;
  /** An engine has a whole request. */
  readonly began: (served: Served) => void;
}

/** Share of calls that go wrong, and whether probes do: what an engine is like for a while. */
export interface Mood {
  readonly faults: number;
  readonly probes: 'well' | 'failing' | 'silent';
}

export const WELL: Mood = { faults: 0, probes: 'well' };

/** An engine that lists one model, answers as its mood is, and may restart or vanish. */
export class SimEngine implements Host {
  door: Host['door'] = 'open';
  mood = WELL;
  readonly #dice: Dice;
  #answers = 0;
  readonly #open = new Set<Served>();
  readonly #wires = new Set<Wire>();
  /** Calls off what each would do next. */
  readonly #stop = new Map<Served, () => void>();

  constructor(
    readonly id: string,
    readonly model: string,
    readonly delayMs: number,
    seed: number,
    index: number,
    private readonly ports: EnginePorts,
  ) {
    this.#dice = Dice.of(seed, 100 + index);
  }

  get url(): string {
    return `http://${this.id}:80`;
  }

  /** Requests that it works on. */
  get running(): readonly Served[] {
    return [...this.#open];
  }

  accept(wire: Wire): void {
    this.#wires.add(wire);
    let head: Head | undefined;
    let parts: Buffer[] = [];
    const reader = new MessageReader({
      head: (given) => (head = given),
      body: (bytes) => parts.push(bytes),
      done: () => {
        const body = Buffer.concat(parts).toString();
        parts = [];
        if (head !== undefined) this.#serve(wire, head, body);
      },
    });
    wire.listen({
      data: (bytes) => reader.push(bytes),
      end: () => wire.close(),
      closed: () => {
        this.#wires.delete(wire);
        for (const served of this.#open) if (served.wire === wire) this.#over(served, 'connection lost');
      },
    });
  }

  /** Breaks every connection; until it is back, new ones are refused, or nothing is heard of them. */
  leave(door: 'refused' | 'silent'): void {
    this.door = door;
    if (door === 'refused') for (const wire of this.#wires) wire.reset();
  }

  return(): void {
    this.door = 'open';
  }

  #serve(wire: Wire, head: Head, body: string): void {
    const [method = '', target = ''] = head.line.split(' ');
    const rid = head.headers.get('x-request-id') ?? '';
    const served: Served = { engine: this, wire, rid, method, path: target, body, running: true, sentBytes: 0 };
    this.#open.add(served);
    if (rid !== '') {
      this.ports.say(`${this.id} takes ${rid} ${method} ${target}`);
      this.ports.began(served);
    }
    this.#play(served, rid === '' ? this.#probed(target) : this.#called(served), 0);
  }

  #called({ rid, path, body }: Served): Step[] {
    const api = apiOf(path);
    if (api === undefined)
      return [{ ms: this.#dice.int(1, 400), bytes: withLength(200, 'application/json', otherAnswer(rid, path)) }];
    const fault = drawFault(this.#dice, this.mood.faults);
    if (fault !== undefined) this.ports.say(`${this.id} will treat ${rid} with ${fault}`);
    const stream = /"stream":\s*true/.test(body);
    const source = sourceOf(this.id, this.#answers++);
    const [large, plain] = [body.includes('"large"'), body.includes(`"${PLAIN}"`)];
    return planOf(fault, { rid, source, api, stream, large, plain, previous: previousIn(body) }, this.#dice);
  }

  #probed(path: string): Step[] {
    const { probes } = this.mood;
    if (probes === 'silent') return [{ ms: 600_000 }];
    if (probes === 'failing') return [{ ms: 1, bytes: withLength(500, 'text/plain', 'sick') }];
    const models = JSON.stringify({ object: 'list', data: [{ id: this.model, object: 'model' }] });
    if (path === '/v1/models') return [{ ms: 1, bytes: withLength(200, 'application/json', models) }];
    if (path === '/health' || path === '/abort_request') return [{ ms: 1, bytes: withLength(200, 'text/plain', 'ok') }];
    if (path === '/metrics') {
      const text = `vllm:num_requests_waiting 0\nvllm:cache_config_info{block_size="16",num_gpu_blocks="400"} 1\n`;
      return [{ ms: 1, bytes: withLength(200, 'text/plain', text) }];
    }
    return [{ ms: 1, bytes: withLength(404, 'text/plain', 'no') }];
  }

  /** One step after the other; holds on while the gateway reads nothing, and for as long as it hears nothing itself. */
  #play(served: Served, plan: readonly Step[], at: number): void {
    const step = plan[at];
    if (step === undefined) return this.#over(served, 'answered');
    this.#stop.set(
      served,
      this.ports.clock.after(step.ms, () => {
        if (served.wire.unread > WIRE_BYTES || this.door === 'silent') {
          this.#play(served, [{ ...step, ms: 100 }, ...plan.slice(at + 1)], 0);
          return;
        }
        if (step.bytes !== undefined) served.wire.send(step.bytes);
        served.sentBytes += step.bytes?.length ?? 0;
        if (step.act !== undefined) served.wire[step.act]();
        if (served.running) this.#play(served, plan, at + 1);
      }),
    );
  }

  #over(served: Served, how: string): void {
    if (!served.running) return;
    served.running = false;
    this.#stop.get(served)?.();
    this.#stop.delete(served);
    this.#open.delete(served);
    if (served.rid !== '') this.ports.say(`${this.id} is done with ${served.rid}: ${how}`);
  }
}
