import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { configSchema } from '../../sidecar/config/index.js';
import { dashboardExpressions, readAlerts, readDashboard } from '../support/deployed.js';
import { folderOf } from '../support/folder.js';
import { documentedExpressions, documentedMetrics, unknownIn } from '../support/promql.js';
import { NO_PROMTOOL, asRules, hasPromtool, promtool } from '../support/promtool.js';
import { ROOT, readText } from '../support/tree.js';

const metrics = documentedMetrics();
const dashboard = readDashboard();
const alerts = readAlerts();
const expressions = [
  ...documentedExpressions(),
  ...dashboardExpressions(dashboard),
  ...alerts.map(({ alert, expr }) => ({ title: alert, expr })),
];

describe('every expression', () => {
  it('is about series and labels that there are', () => {
    const unknown = expressions.map(({ title, expr }) => ({ title, unknown: unknownIn(expr, metrics) }));
    expect(unknown.filter((one) => one.unknown.length > 0)).toEqual([]);
  });

  it.each([
    ['sum(maitred_nothing)', ['maitred_nothing']],
    ['maitred_queue_seconds', ['maitred_queue_seconds']],
    ['rate(maitred_queue_seconds_bucket{tenant="a"}[5m])', ['tenant']],
    ['sum by (le, level) (rate(maitred_queue_seconds_sum[5m]))', ['le']],
    ['maitred_programs and on (job, instnce) up', ['instnce']],
  ])('such as %s would be noticed', (expr, unknown) => {
    expect(unknownIn(expr, metrics)).toEqual(unknown);
  });

  it.skipIf(!hasPromtool)(`is valid; ${NO_PROMTOOL}`, () => {
    const file = join(folderOf({}), 'rules.yml');
    writeFileSync(file, asRules(expressions.map(({ expr }) => expr)));
    expect(promtool(['check', 'rules', file])).toBe('');
  });
});

