import { GatewayError } from '../errors.js';

const CRLF = Buffer.from('\r\n');
const HEADERS_END = Buffer.from('\r\n\r\n');
const HEADERS_BYTES_MAX = 16_384;

/** Receives the parts of a form in their order. */
export interface PartSink {
  /** A part begins. */
  open(name: string, filename: string | undefined): void;
  data(chunk: Buffer): void | Promise<void>;
}

/** @throws GatewayError `unsupported_media_type` */
export function boundaryOf(contentType: string | undefined): string {
  const [, quoted, plain] =
    /^multipart\/form-data\b.*;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType ?? '') ?? [];
  const boundary = quoted ?? plain;
  if (boundary !== undefined && boundary.length <= 200) return boundary;
  throw new GatewayError('unsupported_media_type', 'The content type must be multipart/form-data with a boundary.');
}

/**
 * Reads a form as it arrives, in little memory.
 * @throws GatewayError `invalid_body`, and what the sink throws
 */
export async function readForm(source: AsyncIterable<Buffer>, boundary: string, sink: PartSink): Promise<void> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  let state: 'preamble' | 'delimiter' | 'headers' | 'data' | 'end' = 'preamble';
  // The first delimiter has no line end before it.
  let rest: Buffer = CRLF;
  for await (const chunk of source) {
    rest = Buffer.concat([rest, chunk]);
    for (let isGoing = true; isGoing;) {
      isGoing = false;
      if (state === 'preamble' || state === 'data') {
        const at = rest.indexOf(delimiter);
        const end = at < 0 ? Math.max(0, rest.length - delimiter.length + 1) : at;
        if (state === 'data' && end > 0) await sink.data(rest.subarray(0, end));
        rest = rest.subarray(at < 0 ? end : at + delimiter.length);
        if (at >= 0) [state, isGoing] = ['delimiter', true];
      } else if (state === 'delimiter' && rest.length >= 2) {
        const isLast = rest.subarray(0, 2).toString() === '--';
        if (!isLast && !rest.subarray(0, 2).equals(CRLF)) throw malformed('a boundary is not followed by a line end');
        // Keeps the line end, before which a part may have no headers.
        [state, isGoing] = isLast ? ['end', false] : ['headers', true];
      } else if (state === 'headers') {
        const at = rest.indexOf(HEADERS_END);
        if (at > HEADERS_BYTES_MAX || (at < 0 && rest.length > HEADERS_BYTES_MAX))
          throw malformed('headers are too long');
        if (at >= 0) {
          openPart(rest.subarray(0, at).toString(), sink);
          rest = rest.subarray(at + HEADERS_END.length);
          [state, isGoing] = ['data', true];
        }
      }
    }
    if (state === 'end') rest = Buffer.alloc(0);
  }
  if (state !== 'end') throw malformed('it ends within a part');
}

function openPart(headers: string, sink: PartSink): void {
  const disposition = /^content-disposition:\s*form-data\b(.*)$/im.exec(headers)?.[1] ?? '';
  const [name, filename] = ['name', 'filename'].map((key) =>
    new RegExp(`;\\s*${key}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;]+))`, 'i').exec(disposition),
  );
  if (name === null || name === undefined) throw malformed('a part has no name');
  sink.open(name[1] ?? name[2] ?? '', filename?.[1] ?? filename?.[2]);
}

const malformed = (why: string): GatewayError => new GatewayError('invalid_body', `The form is malformed: ${why}.`);
