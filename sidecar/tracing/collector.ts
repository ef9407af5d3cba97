import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Metrics } from '../metrics/metrics.js';
import { VERSION } from '../version.js';

type ExportResult = Parameters<Parameters<OTLPTraceExporter['export']>[1]>[0];

/**
 * Sends spans to an OTLP collector in batches, and holds a bounded number of them. A collector that is slow or gone
 * costs spans, never calls. OpenTelemetry's own variables complete the configuration: headers, time limit, compression,
 * certificates, batching, and attributes of the resource.
 */
export class Collector extends BatchSpanProcessor {
  readonly resource: Resource;
  /** Most spans in memory; OpenTelemetry's own variable and default. */
  readonly #queueMax = Number(process.env['OTEL_BSP_MAX_QUEUE_SIZE']) || 2048;
  /** Spans in the queue or on their way. */
  #held = 0;
  #isFailing = false;

  constructor(
    url: string,
    private readonly metrics: Metrics,
    private readonly log: Logger,
  ) {
    const exporter = new OTLPTraceExporter({ url });
    super(exporter);
    const own = resourceFromAttributes({
      'service.name': 'maitred',
      'service.version': VERSION,
      'service.instance.id': randomUUID(),
    });
    this.resource = own.merge(detectResources({ detectors: [envDetector] }));
    const send = exporter.export.bind(exporter);
    exporter.export = (spans, done) =>
      send(spans, (result) => {
        this.#settled(spans.length, result);
        done(result);
      });
  }

  /** A span counts once it has ended. */
  override onEnd(span: ReadableSpan): void {
    if (this.#held >= this.#queueMax) return this.metrics.traced('dropped', 1);
    this.#held += 1;
    super.onEnd(span);
  }

  /** Sends the rest, for at most `ms` milliseconds. */
  async close(ms: number): Promise<void> {
    const sent = this.shutdown().catch(() => undefined);
    await Promise.race([sent, sleep(ms, undefined, { ref: false })]);
    if (this.#held > 0) this.#failed(this.#held, 'not sent before the end');
  }

  #settled(spans: number, { error }: ExportResult): void {
    this.#held -= spans;
    if (error !== undefined) return this.#failed(spans, error.message);
    this.metrics.traced('exported', spans);
    if (this.#isFailing) this.log.info('the tracing collector takes spans again');
    this.#isFailing = false;
  }

  #failed(spans: number, reason: string): void {
    this.metrics.traced('failed', spans);
    if (!this.#isFailing) this.log.warn({ spans, reason }, 'the tracing collector does not take spans');
    this.#isFailing = true;
  }
}
