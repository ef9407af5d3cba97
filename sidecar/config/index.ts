/**
 * The configuration: sources, checks, defaults. Start with `schema.ts` (every key with its meaning), then `load.ts` (file,
 * environment and flags, in this order) and `consistency.ts` (keys against each other).
 */
export { BALANCER_SENTENCES, POLICY_SENTENCES } from './choices.js';
export { configSchema } from './consistency.js';
export { engineDefaults, labelOf, REFRESH_MS_MIN } from './discovery.js';
export type { DnsConfig, SourceConfig } from './discovery.js';
export { ENGINE_KINDS } from './engine.js';
export { readConfigFile } from './file.js';
export { CONFIG_KEYS } from './keys.js';
export { configFileOf, loadConfig, type ConfigInputs } from './load.js';
export { count as countSchema } from './note.js';
export type { Override } from './overrides.js';
export { ConfigError, pathText, problemsOf, problemText, type ConfigProblem, type Path } from './problems.js';
export { keepRestartKeys } from './reload.js';
export { configKeys, hasNoEngine, IDENTITY_SOURCES, LOG_LEVELS, type Config, type EngineConfig } from './schema.js';
export { redact, secretsAsText } from './secrets.js';
export { didYouMean, similarTo } from './similar.js';
export { DEFAULT_TENANT } from './tenants.js';
