import { TraceError } from './error.js';
import { readLogLine } from './log-line.js';
import { LoggedPrograms } from './logged-programs.js';
import { date, milliseconds } from './numbers.js';
import type { Reader, TraceRecord } from './records.js';

/**
 * Programs that a gateway served, from its event log (`docs/JSON.md`), in the order in which they leave its table.
 * Those still in it come last. Memory grows with the programs in the table.
 *
 * - A call depends on its program's calls that had ended when it arrived, except those on which these depend
 *   themselves. A later call of a sub-agent's thread depends only on calls of that thread. Its gap is the time since
 *   the last of these ends. Calls are in the order of their ends.
 * - Tokens are the engine's counts if reported, else the gateway's. A call cancelled or lost during its answer has the
 *   tokens until then. Unanswered calls and calls that still run are left out.
 * - A prompt continues the call that ended last in its thread. Shared tokens are inferred from the lengths (see
 *   `keptTokens`); for a shorter prompt, from the engine's cached tokens. A thread's first prompt shares its cached
 *   tokens with other programs of its tenant and model.
 */
export const eventLog: Reader = async function* (records) {
  let programs: LoggedPrograms | undefined;
  for await (const record of records) {
    if (record instanceof TraceError) {
      yield record;
      continue;
    }
    if (programs === undefined) {
      const begun = begin(record);
      if (begun instanceof TraceError) {
        // The meaning of the lines after it is unknown.
        yield begun;
        return;
      }
      programs = begun;
      continue;
    }
    const read = readLogLine(record.value);
    if ('problem' in read) {
      yield record.fault(read.field, read.problem);
      continue;
    }
    const line = read.value;
    if ('maitredEventLog' in line) yield record.fault('maitredEventLog', 'a second header');
    else if (!('commands' in line)) continue;
    else if (!milliseconds.safeParse(line.now).success) yield record.fault('now', 'not a time');
    else yield* programs.take(line, record);
  }
  if (programs !== undefined) yield* programs.rest();
};

function begin(record: TraceRecord): LoggedPrograms | TraceError {
  const read = readLogLine(record.value);
  if ('problem' in read) return record.fault(read.field, read.problem);
  const header = read.value;
  if (!('maitredEventLog' in header)) return record.fault('maitredEventLog', 'the log does not begin with its header');
  const startedAt = date.safeParse(header.startedAt);
  if (!startedAt.success) return record.fault('startedAt', 'not a date and time');
  return new LoggedPrograms(startedAt.data - header.now);
}
