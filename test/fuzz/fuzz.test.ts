import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Dice } from '../support/dice.js';
import { folderOf } from '../support/folder.js';
import { mutated } from './mutate.js';
import { TARGETS } from './targets.js';

/** Of the fastest target; `TEST_INPUTS=100000 npx vitest run test/fuzz` tries more. */
const INPUTS = Number(process.env['TEST_INPUTS'] ?? 400);
/** No input may take more processor time. One that did is tried again after a pause: collecting garbage counts too. */
const HANG_MS = 50;
const TRIES = 8;
const PAUSE_MS = 100;

describe('foreign bytes', () => {
  it.each(TARGETS)(
    'break nothing, and hang nothing, as $name',
    async ({ samples, share, run }) => {
      const scratch = join(folderOf({}), 'input');
      for (let index = 0; index < INPUTS * share; index += 1) {
        const input = mutated(samples, new Dice(index));
        const times: number[] = [];
        try {
          do {
            if (times.length > 0) await sleep(PAUSE_MS);
            const began = process.cpuUsage();
            await run(input, scratch);
            const { user, system } = process.cpuUsage(began);
            times.push((user + system) / 1000);
          } while (times.length < TRIES && Math.min(...times) > HANG_MS);
        } catch (error) {
          throw new Error(`input ${index}, ${JSON.stringify(input.toString('latin1'))}`, { cause: error });
        }
        if (times.length === TRIES)
          expect(Math.min(...times), `input ${index}, ${JSON.stringify(input.toString('latin1'))}`).toBeLessThan(
            HANG_MS,
          );
      }
    },
    3_600_000,
  );
});
