import type { Holding } from '../../cluster/index.js';
import { giveSlots } from '../../sim/virtual/memory-store.js';
import { gatewayId } from '../../cluster/messages.js';
import type { ScriptName } from '../../cluster/redis/scripts.js';
import { engineId, type Tokens } from '../../src/index.js';
import type { Reply } from './store.js';

export interface TablePorts {
  /** The store's own time, in whole milliseconds. */
  readonly now: () => number;
  readonly publish: (channel: string, text: string) => void;
}

/** A holding as scripts keep it: gateway, slots, window (-1: none), calls in flight, waiting calls, four kinds of tokens. */
type Row = [string, number, number, number, readonly number[], number, readonly number[], number, ...Tokens[]];
interface Ledger {
  readonly since: number;
  rev: number;
  holdings: Row[];
}
/** Owner, service, calls and place of a program. */
type Entry = readonly [owner: string, service?: string, calls?: number, place?: string];

/** What the gateways share, by the rules of the scripts. Nothing expires but leases: a world ends before. */
export class SharedTables {
  readonly #leases = new Map<string, number>();
  readonly #ledgers = new Map<string, Ledger>();
  readonly #programs = new Map<string, Entry>();
  readonly #names = new Map<string, string>();
  readonly #holds = new Map<string, readonly [gateway: string, value: string, untilMs: number]>();

  constructor(private readonly ports: TablePorts) {}

