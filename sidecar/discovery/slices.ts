import { z } from 'zod';

/** The part of a Kubernetes EndpointSlice that matters here. Go writes empty lists as null. */
export const sliceSchema = z.object({
  metadata: z.object({ name: z.string(), resourceVersion: z.string() }),
  addressType: z.string(),
  endpoints: z
    .array(
      z.object({
        addresses: z.array(z.string()).min(1),
        conditions: z
          .object({
            ready: z.boolean().nullish(),
            serving: z.boolean().nullish(),
            terminating: z.boolean().nullish(),
          })
          .nullish(),
        targetRef: z.object({ kind: z.string().nullish(), name: z.string().nullish() }).nullish(),
      }),
    )
    .nullish(),
  ports: z
    .array(z.object({ name: z.string().nullish(), port: z.int().nullish(), protocol: z.string().nullish() }))
    .nullish(),
});

export type Slice = z.output<typeof sliceSchema>;

export interface Endpoint {
  /** As it stands in a URL, with its port. */
  readonly host: string;
  /** Undefined: no pod stands behind it. */
  readonly pod: string | undefined;
}

interface Candidate extends Endpoint {
  readonly family: Slice['addressType'];
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
}

/**
 * The endpoints of one Service. While none is ready, those that are shutting down and still serve count, as for
 * Kubernetes' own proxy.
 * @param port by name or number; undefined: the only one
 * @throws Error if no slice has the port
 */
export function endpointsOf(
  slices: Iterable<Slice>,
  port: string | number | undefined,
): { readonly endpoints: readonly Endpoint[]; readonly leaving: readonly Endpoint[] } {
  const all = candidatesIn(slices, port);
  const ready = all.filter((one) => one.ready && !one.terminating);
  const endpoints = ready.length > 0 ? ready : all.filter((one) => one.serving && one.terminating);
  return { endpoints, leaving: all.filter((one) => one.terminating && !endpoints.includes(one)) };
}

/** One candidate for each pod, or for each address without one. */
function candidatesIn(slices: Iterable<Slice>, port: string | number | undefined): readonly Candidate[] {
  const found = new Map<string, Candidate>();
  let refusal: string | undefined;
  for (const slice of [...slices].sort(byFamilyAndName)) {
    if (!slice.endpoints?.length) continue;
    const number = portIn(slice, port);
    if (typeof number === 'string') refusal = number;
    else for (const endpoint of slice.endpoints) add(found, candidateOf(slice, endpoint, number));
  }
  if (found.size === 0 && refusal !== undefined) throw new Error(refusal);
  return [...found.values()];
}

/**
 * A pod of a dual-stack Service stands in slices of both families: the first counts. One whose slice is being rewritten
 * stands in two of one family: the ready one counts.
 */
function add(found: Map<string, Candidate>, candidate: Candidate): void {
  const key = candidate.pod ?? candidate.host;
  const known = found.get(key);
  if (known === undefined || (known.family === candidate.family && !known.ready)) found.set(key, candidate);
}

function candidateOf(
  { addressType }: Slice,
  { addresses, conditions, targetRef }: NonNullable<Slice['endpoints']>[number],
  port: number,
): Candidate {
  const [address = ''] = addresses;
  // Absent conditions are unknown ones, and count as for a healthy endpoint.
  const ready = conditions?.ready ?? true;
  return {
    family: addressType,
    host: `${addressType === 'IPv6' ? `[${address}]` : address}:${port}`,
    pod: targetRef?.kind === 'Pod' ? (targetRef.name ?? undefined) : undefined,
    ready,
    serving: conditions?.serving ?? ready,
    terminating: conditions?.terminating ?? false,
  };
}

/** The number of the wanted port, or why there is none. */
function portIn({ ports }: Slice, wanted: string | number | undefined): number | string {
  // Without ports, a slice is of all ports.
  if (!ports?.length && typeof wanted === 'number') return wanted;
  const open = (ports ?? []).flatMap(({ name, port, protocol }) =>
    typeof port === 'number' && (protocol ?? 'TCP') === 'TCP' ? [{ name: name ?? '', port }] : [],
  );
  const matching = wanted === undefined ? open : open.filter(({ name, port }) => wanted === name || wanted === port);
  const [first] = matching;
  if (first !== undefined && matching.length === 1) return first.port;
  const there = open.map(({ name, port }) => (name === '' ? String(port) : `${name} (${port})`)).join(', ') || 'none';
  return wanted === undefined ? `set port to one of: ${there}` : `there is no port ${wanted}, only: ${there}`;
}

function byFamilyAndName(a: Slice, b: Slice): number {
  return compare(a.addressType, b.addressType) || compare(a.metadata.name, b.metadata.name);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
