import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noRedis } from '../../../processes/redis.js';
import { dashboardExpressions, readAlerts, readDashboard } from '../../support/deployed.js';
import { selectorsOf } from '../../support/promql.js';
import { NO_PROMTOOL, hasPromtool, promtool } from '../../support/promtool.js';
import { ROOT } from '../../support/tree.js';
import { Stage, comesTrue } from './stage.js';

/** Long enough for rates over a minute at one scrape a second. */
const LOAD_MS = 45_000;
const hasServers = spawnSync('prometheus', ['--version']).status === 0 && noRedis === undefined;

it.skipIf(!hasPromtool)(`the alerts fire when they should, and only then; ${NO_PROMTOOL}`, () => {
  expect(promtool(['test', 'rules', `${ROOT}deploy/prometheus/alerts.test.yml`])).toBe('');
});

describe.skipIf(!hasServers)(
  'with a Prometheus (Debian: prometheus) that scrapes a gateway with a redis-server under load',
  () => {
    const stage = new Stage();
    beforeAll(async () => {
      await stage.open();
      await stage.load(LOAD_MS);
    });
    afterAll(() => stage.close());

    it('every expression of the dashboard has a number', async () => {
      const empty: string[] = [];
      for (const { title, expr } of dashboardExpressions(readDashboard())) {
        // The annotation marks starts, and there was only one; the first estimate takes minutes.
        if (/^(annotation|Does it help)/.test(title)) continue;
        const samples = await stage.query(expr);
        if (!samples.some(({ value }) => Number.isFinite(Number(value[1])))) empty.push(`${title}: ${expr}`);
      }
      expect(empty).toEqual([]);
    });

    it('every alert is evaluated without an error, on series that are there, and none fires', async () => {
      expect(await comesTrue(async () => (await stage.rules()).every(({ health }) => health === 'ok'), 10_000)).toBe(
        true,
      );
      const rules = await stage.rules();
      expect(rules.map(({ name }) => name)).toEqual(readAlerts().map(({ alert }) => alert));
      expect(rules.filter(({ state }) => state === 'firing')).toEqual([]);
      const names = new Set(readAlerts().flatMap(({ expr }) => selectorsOf(expr).map(({ name }) => name)));
      for (const name of names) expect([name, (await stage.query(name)).length > 0]).toEqual([name, true]);
    });

    it('what is scraped pleases promtool', async () => {
      expect(promtool(['check', 'metrics'], await stage.scrape())).toBe('');
    });

    it('an alert is on its way when no engine is left', async () => {
      await stage.stopEngines();
      const isPending = async () =>
        (await stage.rules()).some(({ name, state }) => name === 'MaitredNoEngine' && state !== 'inactive');
      expect(await comesTrue(isPending, 60_000)).toBe(true);
    });
  },
);
