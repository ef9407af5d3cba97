import { SECRET_KEYS } from './keys.js';
import { pathText, type Path, type Problem } from './problems.js';
import type { Config } from './schema.js';

const REDACTED = '[redacted]';

/** A copy for display: every secret that is set reads `[redacted]`. */
export function redact(config: Config): Config {
  const copy = structuredClone(config);
  eachSecret(copy, (value) => (value === null ? null : REDACTED));
  return copy;
}

/**
 * Replaces secrets given as `env:NAME` with the variable's value, trimmed, because files of secrets often end in a line
 * end. An unset variable is a problem.
 */
export function resolveSecrets(values: unknown, env: Readonly<Record<string, string | undefined>>): Problem[] {
  const problems: Problem[] = [];
  eachSecret(values, (value, path) => {
    const name = typeof value === 'string' && value.startsWith('env:') ? value.slice('env:'.length) : undefined;
    if (name === undefined) return value;
    const secret = env[name]?.trim();
    if (secret === undefined || secret === '')
      problems.push({ path, message: `names the environment variable ${name}, which is not set` });
    return secret || undefined;
  });
  return problems;
}

/** Paths of the secrets that stand in a file's values as text, not as `env:NAME` or as a hash. */
export function secretsAsText(values: unknown): string[] {
  const paths: string[] = [];
  eachSecret(values, (value, path) => {
    if (typeof value === 'string' && !value.startsWith('env:') && path.at(-1) !== 'sha256') paths.push(pathText(path));
    return value;
  });
  return paths;
}

type Replace = (value: unknown, path: Path) => unknown;

function eachSecret(values: unknown, replace: Replace): void {
  for (const key of SECRET_KEYS) visit(values, key.segments, [], replace);
}

function visit(node: unknown, segments: readonly string[], path: Path, replace: Replace): void {
  const [segment = '', ...rest] = segments;
  if (typeof node !== 'object' || node === null) return;
  const holder = node as Record<string, unknown>;
  for (const name of segment !== '[]' ? [segment] : Array.isArray(node) ? node.keys() : []) {
    if (rest.length > 0) visit(holder[name], rest, [...path, name], replace);
    else if (holder[name] !== undefined) holder[name] = replace(holder[name], [...path, name]);
  }
}
