import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
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

/** Makes the folder and its parents. Ends the command if that fails, or if the folder is not writable. */
export function makeFolder(command: Command, folder: string): void {
  try {
    make(folder);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    command.error(`${folder} cannot be written: ${(error as Error).message}`);
  }
  if (!statSync(folder).isDirectory()) command.error(`${folder} is no folder`);
}

/** One by one: `mkdirSync` itself retries for ever in folders where nobody can make one (/proc). */
function make(folder: string): void {
  if (existsSync(folder)) return;
  make(dirname(folder));
  mkdirSync(folder);
}
