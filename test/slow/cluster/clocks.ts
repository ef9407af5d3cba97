import { Redis } from 'ioredis';

const HOUR_MS = 3_600_000;

/** Starts a process whose wall clock is wrong by so much. */
export async function withClockOff<T>(ms: number, start: () => Promise<T>): Promise<T> {
  const script = `const right = Date; globalThis.Date = class extends right {
    constructor(...args) { args.length > 0 ? super(...args) : super(Date.now()); }
    static now() { return right.now() + ${ms}; }
  };`;
  process.env['NODE_OPTIONS'] = `--import=data:text/javascript,${encodeURIComponent(script)}`;
  const started = start();
  delete process.env['NODE_OPTIONS'];
  return started;
}

const BACK = `
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '+inf')) do
  redis.call('ZINCRBY', KEYS[1], ARGV[1], name)
end
local engines = redis.call('HGETALL', KEYS[2])
for i = 1, #engines, 2 do
  local ledger = cjson.decode(engines[i + 1])
  ledger.since = ledger.since + ARGV[1]
  redis.call('HSET', KEYS[2], engines[i], cjson.encode(ledger))
end
for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('PEXPIRE', key, redis.call('PTTL', key) + ARGV[1]) end
`;

/**
 * What a step of the store's clock by an hour does: all times that it has written are off by as much the other way.
 * After a step forward every key has expired.
 */
export async function stepStore(path: string, direction: 'forward' | 'back'): Promise<void> {
  const admin = new Redis(path);
  if (direction === 'forward') await admin.flushall();
  else await admin.eval(BACK, 2, 'maitred:{default}:gateways', 'maitred:{default}:engines', HOUR_MS);
  admin.disconnect();
}
