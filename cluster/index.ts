/** Many gateways, one schedule: the shared state, and each gateway's side of it. */
export { EngineLedger, nextLevel, unusedSlots, type Holding } from './engine-ledger.js';
export { Member } from './member.js';
export { gatewayId, type EngineClaim, type EnginePart, type GatewayId } from './messages.js';
export { Participant, type Clock } from './participant.js';
export { REDIS_TIMES, type RedisOptions } from './redis/options.js';
export { RedisState } from './redis/redis-state.js';
export { Rounds } from './rounds.js';
export type { Answer, SharedListener, SharedState, StoreState, Taken } from './shared-state.js';
