import { Directory, elsewhereOf, EngineLedger, gatewayId, Member, Rounds, type EngineClaim, type EnginePart, type GatewayId } from '../../cluster/index.js'; // prettier-ignore
import type { CallArrived, CallId, Event, ProgramId, ProgramRecord } from '../../src/index.js';
import { Dice } from '../../workloads/index.js';
import { Appointment, RANK, type Agenda } from './agenda.js';
import { Gateway, type GatewayPorts } from './gateway.js';
import type { Steps, GatewayOptions } from './options.js';

const PROGRAMS_MAX = 100_000;
/** Time after which a gateway gives up a question, beyond that of an answer. */
const LIMIT_MS = 20;
/** Stream of the losses. */
const LOSSES = 11;

/** Several gateways in front of the same engines, and what they share. */
export interface ClusterOptions {
  readonly gateways: number;
  /** Time of a message to the store, and of one back. */
  readonly delayMs: number;
  /** The gateway of a call: any, or always the same one of its program. */
  readonly routing: 'call' | 'program';
  /** Whether they share anything; otherwise each schedules alone. */
  readonly shares: boolean;
  /** Share of questions to the store without an answer in time; half of them never reach it. Absent: 0. */
  readonly lossShare?: number;
}

/** One gateway and its side of what is shared. */
class Node {
  readonly member: Member;
  /** Programs whose last call ran here. */
  readonly owned = new Set<ProgramId>();
  readonly rounds = new Rounds();
  /** Tells the store of its last steps. */
  readonly round: Appointment;

  constructor(
    readonly id: GatewayId,
    readonly gateway: Gateway,
    exchange: (node: Node) => void,
  ) {
    this.member = new Member(() => viewsOf(gateway).demands());
    this.round = new Appointment(RANK.report, () => exchange(this));
  }
}

/** Gateways that share a store with a delay. It passes for one gateway: each call's events go to the call's own. */
export class Cluster {
  readonly #nodes: readonly Node[];
  readonly #nodeOf = new Map<CallId, Node>();
  readonly #programOf = new Map<CallId, ProgramId>();
  /** Calls on their way from the store to the scheduler. */
  readonly #underWay = new Set<CallId>();
  readonly #ledgers = new Map<string, EngineLedger>();
  readonly #directory = new Directory(PROGRAMS_MAX);
  readonly #dice: Dice;
  readonly #losses: Dice;

  constructor(
    private readonly options: Pick<GatewayOptions, 'scheduler' | 'lens' | 'seed'> & {
      readonly cluster: ClusterOptions;
    },
    private readonly agenda: Agenda,
    ports: GatewayPorts,
  ) {
    this.#dice = new Dice(options.seed);
    this.#losses = Dice.of(options.seed, LOSSES);
    this.#nodes = Array.from({ length: options.cluster.gateways }, (_, index) => {
      const gateway = new Gateway(options, agenda, ports, (event) => this.#stepped(node, event));
      const node: Node = new Node(gatewayId(`g${index}`), gateway, (each) => this.#exchange(each));
      return node;
    });
  }

