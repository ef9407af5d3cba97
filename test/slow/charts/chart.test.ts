import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderOf } from '../../support/folder.js';
import { Maitred } from '../../support/maitred.js';
import { readText } from '../../support/tree.js';
import { ACCEPTED, BESIDE, IN_FRONT, REFUSED, WATCHED } from './cases.js';
import { CHART, NEWEST, helm, objectsOf, template, withoutHelm } from './helm.js';
import { all, gatewayOf, one, podOf } from './objects.js';
import { configIn, environmentOf } from './pod.js';
import { brokenBySchema, withoutSchemas } from './schemas.js';

/** The oldest release that the case needs, and the newest that the schemas know. */
const releasesFor = (values: object) => ['engine' in values ? '1.29.0' : '1.27.0', NEWEST];

describe.skipIf(withoutHelm !== undefined)(`the chart${withoutHelm ? ` (skipped: ${withoutHelm})` : ''}`, () => {
  describe.each(Object.entries(ACCEPTED))('with %s', (_, values) => {
    it('passes helm’s own checks', () => {
      expect(helm(['lint', '--strict', '--kube-version', NEWEST, CHART, '--values', '-'], values)).toMatchObject({
        status: 0,
      });
    });

    it('renders a configuration that the gateway accepts', () => {
      expect(configIn(environmentOf(objectsOf(values)))).toMatchObject({ listen: { host: '0.0.0.0', port: 8080 } });
    });

    it.skipIf(withoutSchemas !== undefined)(
      `renders objects by Kubernetes’ own schemas${withoutSchemas ? ` (skipped: ${withoutSchemas})` : ''}`,
      () => {
        const { stdout } = template(values);
        expect(releasesFor(values).map((release) => brokenBySchema(stdout, release))).toEqual(['', '']);
      },
    );
  });

  it.each(REFUSED)('refuses %s, and names %s', (_, key, values) => {
    const { status, stderr } = template(values);
    expect(status).not.toBe(0);
    expect(stderr).toContain(key);
  });

  it('refuses an engine in the pod where its order cannot be kept', () => {
    expect(template(BESIDE, '--kube-version', '1.28.0').stderr).toContain('1.29');
    expect(template(BESIDE, '--kube-version', '1.29.0').status).toBe(0);
  });

  it('renders the values of its README, one after the other', () => {
    const blocks = [...readText('charts/maitred/README.md').matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text!);
    const values = blocks.filter((text) => /^(image|config|networkPolicy):/m.test(text) && !text.includes('replicas:'));
    const files = Object.fromEntries(values.map((text, index) => [`${index}.yaml`, text]));
    const folder = folderOf(files);
    expect(values.length).toBeGreaterThan(4);
    const flags = Object.keys(files).flatMap((name) => ['--values', join(folder, name)]);
    const pod = podOf(objectsOf({}, ...flags));
    expect(pod.containers[0].env.map(({ name }) => name)).toContain('ADMIN_TOKEN');
    expect(pod.initContainers?.map(({ name }) => name)).toEqual(['engine']);
    // An engine in the pod cannot be shared.
    const replicas = folderOf({ 'values.yaml': blocks.find((text) => text.includes('replicas:'))! });
    expect(one(objectsOf(IN_FRONT, '--values', join(replicas, 'values.yaml')), 'Deployment').spec.replicas).toBe(3);
  });

  it('gives a pod longer than its drain takes', () => {
    const graceOf = (values: object) => podOf(objectsOf(values)).terminationGracePeriodSeconds;
    const hour = { ...IN_FRONT.config, timeouts: { drainMs: 3_600_000 } };
    expect(graceOf(IN_FRONT)).toBe(5 + 600 + 10);
    expect(graceOf({ config: hour, preStopSeconds: 20 })).toBe(20 + 3600 + 10);
    expect(graceOf({ ...BESIDE, config: { timeouts: { drainMs: 0 } } })).toBe(5 + 0 + 10 + 30);
    expect(graceOf({ config: { ...IN_FRONT.config, timeouts: null } })).toBe(5 + 600 + 10);
  });

  it('ends an engine in the pod after the gateway, and starts it before', () => {
    const pod = podOf(objectsOf(BESIDE));
    expect(pod.initContainers).toEqual([{ name: 'engine', restartPolicy: 'Always', ...BESIDE.engine.container }]);
    expect(pod.containers.map(({ name }) => name)).toEqual(['maitred']);
  });

  it('runs without rights', () => {
    expect(gatewayOf(objectsOf(IN_FRONT)).securityContext).toEqual({
      runAsNonRoot: true,
      runAsUser: 65_532,
      runAsGroup: 65_532,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    });
  });

  it('has no token for the API server', () => {
    expect(podOf(objectsOf(IN_FRONT)).automountServiceAccountToken).toBe(false);
  });

  it('tells replicas that share their engines how many they are, unless the configuration does', () => {
    const shared = ACCEPTED['three replicas that share their engines'] as { config: { cluster: object } };
    const cluster = { ...shared.config.cluster, gateways: 5 };
    const told = { ...shared, config: { ...shared.config, cluster } };
    expect(configIn(environmentOf(objectsOf(shared)))).toMatchObject({ cluster: { gateways: 3 } });
    expect(configIn(environmentOf(objectsOf(told)))).toMatchObject({ cluster: { gateways: 5 } });
  });

  it('restarts the pods when the configuration changes, unless that is off', () => {
    const annotationsOf = (more: object) =>
      [IN_FRONT.config, { ...IN_FRONT.config, log: { level: 'debug' } }].map((config) =>
        JSON.stringify(one(objectsOf({ config, ...more }), 'Deployment').spec.template.metadata.annotations),
      );
    expect(new Set(annotationsOf({})).size).toBe(2);
    expect(new Set(annotationsOf({ restartOnConfigChange: false })).size).toBe(1);
  });

  it('opens the admin listener to named peers alone, and an engine’s port to nobody', () => {
    const openOf = (values: object) =>
      one(objectsOf(values), 'NetworkPolicy').spec.ingress.map(({ ports, from }) => [
        ports.map(({ port }) => port),
        from,
      ]);
    expect(openOf(BESIDE)).toEqual([[[8080], undefined]]);
    expect(openOf({ ...IN_FRONT, networkPolicy: { admin: WATCHED.networkPolicy.admin } })).toEqual([
      [[8080], undefined],
    ]);
    expect(openOf(WATCHED)).toEqual([
      [[8080], undefined],
      [[9090], WATCHED.networkPolicy.admin],
    ]);
  });

  it.each([
    ['admin', WATCHED],
    ['gateway', ACCEPTED['admin paths on the clients’ listener']!],
  ])('lets Prometheus find the %s Service and its token', (component, values) => {
    const objects = objectsOf(values);
    const { selector, endpoints } = one(objects, 'ServiceMonitor').spec;
    const services = all(objects, 'Service').filter(({ metadata }) =>
      Object.entries(selector.matchLabels).every(([name, value]) => metadata.labels[name] === value),
    );
    expect(services.map(({ metadata }) => metadata.labels['app.kubernetes.io/component'])).toEqual([component]);
    const [port] = services[0]!.spec.ports;
    expect(endpoints[0].port).toBe(port.name);
    expect(gatewayOf(objects).ports.map(({ name }) => name)).toContain(port.targetPort);
    expect(endpoints[0].authorization.credentials).toEqual({ name: 'maitred-secrets', key: 'admin-token' });
  });

  it('starts: its probes and its metrics answer, and it ends at SIGTERM', async () => {
    const objects = objectsOf({ config: { embedded: 1 } });
    const { startupProbe, livenessProbe, readinessProbe } = gatewayOf(objects);
    const ports = { MAITRED_LISTEN_PORT: '0', MAITRED_ADMIN_PORT: '0' };
    const maitred = new Maitred(gatewayOf(objects).args, { ...environmentOf(objects), ...ports });
    const { url, admin_url: adminUrl } = (await maitred.logged('listening')) as { url: string; admin_url: string };
    const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => `${url}${httpGet.path}`);
    for (const each of [...paths, `${adminUrl}/metrics`]) expect((await fetch(each)).status, each).toBe(200);
    maitred.kill('SIGTERM');
    expect(await maitred.ended).toBe(0);
  });

  it('brings its alerts and its dashboard unchanged', () => {
    const objects = objectsOf({ ...IN_FRONT, prometheusRule: { enabled: true }, grafanaDashboard: { enabled: true } });
    expect(one(objects, 'PrometheusRule').spec.groups.length).toBeGreaterThan(0);
    const dashboard = one(objects, 'ConfigMap', 'maitred-dashboard').data['maitred.json']!;
    expect(JSON.parse(dashboard)).toEqual(JSON.parse(readText('deploy/grafana/maitred.json')));
  });

  it('keeps its own labels, and adds those of the values', () => {
    const objects = objectsOf(ACCEPTED['everything optional']!);
    for (const { kind, metadata } of objects.filter(({ metadata }) => /-gate$|-gate-admin$/.test(metadata.name)))
      expect(metadata.labels, kind).toMatchObject({ team: 'serving', 'app.kubernetes.io/name': 'gate' });
  });
});
