import { createHash } from 'node:crypto';
import { Dice } from '../../workloads/dice.js';
import { configSchema, type Config } from '../../sidecar/config/index.js';

/** What one seed is about, drawn before anything runs. */
export interface Scenario {
  readonly seed: number;
  /** `calm`: engines are well, so that whatever hurts a well-behaved client comes from another client. */
  readonly kind: 'calm' | 'stormy';
  /** How the gateway ends: at rest, or amid its work, waiting for calls (`drain`) or not (`close`). */
  readonly end: 'rest' | 'drain' | 'close';
  readonly engines: readonly { readonly id: string; readonly kind: string; readonly model: string }[];
  readonly keys: boolean;
  readonly agents: number;
  readonly settings: Settings;
  /** Gateways that share these engines through a store; of one alone, nothing is shared. */
  readonly gateways: number;
}

/** What reloads change. */
export interface Settings {
  readonly engines: readonly string[];
  readonly window: number;
  readonly policy: string;
  readonly queuedMax: number;
  readonly tenants: readonly string[];
}

/** Each differs from all others, so that a pending timer tells by its delay what it was for. */
export const TIMES = {
  bodyMs: 1501,
  connectMs: 503,
  firstByteMs: 2503,
  idleMs: 2011,
  queueMs: 9001,
  ghostMs: 1013,
  commentMs: 709,
  drainMs: 3011,
  leaseMs: 3001,
};

export const STORE = { host: 'store', limitMs: 7, heartbeatMs: 211, leaseMs: 1511 };

export const ATTEMPTS_MAX = 3;
export const ADMIN_TOKEN = 'admin-token';
const TENANTS = ['a', 'b', 'c'];
const POLICIES = ['plas', 'plas', 'plas', 'pass-through', 'fcfs-window'];

export const idsOf = ({ engines }: Scenario): string[] => engines.map(({ id }) => id);

export const keyOf = (tenant: string): string => `key-of-${tenant}`;

export function drawScenario(seed: number, gateways: number): Scenario {
  const dice = Dice.of(seed, 0);
  const count = dice.int(1, 3);
  const engines = Array.from({ length: count }, (_, i) => ({
    id: `e${i}`,
    kind: ['openai', 'openai', 'vllm', 'sglang'][dice.int(0, 3)] ?? 'openai',
    model: 'm',
  }));
  const kind = dice.share() < 0.25 ? 'calm' : 'stormy';
  const end = kind === 'calm' || dice.share() < 0.7 ? 'rest' : dice.share() < 0.6 ? 'drain' : 'close';
  const settings = drawSettings(
    dice,
    engines.map(({ id }) => id),
    kind === 'calm',
  );
  return { seed, kind, end, engines, keys: dice.share() < 0.7, agents: dice.int(3, 7) * gateways, settings, gateways };
}

export function drawSettings(dice: Dice, engines: readonly string[], whole: boolean): Settings {
  const some = engines.filter(() => dice.share() < 0.7);
  return {
    engines: whole || some.length === 0 ? engines : some,
    window: dice.int(1, 4),
    policy: POLICIES[dice.int(0, POLICIES.length - 1)] ?? 'plas',
    queuedMax: whole ? 100 : dice.int(4, 60),
    tenants: dice.share() < 0.7 ? TENANTS : TENANTS.slice(0, 2),
  };
}

export function configOf({ engines, keys, gateways }: Scenario, settings: Settings, index: number): Config {
  const { queuedMax, tenants } = settings;
  const { host, ...times } = STORE;
  return configSchema.parse({
    engines: engines
      .filter(({ id }) => settings.engines.includes(id))
      .map(({ id, kind }) => ({ id, kind, url: `http://${id}` })),
    admin: { token: ADMIN_TOKEN },
    ...(gateways > 1 && { cluster: { ...times, url: `redis://${host}:6379`, gateway: `g${index}`, gateways } }),
    auth: { keys: keys ? tenants.map((tenant) => ({ tenant, sha256: sha256(keyOf(tenant)) })) : [] },
    policy: { name: settings.policy },
    starvation: { waitMsMax: 3000 },
    admission: { window: settings.window, reserveMs: 2000, turnMs: 2000 },
    balancer: { spillMs: 400 },
    timeouts: TIMES,
    health: { intervalMs: 2300, timeoutMs: 601, failuresMax: 3, backoffMs: 200, backoffMsMax: 1600 },
    limits: {
      attemptsMax: ATTEMPTS_MAX,
      bodyBytes: 20_000,
      answerBytes: 60_000,
      queuedMax,
      queuedPerTenantMax: queuedMax,
      programsMax: 200,
      responsesMax: 50,
      conversationsMax: 50,
    },
  });
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
