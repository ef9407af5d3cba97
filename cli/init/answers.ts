import { createInterface } from 'node:readline/promises';
import { plain } from '../../text/index.js';
import { ConfigError } from '../../sidecar/config/index.js';
import { Interrupted } from '../signals.js';

const QUESTION = 'Base URLs of the engines (empty: two stand-in engines to try it out): ';

/**
 * Asks on the terminal for URLs of engines, until `take` takes them: its result.
 * @throws Interrupted when the question is left
 */
export async function askEngines<T>(take: (urls: readonly string[]) => Promise<T>): Promise<T> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const left = new Promise<never>((_, reject) => {
    lines.once('close', () => reject(new Interrupted('nothing was written')));
  });
  try {
    for (;;) {
      const urls = (await Promise.race([lines.question(QUESTION), left])).split(/[\s,]+/).filter((url) => url !== '');
      try {
        return await Promise.race([take(urls), left]);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        process.stderr.write(`${plain(`  ${error.problems.map(({ message }) => message).join('; ')}`)}\n`);
      }
    }
  } finally {
    left.catch(() => undefined);
    lines.close();
  }
}
