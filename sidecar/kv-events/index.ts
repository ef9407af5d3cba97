/**
 * Engines' reports about their KV caches: events of vLLM and SGLang over ZeroMQ. Start with `resident.ts` (what is counted),
 * then `batch.ts` (an event on the wire).
 *
 *   listener.ts   the socket that engines connect to, loaded only when on
 *   msgpack.ts    MessagePack, within bounds
 */
export { KvEvents, startKvEvents } from './listener.js';
export type { Resident } from './resident.js';
