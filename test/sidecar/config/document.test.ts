import { describe, expect, it } from 'vitest';
import { CONFIG_KEYS, SECRET_KEYS } from '../../../sidecar/config/keys.js';
import { configSchema } from '../../../sidecar/config/index.js';
import { CHART_SCHEMA, renderChartSchema } from '../../support/chart-schema.js';
import { renderConfigDocument } from '../../support/config-document.js';
import { ROOT } from '../../support/tree.js';

describe('docs/CONFIG.md', () => {
  it('is what the schema says (npm run docs writes it anew)', async () => {
    await expect(renderConfigDocument()).toMatchFileSnapshot(`${ROOT}docs/CONFIG.md`);
  });
});

describe('the chart’s schema of values', () => {
  it('takes the configuration that the schema takes (npm run docs writes it anew)', async () => {
    await expect(renderChartSchema()).toMatchFileSnapshot(`${ROOT}${CHART_SCHEMA}`);
  });
});

describe('keys', () => {
  it('are every leaf of the configuration', () => {
    const leaves = (value: unknown, path: string[]): string[] =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
        ? Object.entries(value).flatMap(([name, child]) => leaves(child, [...path, name]))
        : [path.join('.')];
    const known = CONFIG_KEYS.map(({ path }) => path).filter((path) => !path.includes('[]'));
    expect(leaves(configSchema.parse({}), []).toSorted()).toEqual(known.toSorted());
  });

  it('have variables of different names', () => {
    const variables = CONFIG_KEYS.flatMap(({ env }) => env ?? []);
    expect(new Set(variables).size).toBe(variables.length);
  });

  it('know which are secret', () => {
    expect(SECRET_KEYS.map(({ path }) => path)).toEqual([
      'admin.token',
      'engines[].apiKey',
      'discovery[].apiKey',
      'cluster.password',
      'auth.keys[].sha256',
    ]);
  });
});
