/** Progress of a run on stderr: a changing line on a terminal, else a line now and then. */
const TERMINAL_MS = 500;
const LINES_MS = 15_000;

export class Progress {
  readonly #startedAt = performance.now();
  readonly #terminal = process.stderr.isTTY;
  readonly #timer: NodeJS.Timeout;
  #answered = 0;
  #ended = 0;

  constructor(
    private readonly title: string,
    private readonly programs: number,
    private readonly calls: number,
  ) {
    this.#timer = setInterval(() => this.#write(), this.#terminal ? TERMINAL_MS : LINES_MS);
  }

  answered(): void {
    this.#answered += 1;
  }

  ended(): void {
    this.#ended += 1;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#write();
    if (this.#terminal) process.stderr.write('\n');
  }

  #write(): void {
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000);
    const share = this.#answered / this.calls;
    const left = share > 0 && share < 1 ? `, about ${Math.ceil((seconds * (1 - share)) / share)} s left` : '';
    const line =
      `${this.title}: ${seconds} s, ${this.#answered} of ${this.calls} calls answered, ` +
      `${this.#ended} of ${this.programs} programs done${left}`;
    process.stderr.write(this.#terminal ? `\r${line}` : `${line}\n`);
  }
}
