import { createHash, randomBytes } from 'node:crypto';
import {
  ConfigError,
  configSchema,
  pathText,
  problemsOf,
  type Config,
  type EngineConfig,
} from '../../sidecar/config/index.js';

export const ROLES = ['sidecar', 'gateway'] as const;
export type Role = (typeof ROLES)[number];

/** Input of `maitred init`. */
export interface Plan {
  readonly role: Role;
  readonly engines: readonly PlannedEngine[];
  readonly embedded: number;
  readonly port: number;
  /** Variable of the admin token; true: generate one; undefined: only if admin paths would be closed without it. */
  readonly adminToken: string | true | undefined;
  readonly tenants: readonly string[];
}

export interface PlannedEngine {
  readonly url: string;
  readonly kind: EngineConfig['kind'];
  /** It was asked, and did not answer. */
  readonly isSilent?: boolean;
  /** Variable of the engine's API key. */
  readonly keyVariable?: string;
}

/** A file's values, and the secrets that are told once. */
export interface Made {
  readonly values: Readonly<Record<string, unknown>>;
  readonly keys: readonly { readonly tenant: string; readonly key: string }[];
  /** The generated admin token. */
  readonly token: string | undefined;
}

/** @throws ConfigError with all that the schema refuses */
export function make(plan: Plan): Made {
  const host = plan.role === 'sidecar' ? '127.0.0.1' : '0.0.0.0';
  const keys = plan.tenants.map((tenant) => ({ tenant, key: secret() }));
  // Without a token, admin paths are open only on loopback without keys.
  const isNeeded = keys.length > 0 || plan.role === 'gateway';
  const isGenerated = plan.adminToken === true || (plan.adminToken === undefined && isNeeded);
  const token = isGenerated ? secret() : undefined;
  const named = typeof plan.adminToken === 'string' ? `env:${plan.adminToken}` : token;
  const values = {
    listen: { host, port: plan.port },
    ...(named !== undefined && { admin: { token: named } }),
    ...(plan.engines.length > 0 && { engines: plan.engines.map(engineValues) }),
    ...(plan.embedded > 0 && { embedded: plan.embedded }),
    ...(keys.length > 0 && { auth: { keys: keys.map(({ tenant, key }) => ({ tenant, sha256: sha256(key) })) } }),
  };
  check(values);
  return { values, keys, token };
}

/** The configuration of such a file, with placeholders for secrets of the environment. @throws ConfigError */
export function check(values: unknown): Config {
  const text = JSON.stringify(values).replaceAll(/"env:[^"]*"/g, '"placeholder"');
  const { data, error } = configSchema.safeParse(JSON.parse(text), { reportInput: true });
  if (data !== undefined) return data;
  throw new ConfigError(problemsOf(error.issues).map(({ path, message }) => ({ path: pathText(path), message })));
}

function engineValues({ url, kind, keyVariable }: PlannedEngine) {
  return {
    url,
    kind,
    ...(keyVariable !== undefined && { apiKey: `env:${keyVariable}` }),
  };
}

const secret = (): string => `mtd-${randomBytes(32).toString('base64url')}`;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
