/** An engine of another pod. */
const engines = [{ url: 'http://vllm-0.vllm:8000', capacityTokens: 500_000 }];
const token = { name: 'maitred-secrets', key: 'admin-token' };
const watched = {
  config: { engines, admin: { host: '0.0.0.0', token: 'env:ADMIN_TOKEN' } },
  secretEnv: { ADMIN_TOKEN: token },
};
const prometheus = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }];

/** An engine beside the gateway, as in the README. */
export const BESIDE = {
  engine: {
    enabled: true,
    container: {
      image: 'vllm/vllm-openai:v0.11.0',
      args: ['--model', 'Qwen/Qwen3-8B', '--port', '8000'],
      resources: { limits: { 'nvidia.com/gpu': 1 } },
      startupProbe: { httpGet: { path: '/health', port: 8000 }, periodSeconds: 10, failureThreshold: 90 },
    },
  },
};

const fronting = (more: object) => ({ config: { engines, ...more } });
export const IN_FRONT = { config: { engines } };

export const WATCHED = {
  ...watched,
  networkPolicy: { admin: prometheus },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
};

/** Values that must render to objects that Kubernetes accepts, and to a configuration that the gateway accepts. */
export const ACCEPTED: Readonly<Record<string, object>> = {
  'engines by URL': IN_FRONT,
  'stand-in engines': { config: { embedded: 2 } },
  'an engine in the pod': BESIDE,
  'an engine in the pod on a port of its own': { engine: { ...BESIDE.engine, port: 9000, stopSeconds: 0 } },
  'secrets for keys and engines': {
    config: {
      engines: [{ url: 'https://engine.example', apiKey: 'env:ENGINE_KEY' }],
      auth: { keys: [{ tenant: 'research', sha256: 'env:RESEARCH_KEY_SHA256' }] },
    },
    secretEnv: { RESEARCH_KEY_SHA256: { name: 'keys', key: 'research' } },
    extraEnv: [{ name: 'ENGINE_KEY', valueFrom: { secretKeyRef: { name: 'engine', key: 'key' } } }],
  },
  'an admin listener on the network': watched,
  'admin paths on the clients’ listener': {
    config: { engines, admin: { port: null, token: 'env:ADMIN_TOKEN' } },
    secretEnv: { ADMIN_TOKEN: token },
    serviceMonitor: { enabled: true },
  },
  'a ServiceMonitor': WATCHED,
  'two replicas on purpose': {
    ...IN_FRONT,
    replicas: 2,
    independentReplicas: true,
    service: { sessionAffinity: 'ClientIP' },
    podDisruptionBudget: { minAvailable: '50%', maxUnavailable: null },
  },
  'three replicas that share their engines': {
    config: { engines, cluster: { url: 'rediss://valkey:6379', password: 'env:VALKEY_PASSWORD' } },
    secretEnv: { VALKEY_PASSWORD: { name: 'valkey', key: 'password' } },
    replicas: 3,
    podDisruptionBudget: { minAvailable: 2, maxUnavailable: null },
  },
  'numbers of every size': {
    config: {
      engines,
      limits: { bodyBytes: 33_554_432, programsMax: 10_000_000, queuedBytes: 8_589_934_592 },
      timeouts: { drainMs: 1_800_000.5 },
      policy: { msPerOutputToken: 1.5 },
    },
  },
  'nothing optional': {
    ...IN_FRONT,
    preStopSeconds: 0,
    podDisruptionBudget: { enabled: false },
    networkPolicy: { enabled: false },
    restartOnConfigChange: false,
    resources: null,
  },
  'everything optional': {
    ...WATCHED,
    nameOverride: 'gate',
    image: { digest: `sha256:${'0'.repeat(64)}` },
    imagePullSecrets: [{ name: 'registry' }],
    service: { type: 'LoadBalancer', port: 80, annotations: { a: 'b' } },
    adminService: { port: 80, annotations: { a: 'b' } },
    serviceAccountName: 'ours',
    networkPolicy: { clients: [{ podSelector: {} }], admin: prometheus, egress: [{ ports: [{ port: 8000 }] }] },
    terminationGracePeriodSeconds: 3600,
    strategy: { type: 'Recreate' },
    commonLabels: { team: 'serving', 'app.kubernetes.io/name': 'ours-is-kept' },
    podLabels: { team: 'pods' },
    podAnnotations: { a: 'b' },
    podSecurityContext: { fsGroup: 65_532 },
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [{ operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }],
    priorityClassName: 'high',
    runtimeClassName: 'gvisor',
    volumes: [{ name: 'data', emptyDir: {} }],
    volumeMounts: [{ name: 'data', mountPath: '/var/lib/maitred' }],
    extraObjects: [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-more' } },
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}-text"}',
    ],
  },
};

