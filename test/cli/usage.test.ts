import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { BALANCER_NAMES } from '../../loadbalancer/index.js';
import { configSchema } from '../../sidecar/config/index.js';
import { POLICY_NAMES } from '../../src/index.js';
import { itHelps, itRefuses, itSuggests, run } from '../support/command-line.js';
import { FAULTS } from '../../sim/index.js';
import { Maitred } from '../support/maitred.js';

const command = (...args: string[]) => run(args);

describe('maitred', () => {
  const helping = ['serve', 'engine', 'config', 'why', 'doctor'].map((name) => `${name} --help`);
  itHelps(command, 'maitred', ['--help', ...helping, 'help', 'help serve']);

  it.each([['--version'], ['serve --version'], ['engine -V'], ['config -V']])('%s tells the version', async (line) => {
    const { code, out } = await run(line.split(' '));
    expect(code).toBe(0);
    expect(out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  itSuggests(command, [
    ['srve', 'serve'],
    ['serve --prt 1', '--port'],
    ['serve maitred.yaml', 'maitred serve --config maitred.yaml'],
    ['doctor http://gpu-1:8000', 'maitred doctor --engine http://gpu-1:8000'],
    ['init --engin http://a', '--engine'],
    ['batch run --taget x', '--target'],
    ['sim calibrate --targt x', '--target'],
    ['config --polcy plas', '--policy'],
    ['serve --policy plass', 'plas'],
    ['serve --balancer stick', 'sticky'],
    ['engine --preset tiny-cp', 'tiny-cpu'],
    ['engine --sped 2', '--speed'],
  ]);

  it('tells where `--` is missing behind `npm start`, which takes options for its own', async () => {
    const npm = { npm_lifecycle_event: 'start' };
    const told = async (value: string, env = {}) => (await run(['serve', value], { ...npm, ...env })).err;
    expect(await told('9012', { npm_config_port: 'true' })).toMatch(/did you mean npm start -- --port 9012\?\n$/);
    expect(await told('http://a')).toMatch(/did you mean npm start -- --engine http:\/\/a\?\n$/);
  });

  it('names a wrong flag of the configuration once', async () => {
    expect(await run(['serve', '--port', 'abc'])).toMatchObject({
      code: 2,
      err: 'maitred: --port: must be a whole number from 0 to 65535, such as 8080\n',
    });
    const twice = expect.stringMatching(/--port <port>' is given twice/) as string;
    expect(await run(['serve', '-p', 'abc', '--port=25299'])).toMatchObject({ code: 2, errors: [twice] });
    expect((await run(['config', '--engine', 'ftp://x'])).err).toMatch(/--engine: must .*http:/);
  });

  itRefuses(command, [
    'init',
    'sim calibrate',
    ...['extra', '--port', '--port 65536', '--port -1', '--embedded 1.5'].map((rest) => `serve ${rest}`),
    ...['--engine localhost:8000', '--config no-such-file.yaml'].map((rest) => `serve ${rest}`),
    ...['--port x', '--speed 0', '--slots -1', '--kv-tokens 1', '--host'].map((rest) => `engine ${rest}`),
  ]);

  it('tells the faults that an engine knows', async () => {
    const told = expect.stringMatching(/--fault.*status.*reset-after/) as string;
    expect(await run(['engine', '--fault', 'x'])).toMatchObject({ code: 2, errors: [told] });
  });

  it.each([
    ['serve --help', [...POLICY_NAMES, ...BALANCER_NAMES]],
    ['engine --help', [...Object.keys(FAULTS), 'default: 8000', 'default: "llama-3.1-8b-a100"', 'default: 1)']],
  ])('%s tells the choices and defaults', async (line, words) => {
    const { out } = await run(line.split(' '));
    const text = out.replaceAll(/\s+/g, ' ');
    expect(words.filter((word) => !text.includes(word))).toEqual([]);
  });

  it.each(['serve', 'config', 'init', 'doctor', 'engines'])(
    '%s --help ends in examples, in 80 columns',
    async (name) => {
      const { out } = await run([name, '--help']);
      expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
      const examples = [...out.slice(out.indexOf('\nExamples:')).matchAll(/^ {2}npx maitred (.*)$/gm)];
      expect(examples.every(([, line]) => line?.startsWith(name))).toBe(true);
      expect(examples.length).toBeGreaterThan(1);
      // `config` has the options of `serve`, and runs nothing.
      for (const [, line = ''] of name === 'serve' ? examples.slice(0, 2) : [])
        expect((await run(line.replace('serve', 'config').split(' '))).code).toBe(0);
    },
  );

  it.each(['sim', 'load'])('%s --help ends in examples that a clone can run', async (name) => {
    const [, examples = ''] = (await run([name, '--help'])).out.split('\nExamples:\n');
    expect(examples.match(new RegExp(`^  npx maitred ${name} `, 'gm'))).toHaveLength(5);
  });

  it('lists its commands in groups, each once', async () => {
    const [out = ''] = (await run(['--help'])).out.split('\nExamples:');
    const rows = [...out.matchAll(/^(?:(\S.*):| {2}([a-z]+) .*)$/gm)].map(([, group, name]) => group ?? name);
    expect(rows.slice(0, 4)).toEqual(['Options', 'Run a gateway', 'init', 'doctor']);
    expect(new Set(rows).size).toBe(rows.length);
    expect(rows).toHaveLength(14 + 1 + 5);
  });

  it.each([
    'top --token hunter2',
    'serve --token=hunter2',
    'why --url http://me:hunter2@127.0.0.1:1',
    'engines add http://a --api-key hunter2',
    'load --target http://a --key hunter2',
    'init -e http://a -o - --admin-token hunter2',
    'config --engine http://me:hunter2@a',
  ])('%s does not repeat the secret', async (line) => {
    const { code, out, err } = await run(line.split(' '));
    expect([code, out, err]).toEqual([2, '', expect.not.stringContaining('hunter2')]);
  });

  it('without a command is wrong usage, and helps', async () => {
    const { code, errors } = await run([]);
    expect(code).toBe(2);
    expect(errors[0]).toContain('Usage: npx maitred');
  });
});

describe('the binary', () => {
  it('exits with the code, and keeps stdout for what was asked', async () => {
    const maitred = new Maitred(['srve']);
    expect(await maitred.ended).toBe(2);
    expect(maitred.stdout).toBe('');
    expect(maitred.stderr).toMatch(/^maitred: .*\n$/);
  });

  it('does not mind a reader that leaves', async () => {
    const maitred = new Maitred(['config', '--embedded', '1']);
    maitred.process.stdout?.destroy();
    expect(await maitred.ended).toBe(0);
    expect(maitred.stderr).toBe('');
  });
});

describe('maitred config', () => {
  it('prints the whole configuration with flags over environment, secrets apart', async () => {
    const env = { MAITRED_LISTEN_PORT: '1', MAITRED_ADMIN_TOKEN: 'hunter2hunter2' };
    const line = 'config --port 2 --engine http://a --engine http://b/v1';
    const { code, out, errors } = await run(line.split(' '), env);
    expect({ code, errors }).toEqual({ code: 0, errors: [] });
    const config = configSchema.parse(parse(out));
    expect(config.listen.port).toBe(2);
    expect(config.engines.map(({ url }) => url)).toEqual(['http://a', 'http://b']);
    expect(out).not.toContain('hunter2');
  });

  it('says that there are no engines, off what it prints', async () => {
    const { code, out, errors } = await run(['config']);
    expect(code).toBe(0);
    expect(errors).toHaveLength(1);
    expect(configSchema.parse(parse(out)).engines).toEqual([]);
  });

  it('names every bad key on a line of its own', async () => {
    const env = { MAITRED_POLICY_FIRST_QUANTUM_MS: '0', MAITRED_LOG_LEVL: 'info' };
    const { code, errors } = await run(['config', '--port', 'x'], env);
    expect(code).toBe(2);
    const told = errors.map((line) => /^maitred: (\S+): /.exec(line)?.[1]);
    expect(told.toSorted()).toEqual(['--port', ...Object.keys(env)].toSorted());
  });
});
