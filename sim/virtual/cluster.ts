import { gatewayId, Participant, type Answer, type Clock, type GatewayId } from '../../cluster/index.js';
import {
  endsCall,
  type CallArrived,
  type CallId,
  type Event,
  type ProgramGone,
  type ProgramId,
} from '../../src/index.js';
import { Dice } from '../../workloads/index.js';
import { Appointment, RANK, type Agenda } from './agenda.js';
import { Gateway, type GatewayPorts } from './gateway.js';
import { MemoryStore, type Way } from './memory-store.js';
import type { ClusterOptions, GatewayOptions, Steps } from './options.js';

const PROGRAMS_MAX = 100_000;
/** Time after which a gateway gives up a question, beyond that of an answer. */
const LIMIT_MS = 20;
const LOSSES = 11;
type Options = Pick<GatewayOptions, 'scheduler' | 'seed'> & { readonly cluster: ClusterOptions };

/** One gateway, and its part in the cluster; undefined: it schedules alone. */
interface Node {
  readonly gateway: Gateway;
  readonly participant: Participant | undefined;
}

interface Held {
  readonly node: Node;
  readonly program: ProgramId;
  /** It waits for the store's answer, and its scheduler does not know it yet. */
  isAsked: boolean;
}

/**
 * Gateways that share a store with a delay, each through the same participant as a real gateway. It passes for one
 * gateway: each call's events go to the call's own.
 */
export class Cluster {
  readonly #nodes: readonly Node[];
  readonly #calls = new Map<CallId, Held>();
  readonly #dice: Dice;
  readonly #way: Way;

  constructor(
    private readonly options: Options,
    private readonly agenda: Agenda,
    private readonly ports: GatewayPorts,
  ) {
    this.#dice = new Dice(options.seed);
    const store = new MemoryStore(PROGRAMS_MAX);
    this.#way = slowWay(options.cluster, Dice.of(options.seed, LOSSES), agenda);
    const { gateways } = options.cluster;
    this.#nodes = Array.from({ length: gateways }, (_, index) => this.#open(store, gatewayId(`g${index}`)));
  }

  get scheduler(): Steps {
    return (this.#nodes[0] as Node).gateway.scheduler;
  }

  get promotions(): number {
    return this.#nodes.reduce((sum, { gateway }) => sum + gateway.promotions, 0);
  }

  restart(): void {
    for (const { gateway } of this.#nodes) gateway.restart();
    this.#calls.clear();
  }

  tell(event: Event): void {
    if (event.type === 'callArrived') return this.#arrive(event);
    if (!('call' in event)) {
      for (const { gateway, participant } of this.#nodes) {
        if (event.type === 'programEnded') participant?.ended(event.program);
        gateway.tell(participant?.announced(event) ?? event);
      }
      return;
    }
    const held = this.#calls.get(event.call);
    if (held === undefined) return;
    const { node, program, isAsked } = held;
    if (!isAsked) node.gateway.tell(event);
    if (!isAsked && !endsCall(event)) return;
    this.#calls.delete(event.call);
    if (!isAsked) node.participant?.ran(program);
  }

  #arrive(event: CallArrived): void {
    const { gateways, routing } = this.options.cluster;
    const { program } = event;
    const roll = routing === 'call' ? this.#dice.share() : Dice.of(7, Number(program.slice(1))).share();
    const node = this.#nodes[Math.floor(roll * gateways)] as Node;
    const asked = node.participant?.take(program, event.thread);
    const held: Held = { node, program, isAsked: asked !== undefined };
    this.#calls.set(event.call, held);
    if (asked === undefined) return node.gateway.tell(event);
    void asked.then((elsewhere) => {
      if (this.#calls.get(event.call) !== held) return;
      held.isAsked = false;
      node.gateway.tell({ ...event, ...(elsewhere && { elsewhere }) });
    });
  }

  #open(store: MemoryStore, id: GatewayId): Node {
    const { options, agenda, ports } = this;
    const dispatch: GatewayPorts['dispatch'] = (command) => {
      ports.dispatch(command);
      const program = this.#calls.get(command.call)?.program;
      if (program !== undefined) participant?.placed(program);
    };
    const reject: GatewayPorts['reject'] = (command) => {
      this.#calls.delete(command.call);
      ports.reject(command);
    };
    const programGone = ({ program }: ProgramGone): void => participant?.gone(program);
    const own = { dispatch, reject, programGone };
    const gateway = new Gateway(options, agenda, own, () => participant?.stepped());
    const participant = options.cluster.shares ? this.#join(gateway, store, id) : undefined;
    return { gateway, participant };
  }

  #join(gateway: Gateway, store: MemoryStore, id: GatewayId): Participant {
    const participant = new Participant({
      clock: clockOf(this.agenda),
      emit: (event) => gateway.tell(event),
      views: () => viewsOf(gateway),
      programsMax: PROGRAMS_MAX,
      changed: () => undefined,
    });
    participant.shared = store.join(id, participant, this.#way);
    return participant;
  }
}

function clockOf(agenda: Agenda): Clock {
  let rings = (): void => undefined;
  const alarm = new Appointment(RANK.report, () => rings());
  return {
    nowMs: () => agenda.nowMs,
    wakeAt: (atMs, ring) => {
      rings = ring;
      agenda.set(alarm, Math.max(agenda.nowMs, atMs));
    },
    stop: () => undefined,
  };
}

function viewsOf({ scheduler }: Gateway): NonNullable<Steps['views']> {
  if (scheduler.views === undefined) throw new RangeError('this policy cannot share engines among gateways');
  return scheduler.views;
}

/** Takes time, and may lose an answer, and with it the question. */
function slowWay({ delayMs, lossShare = 0 }: ClusterOptions, losses: Dice, agenda: Agenda): Way {
  const after = (ms: number, happen: () => void) => agenda.at(RANK.report, agenda.nowMs + ms, happen);
  return {
    carry: (deliver) => after(delayMs, deliver),
    ask<T>(reach: () => T, missed: T): Answer<T> {
      const answer = new Later<T>();
      const loss = lossShare === 0 ? 1 : losses.share() / lossShare;
      if (loss < 1) after(2 * delayMs + LIMIT_MS, () => answer.come(missed));
      if (loss < 0.5) return answer;
      after(delayMs, () => {
        const value = reach();
        if (loss >= 1) after(delayMs, () => answer.come(value));
      });
      return answer;
    },
  };
}

/** An answer that comes in virtual time: always later, so that those who wait for it are there. */
class Later<T> implements Answer<T> {
  readonly #uses: ((value: T) => void)[] = [];

  come(value: T): void {
    for (const use of this.#uses) use(value);
  }

  then<R>(use: (value: T) => R): Answer<R> {
    const next = new Later<R>();
    this.#uses.push((value) => next.come(use(value)));
    return next;
  }
}
