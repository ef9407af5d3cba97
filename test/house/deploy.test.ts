import { describe, expect, it } from 'vitest';
import { CHART_SCHEMA, renderChartSchema } from '../support/chart-schema.js';
import { ROOT } from '../support/tree.js';

describe('the chart', () => {
  it('accepts the configuration that the gateway accepts (npm run docs writes it anew)', async () => {
    await expect(await renderChartSchema()).toMatchFileSnapshot(`${ROOT}${CHART_SCHEMA}`);
  });
});