describe('the alerts', () => {
  it('say what is wrong, and where to read what to do', () => {
    const anchorsOf = (file: string) =>
      readText(file)
        .split('\n')
        .filter((line) => /^##+ /.test(line))
        .map((line) =>
          line
            .replace(/^#+ /, '')
            .toLowerCase()
            .replaceAll(/[^\w\s-]/g, '')
            .replaceAll(' ', '-'),
        );
    for (const { annotations, labels } of alerts) {
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
      expect(Object.keys(annotations)).toEqual(['summary', 'description', 'action', 'runbook']);
      const [file = '', anchor] = annotations.runbook.split('#');
      expect(anchorsOf(file)).toContain(anchor);
    }
  });

  it('each have a test that fires them', () => {
    const tested = readText('deploy/prometheus/alerts.test.yml');
    expect(alerts.map(({ alert }) => alert).filter((name) => !tested.includes(`alertname="${name}"`))).toEqual([]);
  });

  it.skipIf(!hasPromtool)(`are valid rules; ${NO_PROMTOOL}`, () => {
    expect(promtool(['check', 'rules', `${ROOT}deploy/prometheus/alerts.yml`])).toBe('');
  });
});

describe('the recipe for engines that scale from zero', () => {
  const { spec } = parse(readText('deploy/keda/scaled-object.yaml')) as {
    spec: { triggers: { metadata: { query: string } }[] };
  };
  const [{ metadata }] = spec.triggers as [(typeof spec.triggers)[0]];
  const ofOneModel = /# (\(sum\(maitred_model.*)/.exec(readText('deploy/keda/scaled-object.yaml'))?.[1] ?? '';

  it('counts calls by series that there are, and never takes their absence for no calls', () => {
    for (const query of [metadata.query, ofOneModel]) expect(unknownIn(query, metrics)).toEqual([]);
    expect(metadata).toMatchObject({ ignoreNullValues: 'false' });
  });

  it.skipIf(!hasPromtool)(`counts calls that end between scrapes; ${NO_PROMTOOL}`, () => {
    const at = (expr: string, eval_time: string, ...values: number[]) => ({
      expr,
      eval_time,
      exp_samples: values.map((value) => ({ labels: '{}', value })),
    });
    const input_series = [
      { series: 'maitred_calls_in_system{instance="a"}', values: '0x20 30 0x20 _x20' },
      { series: 'maitred_calls_accepted_total{instance="a"}', values: '0x10 1x9 31x21 _x20' },
      // There are none before the first call for the model.
      { series: 'maitred_model_calls_accepted_total{instance="a", model="NAME"}', values: '_x5 0x5 1x9 31x21 _x20' },
      { series: 'maitred_model_calls_ended_total{instance="a", model="NAME"}', values: '_x5 0x5 1x10 31x20 _x20' },
    ];
    const promql_expr_test = [metadata.query, ofOneModel].flatMap((expr) => [
      at(expr, '45s', 0),
      at(expr, '2m', 0),
      at(expr, '3m', 1),
      at(expr, '5m15s', 31),
      at(expr, '8m', 0),
      at(expr, '16m'),
    ]);
    const file = join(folderOf({}), 'recipe.yml');
    writeFileSync(file, stringify({ tests: [{ interval: '15s', input_series, promql_expr_test }] }));
    expect(promtool(['test', 'rules', file])).toBe('');
  });

  it('has settings of the gateway that let calls wait for an engine', () => {
    const blocks = [...readText('docs/OPERATIONS.md').matchAll(/```yaml\n(.*?)```/gs)].map(
      ([, text = '']) => parse(text) as Record<string, unknown>,
    );
    const settings = blocks.find(({ timeouts }) => (timeouts as { noEngineMs?: number } | undefined)?.noEngineMs);
    const { timeouts, discovery } = configSchema.parse(settings);
    expect(timeouts.noEngineMs).toBeLessThan(timeouts.queueMs);
    expect(discovery.map(({ models }) => models)).toEqual([['llama-3.1-8b']]);
  });
});

describe('the dashboard', () => {
  const { panels, templating } = dashboard;

  it('takes its data source from its variable, so that it imports as it is', () => {
    expect(templating.list[0]).toMatchObject({ name: 'datasource', type: 'datasource' });
    const uids = panels.flatMap(({ datasource, targets = [] }) => [
      datasource,
      ...targets.map((target) => target.datasource),
    ]);
    expect(new Set(uids.flatMap((one) => one?.uid ?? []))).toEqual(new Set(['${datasource}']));
    expect(readText('deploy/grafana/maitred.json')).not.toContain('__inputs');
  });

  it('uses every variable, and only those', () => {
    const used = new Set(
      panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => expr.match(/\$(?!__)\w+/g) ?? [])),
    );
    expect([...used].toSorted()).toEqual(
      templating.list
        .slice(1)
        .map(({ name }) => `$${name}`)
        .toSorted(),
    );
    for (const { definition = '' } of templating.list.slice(1)) {
      const [, selector = ''] = /^label_values\((.+), \w+\)$/.exec(definition) ?? [];
      expect(unknownIn(selector, metrics)).toEqual([]);
    }
  });

  it('draws rates and present values on axes of their own', () => {
    const axes = panels.map(({ title, fieldConfig, targets = [] }) => {
      const own = fieldConfig?.overrides.map(({ matcher }) => matcher.options) ?? [];
      const onOne = targets.filter(({ refId }) => !own.includes(refId));
      return { title, kinds: new Set(onOne.map(({ expr }) => /^(?!histogram_quantile).*\brate\(/.test(expr))).size };
    });
    expect(axes.filter(({ kinds }) => kinds > 1)).toEqual([]);
  });

  it('has panels with ids and places of their own, and says what each shows', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
    expect(panels.filter(({ type, description }) => type !== 'row' && description === undefined)).toEqual([]);
  });
});
