import { z } from 'zod';
import { STARTING, fixed } from './note.js';
import { plainUrlError, isPlainUrl } from './url.js';

/** Path of traces below an OTLP endpoint. Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp-request */
export const TRACES_PATH = '/v1/traces';

const otlp = z.strictObject({
  url: fixed(
    z
      .string()
      .refine(isPlainUrl, { error: plainUrlError, abort: true })
      .overwrite((url) => (new URL(url).pathname === '/' ? url.replace(/\/*$/, TRACES_PATH) : url))
      .nullable()
      .default(null),
    'OTLP collector over HTTP, such as `http://collector:4318`.',
    'off by default',
    { default: 'null, or from OpenTelemetry’s own variables (METRICS.md#tracing)' },
  ),
  sampleShare: fixed(
    z.number().min(0).max(1).default(1),
    'Share of programs traced. A call whose client traces it follows the client’s decision.',
    STARTING,
  ),
});

export const tracing = z.strictObject({ otlp: otlp.prefault({}) });
