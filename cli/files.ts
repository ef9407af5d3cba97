import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';

/** Ends the command if the file cannot be read. */
export function checkReadable(command: Command, file: string): void {
  const there = statSync(file, { throwIfNoEntry: false });
  if (there === undefined) command.error(`${file}: no such file`);
  if (there.isDirectory()) command.error(`${file}: is a folder`);
}

/** Ends the command if a file cannot be written: an hour's run must not be lost to a missing folder. */
export function checkWritable(command: Command, file: string): void {
  const folder = dirname(file);
  const [there, above] = [file, folder].map((path) => statSync(path, { throwIfNoEntry: false }));
  if (there?.isDirectory() === true) command.error(`${file}: is a folder`);
  if (above === undefined) command.error(`${file}: cannot be written: the folder ${folder} does not exist`);
  try {
    accessSync(there === undefined ? folder : file, constants.W_OK);
  } catch {
    command.error(`${file}: cannot be written: permission denied`);
  }
}
