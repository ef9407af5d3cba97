import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeBalancer } from '../../loadbalancer/index.js';
import { defaults, Scheduler, type SchedulerConfig } from '../../src/index.js';
import { folderOf } from '../support/folder.js';
import { ROOT } from '../support/tree.js';

const without = (from: object, key: string) =>
  Object.fromEntries(Object.entries(from).filter(([name]) => name !== key)) as unknown;

const SETTINGS = Object.entries(defaults).flatMap(([section, keys]) =>
  Object.keys(keys).map((key) => [section as keyof typeof defaults, key] as const),
);

const EXAMPLE = `${ROOT}examples/driver.mjs`;
const CALLS = ['a.0', 'b.0', 'c.0', 'd.0', 'a.1', 'b.1', 'c.1', 'd.1', 'a.2', 'b.2', 'c.2', 'd.2'];

/** The calls that the example ran, in order. */
function callsOf(driver: string): (string | undefined)[] {
  const out = execFileSync(process.execPath, [driver], { encoding: 'utf8' });
  return [...out.matchAll(/ms: (\w\.\d) runs on gpu-1 /g)].map(([, call]) => call);
}

describe('the library', () => {
  it('runs the example, programs with less service first', () => {
    expect(callsOf(EXAMPLE)).toEqual(CALLS);
  });

  it('runs it as a package of its own, which depends on no other', () => {
    execFileSync(process.execPath, [`${ROOT}scripts/pack-core.mjs`]);
    const folder = folderOf({});
    const modules = join(folder, 'node_modules');
    const core = join(modules, 'maitred-core');
    mkdirSync(core, { recursive: true });
    const packed = execFileSync('npm', ['pack', `${ROOT}dist/core`, '--silent', '--pack-destination', folder], {
      encoding: 'utf8',
    });
    execFileSync('tar', ['-xzf', join(folder, packed.trim()), '-C', core, '--strip-components', '1']);
    expect(JSON.parse(readFileSync(join(core, 'package.json'), 'utf8'))).not.toHaveProperty('dependencies');
    const driver = join(folder, 'driver.mjs');
    writeFileSync(driver, readFileSync(EXAMPLE, 'utf8').replaceAll("from 'maitred", "from 'maitred-core"));
    expect(callsOf(driver)).toEqual(CALLS);
  });

  it.each(Object.keys(defaults))('names the section %s when it is missing', (section) => {
    const config = without(defaults, section) as SchedulerConfig;
    expect(() => new Scheduler(config, makeBalancer())).toThrow(new RegExp(`^${section} is missing`));
  });

  it.each(SETTINGS)('names %s.%s when it is missing', (section, key) => {
    const config = { ...defaults, [section]: without(defaults[section], key) } as SchedulerConfig;
    const make = () => new Scheduler(config, makeBalancer());
    expect(make).toThrow(RangeError);
    expect(make).toThrow(`${section}.${key}`);
  });
});
