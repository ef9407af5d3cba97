import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { format } from 'prettier';
import { STEP_TABLES, withTable } from '../../bench/trust/page.js';
import { KERNELS } from '../../bench/trust/published.js';
import { decodeErrors, prefillErrors, type StepError } from '../../bench/trust/steps.js';
import { PRESETS, type PresetName } from '../../sim/index.js';
import { ROOT } from '../support/tree.js';

const at = (preset: string, efficiency = '') => PRESETS[`${preset}${efficiency}` as PresetName];
const meanOf = (errors: readonly StepError[]) =>
  errors.reduce((sum, { error }) => sum + Math.abs(error), 0) / errors.length;

describe.each(KERNELS)('steps of $preset', (published) => {
  const { preset } = published;

  it('take what the kernels take at the high efficiency', () => {
    for (const errors of [
      prefillErrors(at(preset, ':high'), published),
      decodeErrors(at(preset, ':high'), published),
    ]) {
      expect(meanOf(errors)).toBeLessThan(0.1);
      for (const { label, error } of errors) expect(Math.abs(error), label).toBeLessThan(0.16);
    }
  });

  it('decode by default within 15 % of the kernels, and prefill more slowly, as whole servers do', () => {
    for (const { label, error } of decodeErrors(at(preset), published))
      expect(Math.abs(error), label).toBeLessThan(0.16);
    const [low, middle, high] = [':low', '', ':high'].map((efficiency) =>
      prefillErrors(at(preset, efficiency), published),
    );
    published.prefill.forEach(([tokens], row) => {
      expect(low![row]!.error, String(tokens)).toBeGreaterThan(middle![row]!.error);
      expect(middle![row]!.error, String(tokens)).toBeGreaterThan(high![row]!.error);
    });
  });
});

it('docs/TRUST.md has the errors of the present presets (npm run trust writes them)', async () => {
  const page = readFileSync(`${ROOT}docs/TRUST.md`, 'utf8');
  const written = Object.entries(STEP_TABLES).reduce((text, [name, make]) => withTable(text, name, make()), page);
  expect(page).toBe(await format(written, { parser: 'markdown', printWidth: 120 }));
});
