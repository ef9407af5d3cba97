import { lookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { LoadError } from './load.js';

/** Addresses that only the machine itself or a privately owned network can reach; unspecified ones mean the machine. */
const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['0.0.0.0', 32],
] as const)
  PRIVATE.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  PRIVATE.addSubnet(network, prefix, 'ipv6');

/** An IPv4 address is also recognised in its IPv6 form. */
export function isPrivate(address: string): boolean {
  const [plain = ''] = address.split('%', 1);
  const family = isIP(plain);
  return family > 0 && PRIVATE.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * Looks up a host whose addresses must all be private. Returns a lookup pinned to these, since a name may later resolve
 * to another machine.
 * @throws LoadError `unreachable` for a name without addresses; `not_private`
 */
export async function privateLookup(url: URL): Promise<LookupFunction> {
  const found = (await privateAddresses(url)).map((address) => ({ address, family: isIP(address) }));
  return (_, options, callback) => {
    if (options.all === true) callback(null, found);
    else callback(null, found[0]?.address ?? '', found[0]?.family);
  };
}

async function privateAddresses(url: URL): Promise<readonly string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const found =
    isIP(host) > 0
      ? [{ address: host }]
      : await lookup(host, { all: true }).catch((error: unknown) => {
          throw new LoadError('unreachable', `${url.origin} cannot be reached: ${error instanceof Error ? error.message : String(error)}`); // prettier-ignore
        });
  const addresses = found.map(({ address }) => address);
  const foreign = addresses.find((address) => !isPrivate(address));
  if (addresses.length > 0 && foreign === undefined) return addresses;
  throw new LoadError(
    'not_private',
    `${url.origin} is not on this machine or a private network${foreign === undefined || foreign === host ? '' : ` (${foreign})`}; add --i-own-this-target if it is yours`,
  );
}
