import { LRUCache } from 'lru-cache';
import type { ProgramId } from '../../src/index.js';
import type { CallSpec } from './spec.js';

/** The last answered request of a thread, as its client sent it. */
export interface KeptPrompt extends Pick<CallSpec, 'api' | 'path' | 'search' | 'facts' | 'headers' | 'raw' | 'keys'> {
  readonly program: ProgramId;
  readonly thread: string;
}

/** Size of a prompt beside its body: its headers and its record. */
const OTHER_BYTES = 2048;

/** Requests kept for warms, in memory only. The longest unused make way. */
export class KeptPrompts {
  readonly #prompts: LRUCache<string, KeptPrompt>;
  readonly #threads = new Map<ProgramId, Set<string>>();

  /** @param bytesMax most bytes of all of them */
  constructor(bytesMax: number) {
    this.#prompts = new LRUCache({
      maxSize: bytesMax,
      sizeCalculation: ({ raw }) => raw.length + OTHER_BYTES,
      dispose: ({ program, thread }) => this.#dropped(program, thread),
    });
  }

  get bytes(): number {
    return this.#prompts.calculatedSize;
  }

  get(program: ProgramId, thread: string): KeptPrompt | undefined {
    return this.#prompts.get(nameOf(program, thread));
  }

  keep({ api, path, search, facts, headers, raw, keys, identity }: CallSpec): void {
    const { program, thread } = identity;
    // A prompt too large to keep takes the place of none.
    this.drop(program, thread);
    const name = nameOf(program, thread);
    this.#prompts.set(name, { api, path, search, facts, headers, raw, keys, program, thread });
    if (!this.#prompts.has(name)) return;
    const threads = this.#threads.get(program) ?? new Set();
    this.#threads.set(program, threads.add(thread));
  }

  drop(program: ProgramId, thread: string): void {
    this.#prompts.delete(nameOf(program, thread));
  }

  /** The program is over. */
  forget(program: ProgramId): void {
    for (const thread of this.#threads.get(program) ?? []) this.drop(program, thread);
  }

  clear(): void {
    this.#prompts.clear();
  }

  #dropped(program: ProgramId, thread: string): void {
    const threads = this.#threads.get(program);
    threads?.delete(thread);
    if (threads?.size === 0) this.#threads.delete(program);
  }
}

const nameOf = (program: ProgramId, thread: string): string => JSON.stringify([program, thread]);
