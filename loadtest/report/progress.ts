import { Sample } from '../../lab/index.js';
import { counted, integer, number } from '../../text/index.js';
import type { LoadProgress, LoadCallRecord, LoadProgramRecord } from '../load.js';

/** A terminal, a pipe or a file, such as `process.stderr`. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

const DRAW_MS = 200;
const LINE_MS = 30_000;
const BAR = 20;
const DEFAULT_COLUMNS = 80;
const UP = (rows: number) => (rows > 0 ? `\u001B[${rows}A` : '');
const CLEAR_BELOW = '\r\u001B[J';

/** Shows a run's progress: in place on a terminal, line by line elsewhere. Its clock is the run's. */
export class ProgressView {
  readonly #targets: readonly Now[];
  readonly #isLive: boolean;
  #drawn: readonly string[] = [];
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
    const named = this.#targets.length > 1;
    const targets = this.#targets.map((target) => target.fields(named));
    if (this.#isLive) this.#draw([[barOf(progress), ...overall(progress)], ...targets]);
    else this.screen.write(`${[...overall(progress), ...targets.flat()].join(', ')}\n`);
  }

  /** Erases the view, so that further output starts in its place. */
  end(): void {
    if (this.#drawn.length > 0) this.screen.write(this.#erasure());
    this.#drawn = [];
  }

  #draw(lines: readonly (readonly string[])[]): void {
    const { columns = DEFAULT_COLUMNS, rows = lines.length + 1 } = this.screen;
    const shown = lines.slice(0, Math.max(1, rows - 1)).map((fields) => fitting(fields, columns - 1));
    this.screen.write(`${this.#erasure()}${shown.join('\n')}\n`);
    this.#drawn = shown;
  }

  /** A narrower terminal has wrapped the drawn text, which then takes more rows. */
  #erasure(): string {
    const { columns = DEFAULT_COLUMNS } = this.screen;
    const rows = this.#drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / Math.max(1, columns))), 0);
    return `${UP(rows)}${CLEAR_BELOW}`;
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
    return [named ? `${this.name}: ${programs}` : programs, counted(this.#errors, 'error'), ...(calls > 0 ? [`first token ${meanText(this.#firstTokens)}`] : [])]; // prettier-ignore
  }
}

const meanText = ({ mean }: Sample): string => `${number(mean)} s`;

function overall(progress: LoadProgress): string[] {
  const { elapsedMs, programsEnded, programsStarted, programsTotal, callsInFlight, runs } = progress;
  const of = programsTotal === undefined ? '' : ` of ${integer(programsTotal)}`;
  return [
    clock(elapsedMs),
    `${integer(programsEnded)}${of} programs${runs > 1 ? ` in ${runs} runs` : ''}`,
    `${integer(programsStarted - programsEnded)} under way`,
    `${counted(callsInFlight, 'call')} in flight`,
  ];
}

function barOf({ programsEnded, programsTotal }: LoadProgress): string {
  if (programsTotal === undefined || programsTotal === 0) return '';
  const share = Math.min(1, programsEnded / programsTotal);
  const full = Math.floor(share * BAR);
  return `[${'='.repeat(full)}${' '.repeat(BAR - full)}] ${String(Math.floor(100 * share)).padStart(3)} %`;
}

function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** The fields that fit, in their order; if not even the first fits, its beginning. */
function fitting(fields: readonly string[], columns: number): string {
  let line = '';
  for (const field of fields.filter((each) => each !== '')) {
    const longer = line === '' ? field : `${line}  ${field}`;
    if (longer.length > columns) break;
    line = longer;
  }
  return line === '' ? (fields.find((each) => each !== '') ?? '').slice(0, Math.max(0, columns)) : line;
}
