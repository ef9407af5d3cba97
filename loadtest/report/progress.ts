import { Sample } from '../../lab/index.js';
import { counted, integer, number, span, tableWidth } from '../../text/index.js';
import type { LoadProgress, LoadCallRecord, LoadProgramRecord } from '../load.js';

/** A terminal, a pipe or a file, such as `process.stderr`. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const DRAW_MS = 200;
const LINE_MS = 30_000;
const ERASED = '\r\u001B[J';

/** Shows a run's progress in a line: in place on a terminal, one after the other elsewhere. Its clock is the run's. */
export class ProgressView {
  readonly #targets: readonly Now[];
  readonly #isLive: boolean;
  #nextMs = 0;

  constructor(
    private readonly screen: Screen,
    names: readonly string[],
  ) {
    this.#isLive = screen.isTTY === true;
    this.#targets = names.map((name) => new Now(name));
    if (!this.#isLive) this.#nextMs = LINE_MS;
  }

  callEnded(call: LoadCallRecord): void {
    this.#targets[call.target]?.callEnded(call);
  }

  programEnded(program: LoadProgramRecord): void {
    this.#targets[program.target]?.programEnded(program);
  }

  progress(progress: LoadProgress): void {
    const { elapsedMs } = progress;
    if (elapsedMs < this.#nextMs) return;
    this.#nextMs = elapsedMs + (this.#isLive ? DRAW_MS : LINE_MS);
    const fields = [...overall(progress), ...this.#targets.flatMap((now) => now.fields(this.#targets.length > 1))];
    this.screen.write(
      this.#isLive ? ERASED + fields.join('  ').slice(0, tableWidth(this.screen) - 1) : `${fields.join(', ')}\n`,
    );
  }

  /** Erases the line, so that further output starts in its place. */
  end(): void {
    if (this.#isLive) this.screen.write(ERASED);
  }
}

class Now {
  readonly #programs = new Sample(0);
  readonly #firstTokens = new Sample(0);
  #errors = 0;

  constructor(private readonly name: string) {}

  callEnded({ outcome, arrivedMs, firstTokenMs }: LoadCallRecord): void {
    if (outcome !== 'completed') this.#errors += 1;
    else if (!Number.isNaN(firstTokenMs)) this.#firstTokens.add((firstTokenMs - arrivedMs) / 1000);
  }

  programEnded({ outcome, arrivedMs, endedMs }: LoadProgramRecord): void {
    if (outcome === 'completed') this.#programs.add((endedMs - arrivedMs) / 1000);
  }

  /** The most important field comes first. */
  fields(named: boolean): string[] {
    const calls = this.#firstTokens.count;
    const programs =
      this.#programs.count > 0
        ? `programs ${meanText(this.#programs)} on average`
        : `${counted(calls, 'call')} answered`;
    return [
      named ? `${this.name}: ${programs}` : programs,
      counted(this.#errors, 'error'),
      ...(calls > 0 ? [`first token ${meanText(this.#firstTokens)}`] : []),
    ];
  }
}

const meanText = ({ mean }: Sample): string => `${number(mean)} s`;

function overall(progress: LoadProgress): string[] {
  const { elapsedMs, programsEnded, programsStarted, programsTotal, callsInFlight, runs } = progress;
  const of = programsTotal === undefined ? '' : ` of ${integer(programsTotal)}`;
  return [
    span(elapsedMs),
    `${integer(programsEnded)}${of} programs${runs > 1 ? ` in ${runs} runs` : ''}`,
    `${integer(programsStarted - programsEnded)} under way`,
    `${counted(callsInFlight, 'call')} in flight`,
  ];
}
