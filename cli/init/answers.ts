import { createInterface } from 'node:readline/promises';
import { plain } from '../../text/index.js';
import { ConfigError } from '../../sidecar/config/index.js';
import { Interrupted } from '../signals.js';
import { check } from './plan.js';

const QUESTION = 'Base URLs of the engines (empty: two stand-in engines to try it out): ';

/** Asks on the terminal for URLs of engines, until all are valid. @throws Interrupted when the question is left */
export async function askEngines(): Promise<readonly string[]> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const left = new Promise<never>((_, reject) => {
    lines.once('close', () => reject(new Interrupted('nothing was written')));
  });
  try {
    for (;;) {
      const urls = (await Promise.race([lines.question(QUESTION), left])).split(/[\s,]+/).filter((url) => url !== '');
      try {
        check({ engines: urls.map((url) => ({ url })) });
        return urls;
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
