import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../sidecar/config/load.js';
import { fileOf } from '../../support/folder.js';

const BASE = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const TRACES = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
const otlp = (env: Record<string, string>) => loadConfig({ env }).tracing.otlp;

describe('tracing.otlp.url', () => {
  it.each([
    ['http://c:4318', 'http://c:4318/v1/traces'],
    ['http://c:4318/', 'http://c:4318/v1/traces'],
    ['https://c/otlp/v1/traces', 'https://c/otlp/v1/traces'],
  ])('of %s is %s', (given, url) => {
    expect(otlp({ MAITRED_TRACING_OTLP_URL: given }).url).toBe(url);
  });

  it.each([
    [{}, null],
    [{ [BASE]: '' }, null],
    [{ [BASE]: 'http://c:4318' }, 'http://c:4318/v1/traces'],
    [{ [BASE]: 'http://c:4318/x/' }, 'http://c:4318/x/v1/traces'],
    [{ [BASE]: 'http://c:4318', [TRACES]: 'http://t:1/own' }, 'http://t:1/own'],
    [{ [BASE]: 'http://c:4318', OTEL_SDK_DISABLED: 'true' }, null],
    [{ [BASE]: 'http://c:4318', OTEL_TRACES_EXPORTER: 'none' }, null],
    [{ [BASE]: 'http://c:4318', MAITRED_TRACING_OTLP_URL: 'null' }, null],
    [{ [BASE]: 'http://c:4318', MAITRED_TRACING_OTLP_URL: 'http://own:1/x' }, 'http://own:1/x'],
  ])('from the variables %o is %s', (env, url) => {
    expect(otlp(env as Record<string, string>).url).toBe(url);
  });

  it.each([
    ['always_off', undefined, 0],
    ['parentbased_traceidratio', '0.25', 0.25],
    ['traceidratio', undefined, 1],
    ['parentbased_always_on', undefined, 1],
    ['xray', undefined, 1],
  ])('takes the share of the sampler %s %s', (sampler, arg, share) => {
    const env = { [BASE]: 'http://c:4318', OTEL_TRACES_SAMPLER: sampler, ...(arg && { OTEL_TRACES_SAMPLER_ARG: arg }) };
    expect(otlp(env).sampleShare).toBe(share);
  });

  it('stays off, with a warning, where the environment asks for grpc', () => {
    const warned: string[] = [];
    const env = { [BASE]: 'http://c:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    const config = loadConfig({ env, warn: ({ origin }) => warned.push(origin ?? '') });
    expect(config.tracing.otlp.url).toBeNull();
    expect(warned).toEqual(['OTEL_EXPORTER_OTLP_PROTOCOL']);
  });

  it.each(['grpc://c:4317', 'http://user:secret@c', 'c:4318'])('is refused as %s, and says where it stands', (url) => {
    expect(() => loadConfig({ env: { [BASE]: url } })).toThrow(
      expect.objectContaining({ problems: [expect.objectContaining({ origin: BASE })] }),
    );
  });

  it('of the file comes first, even if it is null', () => {
    const file = fileOf('maitred.yaml', 'tracing: { otlp: { url: null } }');
    expect(loadConfig({ file, env: { [BASE]: 'http://c:4318' } }).tracing.otlp.url).toBeNull();
  });
});