  get scheduler(): Steps {
    return (this.#nodes[0] as Node).gateway.scheduler;
  }

  get promotions(): number {
    return this.#nodes.reduce((sum, { gateway }) => sum + gateway.promotions, 0);
  }

  restart(): void {
    for (const { gateway } of this.#nodes) gateway.restart();
  }

  tell(event: Event): void {
    if (event.type === 'callArrived') return this.#arrive(event);
    if (!('call' in event)) {
      for (const { gateway, member } of this.#nodes) {
        const isJoin = event.type === 'engineJoined' && this.options.cluster.shares;
        if (isJoin) member.joined(event.engine);
        gateway.tell(isJoin ? { ...event, shared: true } : event);
      }
      return;
    }
    if (this.#underWay.has(event.call)) {
      this.#underWay.delete(event.call);
      return;
    }
    this.#nodeOf.get(event.call)?.gateway.tell(event);
  }

  #arrive(event: CallArrived): void {
    const { gateways, routing, shares } = this.options.cluster;
    const roll = routing === 'call' ? this.#dice.share() : Dice.of(7, Number(event.program.slice(1))).share();
    const node = this.#nodes[Math.floor(roll * gateways)] as Node;
    this.#nodeOf.set(event.call, node);
    this.#programOf.set(event.call, event.program);
    if (!shares || node.owned.has(event.program)) return node.gateway.tell(event);
    this.#underWay.add(event.call);
    const go = (record: ProgramRecord | undefined): void => {
      const elsewhere = record && elsewhereOf(record, event.thread);
      if (this.#underWay.delete(event.call)) node.gateway.tell({ ...event, ...(elsewhere && { elsewhere }) });
    };
    this.#ask(
      () => this.#take(event.program, node),
      (record) => {
        node.owned.add(event.program);
        go(record);
      },
      () => go(undefined),
    );
  }

  #take(program: ProgramId, node: Node): ProgramRecord | undefined {
    const { record, from } = this.#directory.take(program, node.id);
    const former = this.#nodes.find(({ id }) => id === from);
    if (former !== undefined)
      this.#after(this.options.cluster.delayMs, () => {
        former.owned.delete(program);
        former.gateway.tell({ type: 'programMoved', program });
      });
    return record;
  }

  #stepped(node: Node, event: Event): void {
    if (!this.options.cluster.shares) return;
    if (event.type === 'callFinished') {
      const program = this.#programOf.get(event.call) as ProgramId;
      this.#programOf.delete(event.call);
      const record = viewsOf(node.gateway).record(program);
      if (record !== undefined) this.#after(this.options.cluster.delayMs, () => this.#directory.put(program, node.id, record)); // prettier-ignore
    }
    this.#plan(node);
  }

  #plan(node: Node): void {
    const isUrgent = node.member.isWanted || viewsOf(node.gateway).waiting > 0;
    const atMs = node.rounds.plan(isUrgent, this.#nodes.length, node.member.engines);
    if (atMs !== undefined) this.agenda.set(node.round, Math.max(this.agenda.nowMs, atMs));
  }

  /** What has changed goes to the store. What it does not answer is claimed anew; a release is always heard. */
  #exchange(node: Node): void {
    node.rounds.begin(this.agenda.nowMs);
    const { claims, released, returned } = node.member.changes();
    for (const event of returned) node.gateway.tell(event);
    for (const engine of released)
      this.#after(this.options.cluster.delayMs, () => this.#ledgers.get(engine)?.leave(node.id));
    if (claims.length === 0) return;
    this.#ask(
      () => this.#claim(node, claims),
      (parts) => {
        node.member.settled(new Set(parts.map(({ engine }) => engine)));
        this.#hear(node, parts);
        this.#plan(node);
      },
      () => {
        node.member.settled(new Set());
        this.#plan(node);
      },
    );
  }

  /** Returns the gateway's parts, and tells the others of theirs. */
  #claim(node: Node, claims: readonly EngineClaim[]): readonly EnginePart[] {
    const news = new Map<GatewayId, EnginePart[]>(this.#nodes.map(({ id }) => [id, []]));
    for (const claim of claims) {
      let ledger = this.#ledgers.get(claim.engine);
      if (ledger === undefined) this.#ledgers.set(claim.engine, (ledger = new EngineLedger(claim.engine)));
      ledger.claim(node.id, claim);
      for (const [id, part] of ledger.parts()) news.get(id)?.push(part);
    }
    for (const other of this.#nodes)
      if (other !== node) this.#after(this.options.cluster.delayMs, () => this.#hear(other, news.get(other.id) ?? []));
    return news.get(node.id) ?? [];
  }

  #hear({ member, gateway }: Node, parts: readonly EnginePart[]): void {
    for (const event of member.received(parts)) gateway.tell(event);
  }

  /** Asks the store. Its answer may be lost, and so may the question. */
  #ask<T>(reach: () => T, answered: (answer: T) => void, missed: () => void): void {
    const { delayMs, lossShare = 0 } = this.options.cluster;
    const loss = lossShare === 0 ? 1 : this.#losses.share() / lossShare;
    if (loss < 1) this.#after(2 * delayMs + LIMIT_MS, missed);
    if (loss < 0.5) return;
    this.#after(delayMs, () => {
      const answer = reach();
      if (loss >= 1) this.#after(delayMs, () => answered(answer));
    });
  }

  #after(ms: number, happen: () => void): void {
    this.agenda.set(new Appointment(RANK.report, happen), this.agenda.nowMs + ms);
  }
}

function viewsOf({ scheduler }: Gateway): NonNullable<Steps['views']> {
  if (scheduler.views === undefined) throw new RangeError('this policy cannot share engines among gateways');
  return scheduler.views;
}
