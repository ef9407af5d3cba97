import type { Command } from 'commander';
import { plain } from '../lab/index.js';
import { URL_DEFAULT, addAdminOptions, adminToken, askGateway, type AdminFlags } from './admin.js';

interface WhyFlags extends AdminFlags {
  readonly tenant?: string;
  readonly json?: true;
}

/** Columns of the text. */
const COLUMNS = 80;

/** `maitred why`: the gateway's own explanation of a call or a program. */
export function addWhyCommand(program: Command): void {
  const why = program
    .command('why')
    .description('tell why a call waits, or why it ran where it ran')
    .argument('<id>', 'a call or a program');
  addAdminOptions(why, URL_DEFAULT)
    .option('--tenant <name>', 'the program’s tenant, where several have one of that name')
    .option('--json', 'print the figures as JSON')
    .action(async (id: string, { url, tenant, json, ...flags }: WhyFlags) => {
      if (id.trim() === '') why.error('name a call or a program');
      const query = tenant === undefined ? '' : `?tenant=${encodeURIComponent(tenant)}`;
      const path = `/programs/${encodeURIComponent(id)}/explain${query}`;
      const { body } = await askGateway(url, path, adminToken(why, flags));
      const { text = '' } = body as { text?: string };
      process.stdout.write(json ? `${JSON.stringify(body)}\n` : `${plain(wrapped(text, COLUMNS))}\n`);
    });
}

/** The paragraphs, in lines of at most so many columns where their words allow it. */
export function wrapped(text: string, columns: number): string {
  return text.split('\n').map((paragraph) => wrappedLine(paragraph, columns)).join('\n'); // prettier-ignore
}

function wrappedLine(text: string, columns: number): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join('\n');
}
