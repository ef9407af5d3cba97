import type { Command } from 'commander';

/** The value of the environment variable that an option names; ends the command if it is not set. */
export function secretIn(command: Command, option: string, variable: string): string {
  // A key given by mistake must not appear in a log.
  if (!/^[a-z_]\w*$/i.test(variable)) command.error(`${option} is the name of an environment variable, not the key`);
  const secret = process.env[variable]?.trim() ?? '';
  return secret === '' ? command.error(`${option}: the environment variable ${variable} is not set`) : secret;
}
