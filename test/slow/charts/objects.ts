/** What the tests read of Kubernetes' objects; its own schemas check the rest. */
export interface KubeObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels: Record<string, string> };
}

interface Port {
  readonly name: string;
  readonly port: number;
  readonly targetPort: string;
}

interface ContainerPort {
  readonly name: string;
  readonly containerPort: number;
}

interface Probe {
  readonly httpGet: { readonly path: string };
}

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly ports: readonly ContainerPort[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly securityContext: object;
}

interface Pod {
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly [Container, ...Container[]];
  readonly volumes: readonly [{ readonly configMap: { readonly name: string } }];
}

interface Kinds {
  readonly ConfigMap: { readonly data: Readonly<Record<string, string>> };
  readonly Deployment: {
    readonly spec: {
      readonly replicas: number;
      readonly template: { readonly metadata: { readonly annotations: object }; readonly spec: Pod };
    };
  };
  readonly NetworkPolicy: {
    readonly spec: { readonly ingress: readonly { readonly ports: readonly Port[]; readonly from?: object }[] };
  };
  readonly PrometheusRule: { readonly spec: { readonly groups: readonly object[] } };
  readonly Service: { readonly spec: { readonly ports: readonly [Port] } };
  readonly ServiceMonitor: {
    readonly spec: {
      readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
      readonly endpoints: readonly [
        { readonly port: string; readonly authorization: { readonly credentials: object } },
      ];
    };
  };
}

export const all = <K extends keyof Kinds>(objects: readonly KubeObject[], kind: K) =>
  objects.filter((each): each is KubeObject & Kinds[K] => each.kind === kind);

/** The only object of a kind, or of that name. */
export function one<K extends keyof Kinds>(objects: readonly KubeObject[], kind: K, name?: string) {
  const found = all(objects, kind).filter(({ metadata }) => metadata.name === (name ?? metadata.name));
  if (found.length !== 1) throw new Error(`${found.length} objects of kind ${kind}`);
  return found[0]!;
}

export const podOf = (objects: readonly KubeObject[]) => one(objects, 'Deployment').spec.template.spec;
export const gatewayOf = (objects: readonly KubeObject[]) => podOf(objects).containers[0];
/** The configuration file of the gateway. */
export const fileIn = (objects: readonly KubeObject[]) =>
  one(objects, 'ConfigMap', podOf(objects).volumes[0].configMap.name).data['maitred.yaml']!;
