import { spawnSync } from 'node:child_process';
import { stringify } from 'yaml';

/** Prometheus' own tool, in Debian's package `prometheus`. Tests that need it skip where it is not on the PATH. */
export const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
export const NO_PROMTOOL = 'needs promtool (Debian: prometheus)';

/** What it says, or '' if it is content. */
export function promtool(args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

/** Rules that compute these expressions: promtool then says which of them is not valid. */
export const asRules = (expressions: readonly string[]): string =>
  stringify({ groups: [{ name: 'checked', rules: expressions.map((expr, i) => ({ record: `checked_${i}`, expr })) }] });
