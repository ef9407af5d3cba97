import type { Override } from './overrides.js';
import type { ConfigProblem } from './problems.js';
import { TRACES_PATH } from './sections.js';

type Environment = Readonly<Record<string, string | undefined>>;

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const TRACES_ENDPOINT = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];

/**
 * Tracing as OpenTelemetry's own variables ask for it. They apply to every program of a machine, so all sources of our
 * own come before them. The exporter itself reads its further variables.
 * Source: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function readOtelEnvironment(env: Environment): { overrides: Override[]; warnings: ConfigProblem[] } {
  const traces = env[TRACES_ENDPOINT];
  const base = env[ENDPOINT];
  const origin = traces ? TRACES_ENDPOINT : ENDPOINT;
  const url = traces || (base && base.replace(/\/*$/, TRACES_PATH));
  if (!url || isOff(env)) return { overrides: [], warnings: [] };
  const protocol = PROTOCOLS.find((name) => env[name]);
  if (protocol !== undefined && env[protocol] === 'grpc') {
    const message = `requests grpc, which is not supported: tracing stays off. Set ${protocol}=http/json and the endpoint of OTLP over HTTP (port 4318)`;
    return { overrides: [], warnings: [{ path: '', message, origin: protocol }] };
  }
  const overrides = [{ path: 'tracing.otlp.url', text: url, origin }];
  const share = sampledShare(env);
  if (share !== undefined) overrides.push({ path: 'tracing.otlp.sampleShare', text: share, origin: SAMPLER });
  return { overrides, warnings: [] };
}

const isOff = (env: Environment): boolean =>
  env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || !(env['OTEL_TRACES_EXPORTER'] || 'otlp').includes('otlp');

const SAMPLER = 'OTEL_TRACES_SAMPLER';

/** The share of new traces; the decision of a parent always counts. */
function sampledShare(env: Environment): string | undefined {
  const sampler = env[SAMPLER]?.replace('parentbased_', '');
  if (sampler === 'always_on') return '1';
  if (sampler === 'always_off') return '0';
  return sampler === 'traceidratio' ? env[`${SAMPLER}_ARG`] || '1' : undefined;
}
