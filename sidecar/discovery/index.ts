/**
 * Engines that come and go. Start with `source.ts` (the contract of a source), then `membership.ts` (which engines the
 * fleet shall have: the only way in for reload, operators and sources).
 *
 *   discovery.ts       the configured sources at work
 *   dns.ts, file.ts    two sources
 *   kubernetes.ts      the third: list and watch; with `cluster.ts` (credentials), `api-server.ts` (HTTP), `slices.ts`
 *                      (which endpoints count)
 */
export { Discovery, firstLook, type SourceState } from './discovery.js';
export { Membership } from './membership.js';
