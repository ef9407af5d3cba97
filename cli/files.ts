import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';

/** Ends the command where there is no file to be read. */
export function checkReadable(command: Command, file: string): void {
  if (!existsSync(file)) command.error(`there is no file ${file}`);
  if (statSync(file).isDirectory()) command.error(`${file} is a folder`);
}

/** Ends the command where a file cannot be written: an hour's run must not be lost for a folder that is not there. */
export function checkWritable(command: Command, file: string): void {
  const folder = dirname(file);
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    command.error(`${file} cannot be written: there is no folder ${folder}, or it is not ours`);
  }
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) command.error(`${file} is a folder`);
}
