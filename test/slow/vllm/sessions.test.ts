import { beforeEach, describe, expect, it } from 'vitest';
import { JSON_TYPE, ask } from '../../sidecar/gateway/world.js';
import { VLLM, engineRow, gateway, idle, post } from './vllm.js';

/** A vLLM with our scheduler (engines/vllm-scheduler). Faster on a small cache, such as `BLOCKS=65`. */

const hasSessions = VLLM !== '' && (await ask(`${VLLM}/metrics`)).text.includes('maitred_scheduler_info{');
const WHY = hasSessions ? '' : ' (skipped: needs VLLM_URL, and --scheduler-cls maitred_vllm.make_scheduler there)';

const PROMPT_TOKENS = 500;

describe.skipIf(!hasSessions)(`vLLM with our scheduler${WHY}`, () => {
  beforeEach(idle);

  it(
    'keeps a running program’s context while others come and end, and not once it has ended',
    { timeout: 600_000 },
    async () => {
      const world = await gateway({ policy: { name: 'pass-through' } });
      const capacity = Number((await engineRow(world))['capacity_tokens']);
      const run = Date.now();
      const call = async (program: string) => {
        const prompt = `${run} ${program} ${'word '.repeat(PROMPT_TOKENS)}`;
        const got = await post(
          world.url,
          '/v1/completions',
          { prompt, max_tokens: 1 },
          { 'x-maitred-program': program },
        );
        return (got.json() as { usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } } })
          .usage;
      };
      const end = (program: string) =>
        ask(`${world.url}/programs/release`, { headers: JSON_TYPE, body: JSON.stringify({ program_id: program }) });
      const fill = async (name: string) => {
        for (let tokens = 0, count = 0; tokens < 1.5 * capacity; count += 1) {
          tokens += (await call(`${name}${count}`)).prompt_tokens;
          await end(`${name}${count}`);
        }
      };
      const whole = (await call('long')).prompt_tokens;
      await fill('first');
      expect((await call('long')).prompt_tokens_details.cached_tokens).toBeGreaterThan(0.9 * whole);
      await end('long');
      await fill('second');
      expect((await call('long')).prompt_tokens_details.cached_tokens).toBeLessThan(0.5 * whole);
    },
  );
});
