import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { makeBalancer } from '../../loadbalancer/index.js';
import { defaults, Scheduler, type SchedulerConfig } from '../../src/index.js';
import { ROOT } from '../support/tree.js';

const without = (from: object, key: string) =>
  Object.fromEntries(Object.entries(from).filter(([name]) => name !== key)) as unknown;

const SETTINGS = Object.entries(defaults).flatMap(([section, keys]) =>
  Object.keys(keys).map((key) => [section as keyof typeof defaults, key] as const),
);

describe('the library', () => {
  it('runs the example, programs with less service first', () => {
    const out = execFileSync(process.execPath, [`${ROOT}examples/driver.mjs`], { encoding: 'utf8' });
    const calls = [...out.matchAll(/ms: (\w\.\d) runs on gpu-1 /g)].map(([, call]) => call);
    expect(calls).toEqual(['a.0', 'b.0', 'c.0', 'd.0', 'a.1', 'b.1', 'c.1', 'd.1', 'a.2', 'b.2', 'c.2', 'd.2']);
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
