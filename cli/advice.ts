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

type ListenError = Error & Partial<Record<'code' | 'address' | 'hostname', string> & { readonly port: number }>;

/**
 * The fault of an address that cannot be listened on, and its remedy; undefined: the error is another one.
 * @param key names what sets the address
 */
export function cannotListen(
  { code = '', address = '', port = 0, hostname = '' }: ListenError,
  key: (name: 'host' | 'port') => string,
) {
  const here = `port ${port} of ${address}`;
  const unknown = [`${hostname} cannot be found`, `choose another address to listen on (${key('host')})`] as const;
  const words: Readonly<Record<string, readonly [fault: string, remedy: string]>> = {
    ENOTFOUND: unknown,
    EAI_AGAIN: unknown,
    EADDRNOTAVAIL: [`${address} is not this machine’s`, `choose one that is, or 0.0.0.0 for all (${key('host')})`],
    EACCES: [`${here} needs more rights, as most below 1024 do`, `choose another one (${key('port')})`],
    EADDRINUSE: [`${here} is taken`, `end what runs there, or choose another one (${key('port')})`],
  };
  return hostname + address === '' ? undefined : words[code];
}