/** Values that must be refused, each with the key that the message must name. */
export const REFUSED: readonly (readonly [what: string, key: string, values: object])[] = [
  ['no engine', 'config.engines', {}],
  ['an unknown value', 'replicaCount', { ...IN_FRONT, replicaCount: 2 }],
  ['an unknown key of the configuration', 'polcy', fronting({ polcy: {} })],
  ['a number out of range', 'firstQuantumMs', fronting({ policy: { firstQuantumMs: 0 } })],
  ['a second replica by accident', 'independentReplicas', { ...IN_FRONT, replicas: 2 }],
  [
    'replicas that would share an engine that each has',
    'config.cluster.url',
    { ...BESIDE, replicas: 2, config: { cluster: { url: 'redis://valkey:6379' } } },
  ],
  ['a listener on loopback', 'config.listen', fronting({ listen: { host: '127.0.0.1' } })],
  ['a port by chance', 'config.listen', fronting({ listen: { port: 0 } })],
  ['an admin port by chance', 'config.admin.port', fronting({ admin: { port: 0 } })],
  ['no listener', 'config.listen', fronting({ listen: null })],
  ['two listeners on one port', 'config.admin.port', fronting({ admin: { port: 8080 } })],
  ['an open admin listener', 'config.admin.token', fronting({ admin: { host: '0.0.0.0' } })],
  ['a token in plain text', 'token', fronting({ admin: { token: 'correct-horse' } })],
  ['an engine’s key in plain text', 'apiKey', { config: { engines: [{ url: 'http://e', apiKey: 'sk-1' }] } }],
  ['a variable from nowhere', 'ADMIN_TOKEN', fronting({ admin: { token: 'env:ADMIN_TOKEN' } })],
  [
    'a variable that overrides the file',
    'extraEnv',
    { ...IN_FRONT, extraEnv: [{ name: 'MAITRED_TIMEOUTS_DRAIN_MS', value: '9' }] },
  ],
  ['a secret that does so', 'MAITRED_ADMIN_TOKEN', { ...IN_FRONT, secretEnv: { MAITRED_ADMIN_TOKEN: token } }],
  [
    'a grace period shorter than the drain',
    'terminationGracePeriodSeconds',
    { ...IN_FRONT, terminationGracePeriodSeconds: 600 },
  ],
  ['a ServiceMonitor of a loopback listener', 'config.admin.host', { ...IN_FRONT, serviceMonitor: { enabled: true } }],
  ['a ServiceMonitor that the network policy blocks', 'networkPolicy.admin', { ...WATCHED, networkPolicy: {} }],
  ['an engine in the pod without an image', 'engine.container.image', { engine: { enabled: true } }],
  [
    'a name for the engine’s container',
    'container',
    { engine: { enabled: true, container: { ...BESIDE.engine.container, name: 'vllm' } } },
  ],
  ['two disruption budgets', 'podDisruptionBudget', { ...IN_FRONT, podDisruptionBudget: { minAvailable: 1 } }],
  ['no disruption budget', 'podDisruptionBudget', { ...IN_FRONT, podDisruptionBudget: { maxUnavailable: null } }],
];
