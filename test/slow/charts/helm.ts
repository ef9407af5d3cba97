import { spawnSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../../support/tree.js';
import type { KubeObject } from './objects.js';

export const CHART = `${ROOT}charts/maitred`;
/** Namespace of every release here. */
const NAMESPACE = 'agents';

export const NEWEST = '1.37.0';

const HELM = process.env['TEST_HELM'] ?? 'helm';
/** Why these tests are skipped; undefined if they are not. */
export const withoutHelm =
  spawnSync(HELM, ['version']).status === 0 ? undefined : 'no helm in the PATH, and TEST_HELM names none';

/** Runs helm with values on its standard input. */
export function helm(args: readonly string[], values: object = {}) {
  const { status, stdout, stderr } = spawnSync(HELM, args, { input: JSON.stringify(values), encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** Renders the chart for the newest Kubernetes that the schemas know, unless a flag says otherwise. */
export const template = (values: object, ...flags: string[]) =>
  helm(
    ['template', 'maitred', CHART, '--namespace', NAMESPACE, '--kube-version', NEWEST, '--values', '-', ...flags],
    values,
  );

/** The release's objects. @throws Error with helm's message */
export function objectsOf(values: object, ...flags: string[]): readonly KubeObject[] {
  const { status, stdout, stderr } = template(values, ...flags);
  if (status !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0]!;
    return (document.toJS() as KubeObject | null) ?? [];
  });
}
