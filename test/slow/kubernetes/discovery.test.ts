import { afterAll, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { configSchema } from '../../../sidecar/config/index.js';
import { watchKubernetes } from '../../../sidecar/discovery/kubernetes.js';
import { until } from '../../sidecar/gateway/world.js';
import { readText } from '../../support/tree.js';
import { ApiServer, LACKING, endServers } from './api-server.js';

afterAll(endServers);

/** The role that docs/OPERATIONS.md says is enough. */
function documentedRole(): object {
  const blocks = [...readText('docs/OPERATIONS.md').matchAll(/```yaml\n(.*?)```/gs)].map((match) => match[1]!);
  const found = blocks.flatMap((block) => parseAllDocuments(block).map((one) => one.toJS() as { kind?: string }));
  return found.find(({ kind }) => kind === 'Role')!;
}

const slice = (name: string, ...addresses: readonly string[]) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name, labels: { 'kubernetes.io/service-name': 'vllm' } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8000 }],
  endpoints: addresses.map((address) => ({
    addresses: [address],
    conditions: { ready: true },
    targetRef: { kind: 'Pod', name: `pod-${address.split('.')[3]!}`, namespace: 'llm' },
  })),
});

const SLICES = '/apis/discovery.k8s.io/v1/namespaces/llm/endpointslices';
const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/llm';

it.skipIf(LACKING !== undefined)(
  `follows a Service of a real API server${LACKING === undefined ? '' : `: ${LACKING}`}`,
  async () => {
    const server = await ApiServer.start();
    expect(await server.ask('POST', '/api/v1/namespaces', { metadata: { name: 'llm' } })).toBe(201);
    expect(await server.ask('POST', SLICES, slice('s1', '10.1.0.1', '10.1.0.2'))).toBe(201);
    const kubernetes = { namespace: 'llm', service: 'vllm' };
    const config = configSchema.parse({ discovery: [{ kubernetes }] }).discovery[0]!.kubernetes!;
    let ids: readonly string[] = [];
    const reasons: string[] = [];
    const source = watchKubernetes(
      config,
      { kind: 'vllm' },
      {
        found: (engines) => (ids = engines.map(({ id = '' }) => id)),
        failed: (reason) => reasons.push(reason),
        setTimer: (fn, ms) => {
          const timer = setTimeout(fn, ms);
          return () => clearTimeout(timer);
        },
      },
      server.cluster,
    );
    try {
      const shows = (...pods: readonly number[]) =>
        until(() => ids.join() === pods.map((pod) => `pod-${pod}.llm`).join(), 60_000);
      await until(() => reasons.some((reason) => reason.includes('403')), 60_000);
      expect(await server.ask('POST', `${RBAC}/roles`, documentedRole())).toBe(201);
      const binding = {
        metadata: { name: 'maitred' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'maitred' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'maitred' }],
      };
      expect(await server.ask('POST', `${RBAC}/rolebindings`, binding)).toBe(201);
      await shows(1, 2);
      expect(await server.ask('POST', SLICES, slice('s2', '10.1.0.3'))).toBe(201);
      await shows(1, 2, 3);
      expect(await server.ask('PUT', `${SLICES}/s1`, slice('s1', '10.1.0.2'))).toBe(200);
      await shows(2, 3);
      await server.kill();
      reasons.length = 0;
      await until(() => reasons.length > 0, 60_000);
      await server.run();
      expect(await server.ask('DELETE', `${SLICES}/s2`)).toBe(200);
      await shows(2);
    } finally {
      source.close();
    }
  },
);
