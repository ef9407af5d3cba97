import { isObject, listOf, objectOf, parseJson, parseObject } from '../apis/fields.js';
import { usageOf } from '../apis/usage.js';
import type { EngineAdapter } from './adapter.js';
import { asCount, loadReport, sum } from './load.js';
import { listsModelsOf } from './models.js';
import { valuesOf } from './prometheus.js';

/**
 * llama.cpp's server. Its load comes from `/slots`, from `/props` if slots are disabled, and from `/metrics` if
 * enabled. Each slot states its own context. With a unified cache the slots share one such context, which the server
 * does not report. Then the capacity is an upper bound; set `capacityTokens` in the engine's configuration.
 */
export const llamacpp: EngineAdapter = {
  kind: 'llamacpp',
  healthPath: '/health',
  async recognise(get) {
    if (await listsModelsOf(get, 'llamacpp')) return true;
    return asCount(parseObject(await get('/props'))?.['total_slots']) !== undefined;
  },
  async readLoad(get) {
    const [slotsText, metricsText] = await Promise.all([get('/slots'), get('/metrics')]);
    const slots = listOf(parseJson(slotsText)).filter(isObject);
    const value = (name: string) => sum(valuesOf(metricsText, `llamacpp:${name}`));
    const load = {
      running: value('requests_processing'),
      waiting: value('requests_deferred'),
      // Absent in new versions.
      kvUsage: value('kv_cache_usage_ratio'),
    };
    if (slots.length > 0) {
      const contexts = slots.map((slot) => asCount(slot['n_ctx']));
      return loadReport({
        ...load,
        contextTokensMax: Math.max(...contexts.map((each) => each ?? NaN)),
        running: slots.filter((slot) => slot['is_processing'] === true).length,
        capacityTokens: sum(contexts),
        windowMax: slots.length,
      });
    }
    const props = parseObject(await get('/props'));
    const count = asCount(props?.['total_slots']) ?? NaN;
    const context = asCount(objectOf(props?.['default_generation_settings'])['n_ctx']) ?? NaN;
    return loadReport({ ...load, capacityTokens: count * context, contextTokensMax: context, windowMax: count });
  },
  async flags(get) {
    const [metrics, slots] = await Promise.all([get('/metrics'), get('/slots')]);
    return [
      { flag: '--metrics', isOn: metrics !== undefined, gives: 'its queue' },
      { flag: '--slots', isOn: slots !== undefined, gives: 'the load and context of each slot' },
    ];
  },
  readTimings(answer) {
    const timings = objectOf(answer['timings']);
    const serviceMs = sum([asCount(timings['prompt_ms']), asCount(timings['predicted_ms'])]);
    return serviceMs === undefined ? {} : { serviceMs };
  },
  readUsage(answer) {
    const timings = objectOf(answer['timings']);
    const prompt = asCount(timings['prompt_n']);
    const output = asCount(timings['predicted_n']);
    if (prompt === undefined || output === undefined) return undefined;
    // `prompt_n` counts only computed tokens; those from the slot's cache are added.
    const cached = asCount(timings['cache_n']);
    return usageOf(prompt + (cached ?? 0), output, cached);
  },
};
