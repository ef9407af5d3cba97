/**
 * Engines that come and go. Start with `source.ts` (the contract of a source), then `membership.ts` (which engines the
 * fleet shall have: the only way in for reload, operators and sources).
 *
 *   discovery.ts       the configured sources at work
 *   dns.ts             one source
 *   kubernetes.ts      the other: list and watch; with `cluster.ts` (credentials), `api-server.ts` (HTTP), `slices.ts`
 *                      (which endpoints count)
 */
export { Discovery, ENGINES_MAX, firstLook, tooMany, type SourceState } from './discovery.js';
export { Membership } from './membership.js';
