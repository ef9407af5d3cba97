import { LRUCache } from 'lru-cache';
import { createHmac, randomBytes, randomInt } from 'node:crypto';
import { open } from 'node:fs/promises';
import { PassThrough, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { constants, createGzip, type Gzip } from 'node:zlib';
import type { Logger } from 'pino';
import {
  EVENT_LOG_VERSION,
  logLine,
  millis,
  programId,
  tenantId,
  type Command,
  type Event,
  type LogLine,
  type Millis,
  type ProgramId,
} from '../src/index.js';
import type { Config } from './config/schema.js';
import type { Recorder } from './driver.js';
import { settingsSchema } from './settings.js';

/** Lines are written together when there is this much of them, or this much later. */
const WRITE_CHARS = 65_536;
const WRITE_MS = 100;
/** For a disk to take what is left at the end. */
const CLOSE_MS_MAX = 10_000;

export interface RecordOptions {
  /** Created, or empty; packed by gzip when its name ends in `.gz`. */
  readonly file: string;
  readonly config: Config;
  /** Of maitred. */
  readonly version: string;
  readonly log: Logger;
}

/**
 * Writes the event log of a gateway, see `docs/EVENT-LOG.md`. A log with a hole could not be replayed: when its disk is
 * full, breaks or falls behind by more than `limits.recordBytes`, it ends there, and the gateway goes on without it.
 */
export class EventLog implements Recorder {
  readonly #aliases = new Aliases();
  readonly #sink: Transform | Gzip;
  /** Resolves when all is written or nothing more will be. */
  readonly #written: Promise<void>;
  #text = '';
  #timer: NodeJS.Timeout | undefined;
  #steps = 0;
  #isOpen = true;

  /** @throws Error when the file cannot be opened for writing. */
  static async open(options: RecordOptions): Promise<EventLog> {
    // Who calls, when and how much is for nobody else to read.
    const file = await open(options.file, 'a', 0o600);
    return new EventLog(options, (sink) => pipeline(sink, file.createWriteStream()));
  }

  private constructor(
    private readonly options: RecordOptions,
    write: (from: Transform) => Promise<void>,
  ) {
    const { file, config, version } = options;
    this.#sink = file.endsWith('.gz') ? createGzip({ level: constants.Z_BEST_SPEED }) : new PassThrough();
    this.#written = write(this.#sink).catch((error: unknown) => this.#broke(error));
    this.#add({
      maitredEventLog: EVENT_LOG_VERSION,
      maitred: version,
      startedAt: new Date().toISOString(),
      now: millis(performance.now()),
      settings: settingsSchema.parse(config),
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
    this.#add({ now, settings: settingsSchema.parse(config), commands: this.#aliases.inCommands(commands) });
  }

  /** Writes what is left, unless the disk takes too long. */
  async close(): Promise<void> {
    const { file, log } = this.options;
    const wasOpen = this.#isOpen;
    if (wasOpen) this.#end('closed');
    const tooLong = new AbortController();
    const late = sleep(CLOSE_MS_MAX, 'late', { signal: tooLong.signal }).catch(() => undefined);
    const isLate = (await Promise.race([this.#written, late])) === 'late';
    tooLong.abort();
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
    // So that what is on disk can be read to the last batch, whatever becomes of the process.
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

/** Names remembered, so that most need not be made again. */
const NAMES_MAX = 10_000;

/**
 * Puts names of the log's own in place of those that came from clients or say who they are: of programs, threads and
 * tenants. A replay needs to know only which are the same. They are made with a key that nobody keeps, so that none has
 * to be remembered to stay the same.
 */
class Aliases {
  readonly #key = randomBytes(32);
  readonly #known = new LRUCache<string, string>({ max: NAMES_MAX });
  readonly #factors = [randomInt(2 ** 32), randomInt(2 ** 31) * 2 + 1, randomInt(2 ** 31) * 2 + 1] as const;

  inEvent(event: Event): Event {
    if (event.type === 'programEnded') return { ...event, program: this.#program(event.program) };
    if (event.type !== 'callArrived') return event;
    const { program, tenant, thread, prefix, family, request } = event;
    return {
      ...event,
      program: this.#program(program),
      tenant: tenantId(this.#name('t', tenant)),
      // The root has no name that could tell anything.
      thread: thread === '' ? '' : this.#name('s', thread),
      ...(prefix !== undefined && { prefix: prefix.map((hash) => this.#mix(hash)) }),
      ...(request !== undefined && { request: this.#name('r', request) }),
      ...(family !== undefined && { family: { ...family, id: this.#mix(family.id) } }),
    };
  }

  inCommands(commands: readonly Command[]): readonly Command[] {
    if (!commands.some(({ type }) => type === 'programGone')) return commands;
    return commands.map((command) =>
      command.type === 'programGone' ? { ...command, program: this.#program(command.program) } : command,
    );
  }

  #program(id: ProgramId): ProgramId {
    return programId(this.#name('p', id));
  }

  #name(kind: string, text: string): string {
    const named = kind + text;
    let name = this.#known.get(named);
    if (name !== undefined) return name;
    name = `${kind}-${createHmac('sha256', this.#key).update(named).digest('base64url').slice(0, 12)}`;
    this.#known.set(named, name);
    return name;
  }

  /** One to one on whole numbers of 32 bits, so that a log cannot be searched for the hashes of a known text. */
  #mix(hash: number): number {
    const [mask, first, second] = this.#factors;
    const half = Math.imul(hash ^ mask, first);
    return Math.imul(half ^ (half >>> 15), second) >>> 0;
  }
}
