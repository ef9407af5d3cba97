import type { IncomingHttpHeaders } from 'node:http';
import { serve } from '../../support/serve.js';

type Value = { stringValue?: string; intValue?: number; doubleValue?: number; boolValue?: boolean };
type Attributes = readonly { readonly key: string; readonly value: Value }[];

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly timeUnixNano: string; readonly attributes: Attributes }[];
  readonly status: { readonly code: number; readonly message?: string };
}

interface Request {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

/** An OTLP/HTTP receiver that keeps what it is sent. */
export interface Receiver {
  readonly url: string;
  readonly texts: string[];
  readonly headers: IncomingHttpHeaders[];
  spans(): Span[];
  resource(): Record<string, unknown>;
}

/** @param status of its answers; 0: it never answers */
export async function receiver(status = 200): Promise<Receiver> {
  const texts: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const url = await serve((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += String(chunk)));
    request.on('end', () => {
      if (request.url === '/v1/traces') texts.push(text);
      headers.push(request.headers);
      if (status !== 0) response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  const requests = () => texts.map((text) => JSON.parse(text) as Request);
  return {
    url,
    texts,
    headers,
    spans: () =>
      requests().flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
      ),
    resource: () => plain(requests()[0]?.resourceSpans[0]?.resource.attributes ?? []),
  };
}

export function plain(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
