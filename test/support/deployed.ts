import { parse } from 'yaml';
import { readText } from './tree.js';

/** The dashboard and the alerts, as far as tests read them. */

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly fieldConfig?: { readonly overrides: readonly { readonly matcher: { readonly options: string } }[] };
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly datasource: { readonly uid: string };
  }[];
}

export interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly definition?: string }[];
  };
  readonly annotations: { readonly list: readonly { readonly expr?: string }[] };
}

export const readDashboard = (): Dashboard => JSON.parse(readText('deploy/grafana/maitred.json')) as Dashboard;

/** Every expression of the dashboard, with its variables replaced as Grafana would with "All" chosen. */
export function dashboardExpressions({ panels, annotations }: Dashboard): { title: string; expr: string }[] {
  const ofPanels = panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ refId, expr }) => ({ title: `${title} ${refId}`, expr })),
  );
  const ofAnnotations = annotations.list.flatMap(({ expr }) =>
    expr === undefined ? [] : [{ title: 'annotation', expr }],
  );
  return [...ofPanels, ...ofAnnotations].map(({ title, expr }) => ({ title, expr: filledIn(expr) }));
}

const filledIn = (expression: string): string =>
  expression
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$__range', '1h')
    .replaceAll(/\$(?:job|instance|engine|tenant)\b/g, '.*');

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<'summary' | 'description' | 'action' | 'runbook', string>>;
}

export function readAlerts(): Alert[] {
  const { groups } = parse(readText('deploy/prometheus/alerts.yml')) as { groups: { rules: Alert[] }[] };
  return groups.flatMap(({ rules }) => rules);
}
