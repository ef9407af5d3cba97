import type { RetentionPolicy } from './retention.js';

/** Holds nothing: contexts stay for as long as the engine's own order, least recently used, keeps them. */
export const lruRetention = (): RetentionPolicy => ({
  name: 'lru',
  classOf: () => 0,
  share: () => 0,
  learn: () => undefined,
});
