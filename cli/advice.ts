import { basename } from 'node:path';
import type { Command } from 'commander';

/* Commands and addresses that advice names. */

/** How this program was called, so that its advice works where it is read: a clone has only `npx`. */
export const OWN_NAME =
  process.env['npm_command'] !== 'exec' && basename(process.argv[1] ?? '') === 'maitred' ? 'maitred' : 'npx maitred';

/** Adds commands to the end of a help, each with its purpose. */
export function addExamples(command: Command, examples: Readonly<Record<string, string>>): Command {
  const lines = Object.entries(examples).map(([args, purpose]) => `\n  # ${purpose}\n  ${OWN_NAME} ${args}`);
  return command.addHelpText('after', `\nExamples:${lines.join('')}`);
}

/** The URL at which this machine reaches a listener. */
export function urlAt(host: string, port: number): string {
  const bare = host.replace(/^\[|\]$/g, '');
  const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[bare] ?? bare;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}
