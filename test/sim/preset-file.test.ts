import { describe, expect, it } from 'vitest';
import { choosePreset } from '../../cli/preset.js';
import { ConfigError } from '../../sidecar/config/index.js';
import { PRESET_NAMES, PRESETS } from '../../sim/index.js';
import { fileOf } from '../support/folder.js';
import { sim } from '../support/sim-command.js';
import { engine } from './client.js';

const text = (preset: object, more: object = {}) => JSON.stringify({ version: 1, preset, ...more });

const readPreset = (content: string) => choosePreset(fileOf('preset.json', content)).preset;

describe('a preset file', () => {
  it.each(PRESET_NAMES)('holds whatever %s does', (name) => {
    expect(readPreset(text(PRESETS[name], { fit: { medianError: 0.01 } }))).toEqual(PRESETS[name]);
  });

  it('is told of as not good enough where its fit is', async () => {
    const errorsWith = async (fit: object) => {
      const file = fileOf('preset.json', text(PRESETS['tiny-cpu'], { fit }));
      return (await sim('--workload', 'chat', '--rate', '1', '--programs', '1', '--policy', 'plas', '--preset', file))
        .errors;
    };
    expect(await errorsWith({ isGood: false })).toEqual([expect.stringContaining('preset.json')]);
    expect(await errorsWith({ isGood: true })).toEqual([]);
  });

  const tiny = PRESETS['tiny-cpu'];
  it.each([
    ['nothing', ''],
    ['half a file', text(tiny).slice(0, 100)],
    ['another version', text(tiny).replace('"version":1', '"version":2')],
    ['a preset alone', JSON.stringify(tiny)],
    ['an unknown field', text({ ...tiny, wieghtBytes: 1 })],
    ['no bandwidth', text({ ...tiny, bytesPerSecond: 0 })],
    ['a time below zero', text({ ...tiny, stepOverheadMs: -1 })],
    ['infinity', text(tiny).replace(/"flopsPerSecond":\d+/, '"flopsPerSecond":1e999')],
    ['half a slot', text({ ...tiny, slots: 0.5 })],
    ['more experts for a token than there are', text({ ...tiny, experts: { bytes: 1, total: 4, perToken: 5 } })],
  ])('is refused when it is %s', (_, wrong) => {
    expect(() => readPreset(wrong)).toThrow(ConfigError);
  });

  it('is told every field that is wrong with it, by its name', () => {
    const wrong = text({ ...tiny, model: undefined, wieghtBytes: 1, slots: 0.5 });
    for (const field of ['preset.model', 'preset.wieghtBytes', 'preset.slots'])
      expect(() => readPreset(wrong)).toThrow(field);
  });

  it('whose cache cannot hold two blocks is refused by an engine', async () => {
    await expect(engine({ preset: { ...tiny, kvTokens: 40 }, blockSize: 32 })).rejects.toThrow(TypeError);
  });
});
