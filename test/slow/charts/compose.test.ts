import { get } from 'node:http';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { Maitred } from '../../support/maitred.js';
import { readText } from '../../support/tree.js';

const compose = parse(readText('docker-compose.yml'), { merge: true }) as {
  services: { gateway: { command: string[]; environment: Record<string, string> } };
};
const prometheus = parse(readText('deploy/prometheus/prometheus.yml')) as {
  scrape_configs: [{ static_configs: [{ targets: [string] }] }];
};

/** Asks as another container does: by a name that is not loopback's. */
const statusFor = (url: string, host: string) =>
  new Promise((resolve, reject) => {
    get(url, { headers: { host } }, (response) => resolve(response.resume().statusCode)).on('error', reject);
  });

it('lets the Prometheus of docker-compose.yml read its gateway, but no other name', async () => {
  const { command, environment } = compose.services.gateway;
  const here = { MAITRED_LISTEN_PORT: '0', MAITRED_ADMIN_PORT: '0', MAITRED_ADMIN_HOST: '127.0.0.1' };
  const maitred = new Maitred(command, { ...environment, ...here });
  const { admin_url: url } = (await maitred.logged('listening')) as { admin_url: string };
  const [target] = prometheus.scrape_configs[0].static_configs[0].targets;
  expect(await statusFor(`${url}/metrics`, target)).toBe(200);
  expect(await statusFor(`${url}/metrics`, 'evil.example:9090')).toBe(403);
});