  run(script: ScriptName, [table = '']: readonly string[], args: readonly string[]): Reply {
    switch (script) {
      case 'maitredHeartbeat':
      case 'maitredClaim':
      case 'maitredLeave':
        return this.#onEngines(script, args);
      case 'maitredTake':
        return this.#take(args[2]!, args[3]!, args[4]!);
      case 'maitredPut':
        return this.#put(args[2]!, args.slice(3));
      case 'maitredForget':
        if (this.#programs.get(args[3]!)?.[0] === args[2]) this.#programs.delete(args[3]!);
        return null;
      case 'maitredRemember':
        for (let i = 2; i < args.length; i += 2) {
          const [key, name] = [`${table} ${args[i]}`, args[i + 1]!];
          this.#names.set(key, (this.#names.get(key) ?? name) === name ? name : '');
        }
        return null;
      case 'maitredHold': {
        const [gateway, value, leaseMs] = args as [string, string, string];
        const [owner, said, until] = this.#holds.get(table) ?? [gateway, value, 0];
        if (owner !== gateway && this.ports.now() < until) return [0, said];
        this.#holds.set(table, [gateway, value, this.ports.now() + Number(leaseMs)]);
        return [Number(leaseMs) > 0 ? 1 : 0, value];
      }
      case 'maitredFind':
        return (
          args
            .slice(2)
            .reduce<string | undefined>((found, key) => found ?? this.#names.get(`${table} ${key}`), undefined) ?? ''
        );
    }
  }

  #onEngines(script: ScriptName, args: readonly string[]): Reply {
    const [gateway, channel, leaseMs, settleMs, live, text] = args as [string, string, string, string, string, string];
    const now = this.ports.now();
    const changed = new Map<string, Ledger>();
    const save = (engine: string, ledger: Ledger, newcomer?: string): void => {
      this.#ledgers.set(engine, ledger);
      if (ledger.holdings.length === 0) this.#ledgers.delete(engine);
      else changed.set(engine, this.#give(ledger, Number(settleMs), Number(live), newcomer));
    };
    const drop = (name: string): void => {
      this.#leases.delete(name);
      for (const [engine, ledger] of [...this.#ledgers]) {
        const rest = ledger.holdings.filter((row) => row[0] !== name);
        if (rest.length < ledger.holdings.length) save(engine, { ...ledger, holdings: rest });
      }
    };
    const tellAllBut = (name: string): string => {
      const told = JSON.stringify([...changed]);
      const holders = new Set([...changed.values()].flatMap(({ holdings }) => holdings.map((row) => row[0])));
      for (const holder of holders) if (holder !== name) this.ports.publish(channel + holder, told);
      return told;
    };
    if (script === 'maitredLeave') {
      drop(gateway);
      tellAllBut(gateway);
      return null;
    }
    const dead = [...this.#leases].filter(([, end]) => end <= now).map(([name]) => name);
    for (const name of dead) drop(name);
    const isNew =
      !this.#leases.has(gateway) || (script === 'maitredHeartbeat' && text === '1' && this.#ledgers.size === 0);
    this.#leases.set(gateway, now + Number(leaseMs));
    if (script === 'maitredHeartbeat') {
      tellAllBut('');
      return [Number(isNew), [...this.#leases.keys()]];
    }
    for (const claim of JSON.parse(text) as (Row | [string])[]) {
      const [engine] = claim;
      const ledger = this.#ledgers.get(engine) ?? { since: now, rev: 0, holdings: [] };
      const place = ledger.holdings.findIndex((row) => row[0] === gateway);
      const known = ledger.holdings[place]?.[1] ?? 0;
      if (claim.length > 1) {
        const [, keeps, window, inFlight, ...more] = claim as Row;
        const slots = Math.max(inFlight, Math.min(keeps, known));
        ledger.holdings[place < 0 ? ledger.holdings.length : place] = [gateway, slots, window, inFlight, ...more];
        save(engine, ledger, place < 0 ? gateway : undefined);
      } else if (place >= 0) save(engine, { ...ledger, holdings: ledger.holdings.toSpliced(place, 1) });
    }
    return [Number(isNew), tellAllBut(dead.length > 0 ? '' : gateway)];
  }

  #give(ledger: Ledger, settleMs: number, expected: number, newcomer: string | undefined): Ledger {
    const rows = new Map(ledger.holdings.map((row) => [row[0], row]));
    const holdings = new Map(ledger.holdings.map((row) => [gatewayId(row[0]), holdingOf(row)]));
    let window = Math.min(...[...holdings.values()].map(({ claim }) => claim.window));
    if (window < Infinity && this.ports.now() - ledger.since < settleMs) {
      const live = Math.max(expected, this.#leases.size);
      const share = Math.floor(window / live);
      window = Math.floor(window * Math.min(1, holdings.size / live));
      const free = [...holdings.values()].reduce((left, { slots }) => left - slots, window);
      const own = newcomer === undefined ? undefined : holdings.get(gatewayId(newcomer));
      if (own) own.slots += Math.max(0, Math.min(share - own.slots, free));
    }
    giveSlots(holdings, window);
    ledger.holdings.length = 0;
    for (const [name, { slots }] of holdings) {
      const row = rows.get(name)!;
      row[1] = slots;
      ledger.holdings.push(row);
    }
    ledger.rev += 1;
    return ledger;
  }

  #take(gateway: string, program: string, channel: string): Reply {
    const [owner, ...record] = this.#programs.get(program) ?? [''];
    const from = owner === gateway ? '' : owner;
    this.#programs.set(program, [gateway, ...record]);
    if (from !== '') this.ports.publish(channel + from, program);
    return [from, record[0] ?? '', record[1] ?? 0, record[2] ?? ''];
  }

  #put(gateway: string, texts: readonly string[]): Reply {
    const foreign: string[] = [];
    for (let i = 0; i < texts.length; i += 4) {
      const [program, service, calls, place] = texts.slice(i, i + 4) as [string, string, string, string];
      const [owner, known, knownCalls = 0, knownPlace = ''] = this.#programs.get(program) ?? [gateway];
      const isOwn = owner === gateway;
      if (!isOwn) foreign.push(program);
      this.#programs.set(program, [
        owner,
        known !== undefined && Number(known) >= Number(service) ? known : service,
        Math.max(Number(calls), knownCalls),
        isOwn || known === undefined ? place : knownPlace,
      ]);
    }
    return foreign;
  }
}

function holdingOf([, slots, window, inFlight, waiting, weight, steps, ended, ...tokens]: Row): Holding {
  const [loadTokens, activeTokens, claimTokens, cachedTokens] = tokens as [Tokens, Tokens, Tokens, Tokens];
  const claim = {
    engine: engineId(''),
    keeps: slots,
    window: window < 0 ? Infinity : window,
    inFlight,
    waiting,
    weight,
    steps,
    ended,
    ...{ loadTokens, activeTokens, claimTokens, cachedTokens },
  };
  return { claim, slots };
}
