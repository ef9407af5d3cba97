import { describe, expect, it } from 'vitest';
import { ACCEPTED } from './cases.js';
import { CHART, NAMESPACE, helm, withoutHelm } from './helm.js';

const KUBECONFIG = process.env['TEST_KUBECONFIG'];
const lacking =
  withoutHelm ?? (KUBECONFIG === undefined ? 'TEST_KUBECONFIG names no cluster to install into' : undefined);

/** Installed one over the other: a selector that a value changes would be refused. */
const CASES = Object.entries(ACCEPTED).filter(([, values]) => !('serviceMonitor' in values));

describe.skipIf(lacking !== undefined)(`an API server${lacking ? ` (skipped: ${lacking})` : ''}`, () => {
  const flags = ['--namespace', NAMESPACE, '--kubeconfig', KUBECONFIG ?? ''];

  it.each(CASES)('takes the chart with %s', (_, values) => {
    const result = helm(
      ['upgrade', '--install', 'maitred', CHART, ...flags, '--create-namespace', '--values', '-'],
      values,
    );
    expect(result).toMatchObject({ status: 0, stderr: '' });
  });

  it('is left as it was', () => {
    expect(helm(['uninstall', 'maitred', ...flags])).toMatchObject({ status: 0 });
  });
});
