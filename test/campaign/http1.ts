/** The start line and headers of a message; names in lower case. */
export interface Head {
  readonly line: string;
  /** Of a response; 0 for a request. */
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
}

export interface MessageSink {
  head(head: Head): void;
  body(bytes: Buffer): void;
  /** The message is whole. */
  done(): void;
}

type State = 'head' | 'length' | 'chunk-size' | 'chunk' | 'trailer' | 'until-end';

const CRLF = '\r\n';

/**
 * Reads HTTP/1.1 messages off a connection, one after the other: the world's own reader, as strict as a client may be, so
 * that what the gateway writes is judged by other code than Node's.
 */
export class MessageReader {
  #state: State = 'head';
  #bytes: Buffer = Buffer.alloc(0);
  #left = 0;

  constructor(private readonly sink: MessageSink) {}

  /** Inside a message: its end would cut it. */
  get midway(): boolean {
    return this.#state !== 'head' || this.#bytes.length > 0;
  }

  /** @throws Error for what is not HTTP. */
  push(bytes: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
    while (this.#step());
  }

  /** The connection has ended. */
  end(): void {
    if (this.#state === 'until-end') this.#done();
  }

  /** Takes one part of the message; false: more bytes are needed. */
  #step(): boolean {
    switch (this.#state) {
      case 'head':
        return this.#readHead();
      case 'until-end':
        return this.#readBody(Infinity);
      case 'length':
        if (this.#left === 0) return this.#done();
        return this.#readBody(this.#left);
      case 'chunk-size': {
        const line = this.#readLine();
        if (line === undefined) return false;
        if (!/^[0-9a-f]+$/i.test(line)) throw new Error(`not a chunk size: ${JSON.stringify(line.slice(0, 40))}`);
        this.#left = parseInt(line, 16);
        this.#state = this.#left === 0 ? 'trailer' : 'chunk';
        return true;
      }
      case 'chunk':
        if (this.#left > 0) return this.#readBody(this.#left);
        if (this.#bytes.length < 2) return false;
        if (this.#readLine() !== '') throw new Error('a chunk does not end where it says');
        this.#state = 'chunk-size';
        return true;
      case 'trailer': {
        const line = this.#readLine();
        if (line === undefined) return false;
        return line === '' ? this.#done() : true;
      }
    }
  }

  #readHead(): boolean {
    const end = this.#bytes.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const [line = '', ...rest] = this.#cut(end + 4)
      .toString('latin1')
      .slice(0, -4)
      .split(CRLF);
    const headers = new Map<string, string>();
    for (const each of rest) {
      const colon = each.indexOf(':');
      const name = each.slice(0, colon).toLowerCase();
      if (colon <= 0 || headers.has(name)) throw new Error(`a bad or repeated header: ${each.slice(0, 80)}`);
      headers.set(name, each.slice(colon + 1).trim());
    }
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1] ?? 0);
    if (status === 0 && !line.endsWith(' HTTP/1.1')) throw new Error(`not HTTP: ${JSON.stringify(line.slice(0, 80))}`);
    this.sink.head({ line, status, headers });
    if (status >= 100 && status < 200) return true;
    const length = headers.get('content-length');
    if (headers.get('transfer-encoding') === 'chunked') this.#state = 'chunk-size';
    else if (length === undefined && status !== 0 && status !== 204 && status !== 304) this.#state = 'until-end';
    else {
      this.#left = Number(length ?? 0);
      this.#state = 'length';
    }
    return true;
  }

  #readBody(most: number): boolean {
    if (this.#bytes.length === 0) return false;
    const part = this.#cut(Math.min(most, this.#bytes.length));
    this.#left -= part.length;
    this.sink.body(part);
    return true;
  }

  #readLine(): string | undefined {
    const end = this.#bytes.indexOf(CRLF);
    return end < 0 ? undefined : this.#cut(end + 2).toString('latin1', 0, end);
  }

  #cut(length: number): Buffer {
    const part = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return part;
  }

  #done(): true {
    this.#state = 'head';
    this.sink.done();
    return true;
  }
}
