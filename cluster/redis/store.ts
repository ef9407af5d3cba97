import { programId, type EngineId, type ProgramId, type ProgramRecord, type TenantId } from '../../src/index.js';
import { gatewayId, type EngineClaim } from '../messages.js';
import type { Taken } from '../shared-state.js';
import type { Client } from './client.js';
import type { RedisOptions } from './options.js';
import type { ScriptName } from './scripts.js';
import { claimText, countOf, listOf, parseClaimed, parseTaken, recordArguments, textOf } from './wire.js';

export type Remembered = readonly [tenant: TenantId, key: string, name: string];

/** In a key or a channel, a name must neither end the hash tag nor be read as two. */
const NAME = /^[\w.:-]{1,128}$/;

/** The scripts as one gateway calls them, with its pool's names of keys, two for each script, and of channels. */
export class Store {
  readonly #prefix: string;
  readonly channels: Readonly<Record<'parts' | 'moved' | 'answers' | 'asked', string>>;

  /** @throws RangeError for names that keys cannot hold */
  constructor(
    private readonly client: Client,
    private readonly options: Omit<RedisOptions, 'connection'>,
  ) {
    const { pool, gateway } = options;
    for (const name of [pool, gateway])
      if (!NAME.test(name)) throw new RangeError(`not a name of a pool or gateway: ${JSON.stringify(name)}`);
    const prefix = (this.#prefix = `maitred:{${pool}}:`);
    const channel = (name: string): string => `${prefix}${name}:`;
    this.channels = {
      parts: channel('parts'),
      moved: channel('moved'),
      answers: channel('answers'),
      asked: `${prefix}asked`,
    };
  }

  async subscribe(): Promise<void> {
    const { parts, moved, answers, asked } = this.channels;
    await this.client.subscribe(...[parts, moved, answers].map((channel) => channel + this.options.gateway), asked);
  }

  /** @param live gateways, as last heard */
  async heartbeat(live: number, hasClaims: boolean) {
    const [isNew, gateways] = listOf(await this.#onEngines('maitredHeartbeat', live, hasClaims ? '1' : '0'));
    return { isNew: countOf(isNew) > 0, gateways: listOf(gateways).map((each) => gatewayId(textOf(each))) };
  }

  async claim(live: number, claims: readonly EngineClaim[], released: readonly EngineId[]) {
    return parseClaimed(await this.#onEngines('maitredClaim', live, claimText(claims, released)));
  }

  leave(live: number): Promise<unknown> {
    return this.#onEngines('maitredLeave', live, '');
  }

  async take(program: ProgramId): Promise<Taken> {
    return parseTaken(await this.#onPrograms('maitredTake', [program, this.channels.moved]));
  }

  /** @returns the programs that another gateway owns */
  async put(records: readonly (readonly [ProgramId, ProgramRecord])[]): Promise<ProgramId[]> {
    const texts = records.flatMap(([program, record]) => recordArguments(program, record));
    return listOf(await this.#onPrograms('maitredPut', texts)).map((each) => programId(textOf(each)));
  }

  forget(program: ProgramId): Promise<unknown> {
    return this.#onPrograms('maitredForget', [program]);
  }

  remember(tenant: TenantId, keysAndNames: readonly string[]): Promise<unknown> {
    return this.#onKeys('maitredRemember', tenant, keysAndNames);
  }

  async find(tenant: TenantId, keys: readonly string[]): Promise<string | undefined> {
    return textOf(await this.#onKeys('maitredFind', tenant, keys)) || undefined;
  }

  async hold(name: string, value: string, leaseMs: number) {
    const key = `holds:${name}`;
    const texts = [this.options.gateway, value, `${leaseMs}`];
    const [isOwn, said] = listOf(await this.#run('maitredHold', [key, key], texts));
    return { isOwn: countOf(isOwn) > 0, value: textOf(said) };
  }

  #onEngines(script: ScriptName, live: number, text: string): Promise<unknown> {
    const { gateway, leaseMs, settleMs } = this.options;
    const texts = [gateway, this.channels.parts, `${leaseMs}`, `${settleMs}`, `${live}`, text];
    return this.#run(script, ['gateways', 'engines'], texts);
  }

  #onPrograms(script: ScriptName, texts: readonly string[]): Promise<unknown> {
    const { gateway, programsMs, programsMax } = this.options;
    const given = [`${programsMs}`, `${programsMax}`, gateway, ...texts];
    return this.#run(script, ['programs:young', 'programs:old'], given);
  }

  #onKeys(script: ScriptName, tenant: TenantId, texts: readonly string[]): Promise<unknown> {
    const { keysMs, keysMax } = this.options;
    return this.#run(script, [`keys:young:${tenant}`, `keys:old:${tenant}`], [`${keysMs}`, `${keysMax}`, ...texts]);
  }

  /** The commands of one tick go out with one write. */
  async #run(script: ScriptName, keys: readonly string[], texts: readonly string[]): Promise<unknown> {
    const { stream } = this.client;
    stream.cork();
    process.nextTick(() => stream.uncork());
    return this.client[script](...keys.map((key) => this.#prefix + key), ...texts);
  }
}
