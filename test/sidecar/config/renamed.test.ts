import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig, type ConfigInputs } from '../../../sidecar/config/load.js';
import { ConfigError, type ConfigProblem } from '../../../sidecar/config/problems.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'maitred-config-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(text: string): string {
  const file = join(folder, 'maitred.yaml');
  writeFileSync(file, text);
  return file;
}

function problemsIn(inputs: ConfigInputs): readonly ConfigProblem[] {
  try {
    loadConfig(inputs);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('an old name of a value', () => {
  const warnings: ConfigProblem[] = [];
  const inputs = { warn: (warning: ConfigProblem) => warnings.push(warning) };
  beforeEach(() => warnings.splice(0));

  it('is taken for the present one, and told with its line', () => {
    const file = write('embedded: 1\npolicy:\n  name: mlfq-call\n');
    expect(loadConfig({ ...inputs, file }).policy.name).toBe('fcfs-window');
    expect(warnings).toMatchObject([{ path: 'policy.name', origin: `${file}:3` }]);
    expect(warnings[0]?.message).toMatch(/^mlfq-call is now fcfs-window/);
  });

  it('is taken from environment and flags too, and told with them', () => {
    const env = { MAITRED_POLICY_NAME: 'mlfq-call' };
    expect(loadConfig({ ...inputs, env }).policy.name).toBe('fcfs-window');
    const flags = [{ path: 'policy.name', text: 'fcfs', origin: '--policy' }];
    expect(loadConfig({ ...inputs, flags }).policy.name).toBe('pass-through');
    expect(warnings.map(({ origin }) => origin)).toEqual(['MAITRED_POLICY_NAME', '--policy']);
  });

  it('is not told of a value that a flag replaces, nor of another key', () => {
    const flags = [{ path: 'policy.name', text: 'pass-through', origin: '--policy' }];
    expect(loadConfig({ ...inputs, file: write('policy: {name: mlfq-call}'), flags }).policy.name).toBe('pass-through');
    const file = write('balancer: {name: mlfq-call}');
    expect(problemsIn({ file }).map(({ path }) => path)).toEqual(['balancer.name']);
    expect(warnings).toEqual([]);
  });
});

describe('a key or value that left', () => {
  const problemOf = (inputs: ConfigInputs) =>
    problemsIn(inputs).map(({ origin, path, message }) => [origin, path, message]);

  it.each([
    ['balancer: {name: round-robin}', 'balancer.name', /sim --balancer round-robin.*use least-loaded/],
    ['balancer: {name: prefix-aware}', 'balancer.name', /sim --balancer prefix-aware.*use program-affinity/],
    ['policy: {name: las-decayed}', 'policy.name', /sim --policy las-decayed.*use plas/],
    ['policy: {service: tokens}', 'policy.service', /always engine time.*delete the key/],
  ])('is refused once, with what to do instead: %s', (text, path, told) => {
    const file = write(text);
    expect(problemOf({ file })).toEqual([[`${file}:1`, path, expect.stringMatching(told)]]);
  });

  it('is refused in the environment too', () => {
    const told = expect.stringMatching(/always engine time/) as string;
    expect(problemOf({ env: { MAITRED_POLICY_SERVICE: 'tokens' } })).toEqual([['MAITRED_POLICY_SERVICE', '', told]]);
    const env = { MAITRED_BALANCER_NAME: 'round-robin' };
    expect(problemOf({ env })).toEqual([
      ['MAITRED_BALANCER_NAME', 'balancer.name', expect.stringMatching(/use least/)],
    ]);
  });

  it('is dropped with a warning where it says what is now the rule', () => {
    const warnings: ConfigProblem[] = [];
    const config = loadConfig({ file: write('policy: {service: time}'), warn: (each) => warnings.push(each) });
    expect(config.policy).not.toHaveProperty('service');
    expect(warnings.map(({ path }) => path)).toEqual(['policy.service']);
    expect(warnings[0]?.message).toContain('delete the key');
  });
});
