import { levels } from 'pino';

/** Fields of every line that are the same for the whole process, or stand at its beginning. */
const LEADING = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'err']);

/** A JSON line of the log for people: `12:52:10 warn  engine is down engine=gpu-1`, and the stack of an error below. */
export function readable(json: string): string {
  const line = JSON.parse(json) as Record<string, unknown> & {
    readonly msg?: string;
    readonly err?: { readonly stack?: string; readonly message?: string };
  };
  const time = new Date(Number(line['time'])).toLocaleTimeString('en-GB');
  const level = (levels.labels[Number(line['level'])] ?? '').padEnd(5);
  const fields = Object.entries(line).flatMap(([name, value]) =>
    LEADING.has(name) ? [] : ` ${name}=${textOf(value)}`,
  );
  const { stack = line.err?.message } = line.err ?? {};
  return `${time} ${level} ${line.msg ?? ''}${fields.join('')}${stack === undefined ? '' : `\n${stack}`}\n`;
}

/** Words as they are; anything else as JSON, so that a client's name cannot move the cursor or begin a line. */
const textOf = (value: unknown): string =>
  typeof value === 'string' && /^[\w.:/@~%+-]+$/.test(value) ? value : JSON.stringify(value);
