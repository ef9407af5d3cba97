import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';

const isFolder = (path: string) => existsSync(path) && statSync(path).isDirectory();

/** Ends the command if the file cannot be read. */
export function checkReadable(command: Command, file: string): void {
  if (!existsSync(file)) command.error(`${file}: no such file`);
  if (isFolder(file)) command.error(`${file}: is a folder`);
}

/** Ends the command if a file cannot be written: an hour's run must not be lost to a missing folder. */
export function checkWritable(command: Command, file: string): void {
  const folder = dirname(file);
  if (isFolder(file)) command.error(`${file}: is a folder`);
  if (!isFolder(folder)) command.error(`${file}: cannot be written: the folder ${folder} does not exist`);
  try {
    accessSync(existsSync(file) ? file : folder, constants.W_OK);
  } catch {
    command.error(`${file}: cannot be written: permission denied`);
  }
}
