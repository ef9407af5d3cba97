import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';

/** Ends the command if the file cannot be read. */
export function checkReadable(command: Command, file: string): void {
  if (!existsSync(file)) command.error(`no such file: ${file}`);
  if (statSync(file).isDirectory()) command.error(`${file} is a folder`);
}

/** Ends the command if a file cannot be written: an hour's run must not be lost to a missing folder. */
export function checkWritable(command: Command, file: string): void {
  const folder = dirname(file);
  const there = statSync(file, { throwIfNoEntry: false });
  if (there?.isDirectory() === true) command.error(`${file} is a folder`);
  try {
    accessSync(there === undefined ? folder : file, constants.W_OK);
  } catch {
    const why = there === undefined ? `no such directory ${folder}, or permission denied` : 'permission denied';
    command.error(`${file} cannot be written: ${why}`);
  }
}
