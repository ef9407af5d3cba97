import type { Command } from 'commander';
import { FORMAT_NAMES, type FormatName, openTrace, TraceError } from '../workloads/index.js';
import { choice } from './options.js';
import { complain } from './complain.js';
import { checkReadable } from './files.js';

/** Malformed records reported one by one; the others are only counted. */
const TOLD_MAX = 20;

export const formatOption = () => choice('-f, --format <name>', 'its format (default: detected)', FORMAT_NAMES);

/** Opens a recording that a command line names; `faults` receives its unusable records. */
export async function openTraceFile(command: Command, file: string, format: FormatName | undefined, faults: Faults) {
  checkReadable(command, file);
  try {
    return await openTrace(file, { format, onMalformed: (error) => faults.add(error) });
  } catch (error) {
    if (error instanceof TraceError) command.error(error.message);
    throw error;
  }
}

/** Skipped records, reported on stderr as they come. */
export class Faults {
  count = 0;
  #isCut = false;

  add(error: TraceError): void {
    if (error.code === 'unreadable') {
      this.#isCut = true;
      complain(`${error.message}; what is before is used`);
      return;
    }
    this.count += 1;
    if (this.count <= TOLD_MAX) complain(`${error.message}; skipped`);
    if (this.count === TOLD_MAX + 1) complain('what else is malformed is only counted');
  }

  /** @throws Error when so much is missing that this is a failure */
  check(file: string, programs: number, isStrict: boolean): void {
    if (programs === 0) throw new Error(`${file}: no program in it`);
    // It was told when it was found.
    if (this.#isCut) throw new Error('');
    if (isStrict && this.count > 0) throw new Error(`${file}: not all of it was taken`);
  }
}
