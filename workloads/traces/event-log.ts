import { LogFault, readLogLine } from '../../src/index.js';
import { TraceError } from './error.js';
import { LoggedPrograms } from './logged-programs.js';
import { date, milliseconds } from './numbers.js';
import type { Reader, TraceRecord } from './records.js';

/**
 * What a gateway served, from its event log (`docs/EVENT-LOG.md`): programs as they leave its table, those that are in it
 * last of all. Memory is taken for these.
 *
 * - A call waits for those calls of its program that had ended when it came, but for those that these waited for
 *   themselves; one of a sub-agent's thread that has begun, only for those of its thread. Its gap is the time since the
 *   last of these ends. Calls stand in the order of their ends.
 * - Tokens are the engine's counts, where it gave any, else the gateway's. A call that was cancelled or lost while it was
 *   answered has the tokens until then; one that was not answered at all is left out, and so is one that still runs.
 * - A prompt goes on from the call that ended last in its thread. How much is shared is taken from the lengths (see
 *   `keptTokens`) and, where it became shorter, from what the engine had in its cache; so is what the first prompt of a
 *   thread shares with those of other programs of its tenant and model.
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
        // What the lines behind it mean cannot be known.
        yield begun;
        return;
      }
      programs = begun;
      continue;
    }
    const line = readLogLine(record.value);
    if (line instanceof LogFault) yield record.fault(line.field, line.problem);
    else if ('maitredEventLog' in line) yield record.fault('maitredEventLog', 'a second header');
    else if (!('commands' in line)) continue;
    else if (!milliseconds.safeParse(line.now).success) yield record.fault('now', 'not a time');
    else yield* programs.take(line, record);
  }
  if (programs !== undefined) yield* programs.rest();
};

function begin(record: TraceRecord): LoggedPrograms | TraceError {
  const header = readLogLine(record.value);
  if (header instanceof LogFault) return record.fault(header.field, header.problem);
  if (!('maitredEventLog' in header)) return record.fault('maitredEventLog', 'the log does not begin with its header');
  const startedAt = date.safeParse(header.startedAt);
  if (!startedAt.success) return record.fault('startedAt', 'not a date and time');
  return new LoggedPrograms(startedAt.data - header.now);
}
