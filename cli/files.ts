import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import type { z } from 'zod';
import { checkValue, ConfigError, pathText, readConfigFile, type Path } from '../sidecar/config/index.js';

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

/**
 * Reads a YAML file by its schema.
 * @param more faults that the schema cannot tell
 * @throws ConfigError with every problem found, each in its place
 */
export function readYaml<T extends z.ZodType>(
  file: string,
  schema: T,
  more: (values: unknown) => readonly { readonly path: Path; readonly message: string }[] = () => [],
): z.output<T> {
  const { values, originOf } = readConfigFile(file);
  const { data, problems } = checkValue(schema, values);
  const told = new Set(problems.map(({ path }) => pathText(path)));
  const all = [...problems, ...more(values).filter(({ path }) => !told.has(pathText(path)))];
  if (data !== undefined && all.length === 0) return data;
  throw new ConfigError(
    all.map(({ path, message }) => ({ path: pathText(path), message, origin: originOf(path) ?? file })),
  );
}
