import { LRUCache } from 'lru-cache';
import { createHmac, randomBytes, randomInt } from 'node:crypto';
import { open } from 'node:fs/promises';
import { PassThrough, type Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { constants, createGzip, type Gzip } from 'node:zlib';
import type { Logger } from 'pino';
import type { z } from 'zod';
import {
  BEHAVIOUR,
  EVENT_LOG_VERSION,
  logLine,
  millis,
  programId,
  tenantId,
  type CallArrived,
  type Command,
  type Event,
  type Family,
  type LogLine,
  type Millis,
} from '../../src/index.js';
import type { Config } from '../config/index.js';
import type { Recorder } from '../driver.js';
import { VERSION } from '../version.js';
import { settingsSchema } from './settings.js';

/** Characters of lines, or time, after which the lines are written together. */
const WRITE_CHARS = 65_536;
const WRITE_MS = 100;
/** Time limit for the disk to write the rest at the end. */
const CLOSE_MS_MAX = 10_000;

export interface RecordOptions {
  /** Path of a file, new or empty; compressed with gzip if the name ends in `.gz`. */
  readonly file: string;
  readonly config: Config;
  readonly log: Logger;
}

/** Writes the event log (`docs/JSON.md`). It ends, as a gap could not be replayed, where its disk fails or lags. */
export class EventLog implements Recorder {
  readonly #aliases = new Aliases();
  readonly #sink: Transform | Gzip;
  /** Resolves when everything is written, or nothing more can be. */
  readonly #written: Promise<void>;
  #text = '';
  #timer: NodeJS.Timeout | undefined;
  #steps = 0;
  #isOpen = true;

  /** @throws Error if the file cannot be opened for writing */
  static async open(options: RecordOptions): Promise<EventLog> {
    // Only the owner may read who calls, when and how much.
    const file = await open(options.file, 'a', 0o600);
    return new EventLog(options, file.createWriteStream());
  }

  private constructor(
    private readonly options: RecordOptions,
    to: Writable,
  ) {
    const { file, config } = options;
    this.#sink = file.endsWith('.gz') ? createGzip({ level: constants.Z_BEST_SPEED }) : new PassThrough();
    this.#written = pipeline(this.#sink, to).catch((error: unknown) => this.#broke(error));
    this.#add({
      maitredEventLog: EVENT_LOG_VERSION,
      maitred: VERSION,
      behaviour: BEHAVIOUR,
      startedAt: new Date().toISOString(),
      now: millis(performance.now()),
      settings: this.#aliases.inSettings(config),
    });
  }

  step(event: Event, now: Millis, commands: readonly Command[]): void {
    if (!this.#isOpen) return;
    this.#steps += 1;
    this.#add({ now, event: this.#aliases.inEvent(event), commands: this.#aliases.inCommands(commands) });
  }

  configured(config: Config, now: Millis, commands: readonly Command[]): void {
    if (!this.#isOpen) return;
    this.#steps += 1;
    this.#add({ now, settings: this.#aliases.inSettings(config), commands: this.#aliases.inCommands(commands) });
  }

  async close(): Promise<void> {
    const { file, log } = this.options;
    const wasOpen = this.#isOpen;
    if (wasOpen) this.#end('closed');
    const isLate = (await Promise.race([this.#written, sleep(CLOSE_MS_MAX, 'late', { ref: false })])) === 'late';
    if (isLate) log.error({ file }, 'the end of the event log could not be written in time');
    else if (wasOpen && !this.#sink.errored) log.info({ file, steps: this.#steps }, 'event log written');
  }

  #add(line: LogLine): void {
    this.#text += `${logLine(line)}\n`;
    if (this.#text.length >= WRITE_CHARS) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), WRITE_MS);
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sink.write(this.#text);
    this.#text = '';
    // Flushed, so that the file can be read up to the last batch even if the process dies.
    if ('flush' in this.#sink) this.#sink.flush(constants.Z_SYNC_FLUSH);
    if (this.#sink.writableLength <= this.options.config.limits.recordBytes) return;
    this.#end('behind');
    this.#tell('its disk is too slow');
  }

  #end(end: 'closed' | 'behind'): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#sink.end(`${this.#text}${logLine({ end, steps: this.#steps })}\n`);
    this.#text = '';
  }

  #broke(err: unknown): void {
    clearTimeout(this.#timer);
    this.#isOpen = false;
    this.#text = '';
    this.#tell('it cannot be written', err);
  }

  #tell(why: string, err?: unknown): void {
    const { file, log } = this.options;
    log.error({ file, steps: this.#steps, err }, `the event log ends early: ${why}`);
  }
}

/** Aliases to cache; the others are computed again. */
const NAMES_MAX = 10_000;

/**
 * Replaces names from clients, and names that identify someone, by aliases: programs, threads and tenants. A replay
 * only needs to know which are equal. They are hashes with a key that is never stored: none need be remembered.
 */
class Aliases {
  readonly #key = randomBytes(32);
  readonly #names = new LRUCache<string, string>({
    max: NAMES_MAX,
    memoMethod: (named) => createHmac('sha256', this.#key).update(named).digest('base64url').slice(0, 12),
  });
  readonly #tenant = (name: string) => tenantId(this.#name('t', name));
  readonly #program = (id: string) => programId(this.#name('p', id));
  /** The root's name reveals nothing. */
  readonly #thread = (thread: string) => (thread === '' ? '' : this.#name('s', thread));
  readonly #factors = [randomInt(2 ** 32), randomInt(2 ** 31) * 2 + 1, randomInt(2 ** 31) * 2 + 1] as const;

  inEvent(event: Event): Event {
    if (event.type === 'callArrived') return this.#inArrival(event);
    if (event.type === 'programEnded' || event.type === 'programMoved')
      return { ...event, program: this.#program(event.program) };
    return event;
  }

  #inArrival(event: CallArrived): Event {
    const { program, tenant, thread, family, request } = event;
    return {
      ...event,
      program: this.#program(program),
      tenant: this.#tenant(tenant),
      thread: this.#thread(thread),
      ...(request !== undefined && { request: this.#name('r', request) }),
      ...(family !== undefined && { family: this.#family(family) }),
    };
  }

  #family({ id, harness, tokens }: Family): Family {
    return { id: this.#mix(id), ...(harness !== undefined && { harness: this.#mix(harness) }), tokens };
  }

  inCommands(commands: readonly Command[]): readonly Command[] {
    return commands.map((command) =>
      'program' in command ? { ...command, program: this.#program(command.program) } : command,
    );
  }

  inSettings(config: Config): z.output<typeof settingsSchema> {
    const { policy, ...others } = settingsSchema.parse(config);
    const weights = Object.entries(policy.tenantWeights);
    const tenantWeights = Object.fromEntries(weights.map(([tenant, weight]) => [this.#tenant(tenant), weight]));
    return { ...others, policy: { ...policy, tenantWeights } };
  }

  #name(kind: string, text: string): string {
    return `${kind}-${this.#names.memo(kind + text)}`;
  }

  /** A bijection on 32-bit integers, so that a log cannot be searched for the hashes of a known text. */
  #mix(hash: number): number {
    const [mask, first, second] = this.#factors;
    const half = Math.imul(hash ^ mask, first);
    return Math.imul(half ^ (half >>> 15), second) >>> 0;
  }
}
