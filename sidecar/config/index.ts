/**
 * The configuration: sources, checks, defaults. Start with `schema.ts` (every key with its meaning), then `load.ts` (file,
 * environment and flags, in this order) and `consistency.ts` (keys against each other).
 */
export { configSchema, listenKey, servedSchema } from './consistency.js';
export { ENGINE_KINDS, engineDefaults, labelOf, REFRESH_MS_MIN, type DnsConfig, type SourceConfig } from './engines.js';
export { fileFault, readConfigFile } from './file.js';
export { CONFIG_KEYS } from './keys.js';
export { configFileOf, keepRestartKeys, loadConfig, type ConfigInputs } from './load.js';
export { count as countSchema, MAKE_HASH, MAKE_TOKEN, TOKEN_CHARS_MIN } from './note.js';
export { overridden, readEnvironment, URL_VARIABLE, type Override } from './overrides.js';
export { checkValue, ConfigError, pathText, problemText, type ConfigProblem, type Path } from './problems.js';
export {
  configKeys,
  DEFAULT_TENANT,
  tenantsOf,
  hasNoEngine,
  IDENTITY_SOURCES,
  LOG_LEVELS,
  type Config,
  type EngineConfig,
} from './schema.js';
export { objectiveOf } from './sections.js';
export { redact, secretsAsText } from './secrets.js';
export { didYouMean, similarTo } from './similar.js';
