import type { ReadStream } from 'node:tty';
import type { AdminClient } from '../admin.js';
import { untilStopped } from '../signals.js';
import { frame, pageHeight, type Scene } from './frame.js';
import { readSnapshot, type Snapshot } from './poll.js';
import { Screen, type Output } from './screen.js';
import { press, wishOf, type Action, type Key, type View } from './view.js';

/** Frames without news: clocks go on. */
const TICK_MS = 1000;

export interface SessionOptions {
  readonly client: AdminClient;
  readonly url: string;
  readonly view: View;
  readonly intervalMs: number;
  readonly input: ReadStream;
  readonly output: Output;
}

/** The full-screen process table, until the user or a signal ends it. @throws AdminError if the first answer fails */
export async function runSession(options: SessionOptions): Promise<void> {
  // Before the screen changes: a wrong address or token is an error of usage.
  const session = new Session(options, await readSnapshot(options.client, wishOf(options.view)));
  await session.run();
}

class Session {
  readonly #options: SessionOptions;
  readonly #screen: Screen;
  readonly #ended: Promise<void>;
  #quit: () => void = () => undefined;
  #view: View;
  #snapshot: Snapshot;
  #away: { readonly reason: string; readonly sinceMs: number } | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Whether a poll is under way, and whether another must follow it at once. */
  #isReading = false;
  #readAgain = false;

  constructor(options: SessionOptions, first: Snapshot) {
    this.#options = options;
    this.#view = options.view;
    this.#snapshot = first;
    this.#ended = new Promise((resolve) => (this.#quit = resolve));
    this.#screen = new Screen(options.input, options.output, {
      onKey: (key) => this.#press(key),
      onChange: () => this.#draw(),
      onGone: () => this.#quit(),
    });
  }

  async run(): Promise<void> {
    const ticker = setInterval(() => this.#draw(), TICK_MS);
    this.#draw();
    this.#wait();
    const stopped = untilStopped({ stop: () => Promise.resolve(), until: this.#ended });
    try {
      await Promise.race([this.#ended, stopped]);
    } finally {
      this.#quit();
      clearInterval(ticker);
      clearTimeout(this.#timer);
      this.#screen.close();
    }
  }

  #draw(): void {
    this.#screen.show(frame(this.#scene, this.#screen.size));
  }

  get #scene(): Scene {
    const nowMs = Date.now();
    const away = this.#away && { reason: this.#away.reason, seconds: (nowMs - this.#away.sinceMs) / 1000 };
    return { url: this.#options.url, snapshot: this.#snapshot, view: this.#view, nowSeconds: nowMs / 1000, away };
  }

  #press(key: Key): void {
    const page = pageHeight(this.#scene, this.#screen.size);
    const { view, action } = press(this.#view, key, this.#snapshot.programs, page);
    const isOpened = view.screen === 'program' && this.#view.screen !== 'program';
    this.#view = view;
    if (isOpened) this.#snapshot = { ...this.#snapshot, detail: undefined };
    this.#draw();
    if (action !== undefined) this.#act(action);
  }

  #act(action: Action): void {
    switch (action.type) {
      case 'quit':
        return this.#quit();
      case 'suspend':
        return this.#screen.suspend();
      case 'read':
        return void this.#read();
      case 'end':
        return void this.#end(action.program);
    }
  }

  async #end({ key, id }: { readonly key: string; readonly id: string }): Promise<void> {
    const notice = await this.#options.client.json(`/programs/${encodeURIComponent(key)}/end`, 'POST').then(
      () => `Ended ${id}.`,
      (error: unknown) => (error as Error).message,
    );
    this.#view = { ...this.#view, notice };
    await this.#read();
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      if (this.#view.frozen) this.#wait();
      else void this.#read();
    }, this.#options.intervalMs);
  }

  async #read(): Promise<void> {
    if (this.#isReading) {
      this.#readAgain = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#isReading = true;
    try {
      this.#take(await readSnapshot(this.#options.client, wishOf(this.#view)));
    } catch (error) {
      this.#away = { reason: (error as Error).message, sinceMs: this.#away?.sinceMs ?? Date.now() };
    }
    this.#isReading = false;
    this.#draw();
    if (this.#readAgain) {
      this.#readAgain = false;
      return this.#read();
    }
    this.#wait();
  }

  #take(snapshot: Snapshot): void {
    if (snapshot.gateway.instance !== this.#snapshot.gateway.instance)
      this.#view = { ...this.#view, notice: 'The gateway was restarted: its programs and counters begin anew.' };
    this.#snapshot = snapshot;
    this.#away = undefined;
  }
}
