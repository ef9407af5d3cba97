/**
 * Engines that come and go. `dns.ts` asks a name for them, `discovery.ts` runs the configured names, and `membership.ts`
 * says which engines the fleet shall have: the only way in for reload, operators and sources.
 */
export { Discovery, type SourceState } from './discovery.js';
export { lookUp } from './dns.js';
export { Membership } from './membership.js';
