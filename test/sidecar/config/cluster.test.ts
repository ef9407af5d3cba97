import { expect, it } from 'vitest';
import { loadConfig } from '../../../sidecar/config/load.js';
import { ConfigError } from '../../../sidecar/config/problems.js';
import { fileOf } from '../../support/folder.js';

it.each([
  ['cluster: {url: "http://a:6379"}', 'cluster.url'],
  ['cluster: {url: "redis://:secret@a:6379"}', 'cluster.url'],
  ['cluster: {url: "redis://a:6379/x"}', 'cluster.url'],
  ['cluster: {pool: "a}b"}', 'cluster.pool'],
  ['cluster: {url: "redis://a:6379"}\nembedded: 1', 'cluster.url'],
  ['cluster: {url: "redis://a:6379", caFile: ca.pem}', 'cluster.caFile'],
  ['cluster: {leaseMs: 2999}', 'cluster.leaseMs'],
])('%s is refused', (text, path) => {
  let error: unknown;
  try {
    loadConfig({ file: fileOf('maitred.yaml', `${text}\n`) });
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as ConfigError).problems.map((problem) => problem.path)).toContain(path);
});
