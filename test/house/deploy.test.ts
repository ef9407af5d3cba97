import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { configSchema } from '../../sidecar/config/index.js';
import { folderOf } from '../support/folder.js';
import { ROOT, listFiles, readText } from '../support/tree.js';

const { version, engines } = JSON.parse(readText('package.json')) as { version: string; engines: { node: string } };
const { drainMs } = configSchema.parse({}).timeouts;

/** The number behind a name: `STOP=610`, `stop: 610s`. */
const numberIn = (file: string, name: string) => Number(new RegExp(`\\b${name}[=:] ?(\\d+)`).exec(readText(file))?.[1]);

describe('the container', () => {
  it('has a Node that the package supports, of a release with long support', () => {
    const [major, minor] = /NODE_VERSION=(\d+)\.(\d+)\.\d+$/m.exec(readText('Dockerfile'))!.slice(1).map(Number);
    const [least, leastMinor] = /^>=(\d+)\.(\d+)$/.exec(engines.node)!.slice(1).map(Number);
    expect(major! * 1000 + minor!).toBeGreaterThanOrEqual(least! * 1000 + leastMinor!);
    expect(major! % 2).toBe(0);
  });

  it('is built from every room that the build needs', () => {
    const { references } = JSON.parse(readText('cli/tsconfig.json')) as { references: { path: string }[] };
    const rooms = ['cli', ...references.map(({ path }) => basename(path))];
    expect(rooms.filter((room) => !readText('.dockerignore').split('\n').includes(`!${room}`))).toEqual([]);
  });
});

describe('every way to deploy', () => {
  it.each([
    ['deploy/systemd/maitred.service', 'TimeoutStopSec'],
    ['docker-compose.yml', 'stop_grace_period'],
  ])('lets calls finish: %s', (file, name) => {
    expect(numberIn(file, name) * 1000).toBeGreaterThan(drainMs);
  });
});

describe('versions in examples', () => {
  const texts = listFiles()
    .filter((file) => /^(README|docs|charts|deploy|examples|docker)/.test(file) && !/\.png$/.test(file))
    .map(readText);
  const tags = (image: string) => [
    ...new Set(
      texts.flatMap((text) => [...text.matchAll(new RegExp(`${image}:v?([\\d.]*\\d)`, 'g'))].map((match) => match[1])),
    ),
  ];

  it('are those of this package, and one vLLM', () => {
    expect(tags('/maitred')).toEqual([version]);
    expect(tags('vllm-openai')).toHaveLength(1);
  });
});

it('builds the image of docker-compose.yml in one service, as builds of one tag at the same time collide', () => {
  const { services } = parse(readText('docker-compose.yml'), { merge: true }) as {
    services: Record<string, { image: string; build?: string }>;
  };
  const own = Object.values(services).filter(({ image }) => image === 'maitred:local');
  expect(own.length).toBeGreaterThan(1);
  expect(own.filter(({ build }) => build !== undefined)).toHaveLength(1);
});

describe('a release', () => {
  type Step = Readonly<{ run?: string; with?: Readonly<Record<string, string>> }>;
  const { jobs } = parse(readText('.github/workflows/release.yml')) as {
    jobs: Record<'package' | 'image', { steps: Step[] }>;
  };
  const given = {
    GITHUB_SERVER_URL: 'https://git.example',
    GITHUB_REPOSITORY: 'Team/maitred',
    GITHUB_REF_NAME: `v${version}`,
    GITHUB_ENV: './env',
    REGISTRY: 'registry.example/Team',
  };
  /** What the job's step with a text, and then a further command, leave in a clone of these files. */
  const afterStep = (job: keyof typeof jobs, text: string, command: string, file: string) => {
    const folder = folderOf({ 'package.json': readText('package.json') });
    cpSync(`${ROOT}charts`, join(folder, 'charts'), { recursive: true });
    const script = jobs[job].steps.find(({ run }) => run?.includes(text))!.run!.replace(/npm publish .*/, '');
    const out = execFileSync('bash', ['-ec', `${script}\n${command}`], {
      cwd: folder,
      env: { ...process.env, ...given },
      encoding: 'utf8',
    });
    return { out, left: parse(readFileSync(join(folder, file), 'utf8')) as unknown };
  };

  it('has a chart that pulls the image that is pushed', () => {
    const tags = jobs.image.steps
      .map((step) => step.with?.['tags'] ?? '')
      .join('')
      .replace(/\$\{\{ env\.(\w+) \}\}/g, '$$$1');
    const { out, left } = afterStep('image', 'GITHUB_ENV', `. ./env; echo "${tags}"`, 'charts/maitred/values.yaml');
    expect(out).toBe(`registry.example/team/maitred:${version}\n`);
    expect(left).toMatchObject({ image: { repository: 'registry.example/team/maitred', tag: '', digest: '' } });
  });

  it('has a package that names its repository, as provenance needs', () => {
    const repository = { type: 'git', url: 'git+https://git.example/Team/maitred.git' };
    expect(afterStep('package', '--provenance', '', 'package.json').left).toMatchObject({ repository });
  });
});

describe('the chart', () => {
  // Helm reads no files outside of a chart, and complains about links at every command.
  it.each([
    ['deploy/prometheus/alerts.yml', 'charts/maitred/files/alerts.yml'],
    ['deploy/grafana/maitred.json', 'charts/maitred/files/maitred.json'],
  ])('has a copy of %s (npm run docs writes it anew)', async (file, copy) => {
    await expect(readText(file)).toMatchFileSnapshot(`${ROOT}${copy}`);
  });

  it('is of the version of the gateway, and drains as long', () => {
    expect(parse(readText('charts/maitred/Chart.yaml'))).toMatchObject({ version, appVersion: version });
    expect(numberIn('charts/maitred/values.yaml', 'drainMs')).toBe(drainMs);
  });
});
