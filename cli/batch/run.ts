import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Agent, request } from 'undici';
import { readInput, type InputLimits } from '../../sidecar/batches/input.js';
import { Results } from '../../sidecar/batches/results.js';
import { Run, type LineAnswer, type LineRequest } from '../../sidecar/batches/run.js';
import { setTimer } from '../../sidecar/timer.js';
import { ConfigError } from '../../sidecar/config/index.js';
import { Interrupted } from '../signals.js';

export interface RunOptions {
  readonly target: string;
  readonly out: string;
  readonly parallel: number;
}

/** Longest silence of a server. */
const SILENCE_MS = 600_000;
/** Longest silence of one that is only asked whether it is there. */
const REACH_MS = 30_000;
const PROGRESS_MS = 500;

/**
 * Runs a batch against a server, from what the output has on.
 * @throws Interrupted once the calls under way have ended; FaultyBatch; ConfigError for an output of another batch or a server out of reach; Error when lines have failed
 */
export async function runBatch(
  file: string,
  { target, out, parallel }: RunOptions,
  limits: InputLimits,
  signal: AbortSignal,
): Promise<void> {
  const agent = new Agent({ connections: parallel, headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS });
  await checkReachable(agent, target, signal);
  const input = await readInput(file, limits);
  const name = await hashOf(file);
  const paths = { output: out, errors: `${out}.errors` };
  const disk = { isOurs: () => true, failed: () => Promise.resolve(false) };
  const results = await Results.open(name, input.order.length, paths, disk);
  const ports = { ask: (line: LineRequest) => ask(agent, target, line), changed: () => pump(), setTimer };
  const run = await Run.open(name, file, input, results, ports);
  let fault: unknown;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const pump = (): void => {
    if (signal.aborted || fault !== undefined || run.isDone) end();
    else while (run.isReady && run.inFlight < parallel) void run.startNext().then(failed);
  };
  const failed = (error: unknown): void => {
    fault ??= error;
    if (fault !== undefined) end();
  };
  signal.addEventListener('abort', pump);
  const progress = process.stderr.isTTY ? setInterval(() => show(results, '\r'), PROGRESS_MS) : undefined;
  pump();
  await ended;
  clearInterval(progress);
  await run.close();
  await agent.close();
  show(results, '\n');
  const { code, message } = (fault ?? {}) as NodeJS.ErrnoException;
  if (code !== undefined) throw new Error(`${out} cannot be written: ${message}; --resume goes on`);
  if (fault !== undefined) throw fault as Error;
  if (results.pending > 0) throw new Interrupted('stopped; --resume goes on');
  if (results.counts.failed > 0) throw new Error(`lines have failed; ${paths.errors} tells why`);
}

/** @throws ConfigError when nothing listens there: each line would fail, after retries */
async function checkReachable(agent: Agent, target: string, signal: AbortSignal): Promise<void> {
  try {
    const options = { dispatcher: agent, headersTimeout: REACH_MS, signal };
    await (await request(pathAt(target, '/v1/models'), options)).body.dump();
  } catch (error) {
    if (signal.aborted) throw new Interrupted('stopped before the first line was sent');
    throw new ConfigError([{ path: '', message: `cannot be reached: ${(error as Error).message}`, origin: target }]);
  }
}

const pathAt = (target: string, path: string): string => target.replace(/(\/v1)?\/*$/, '') + path;

function show({ counts: { total, completed, failed } }: Results, end: string): void {
  process.stderr.write(`${completed} of ${total} lines answered, ${failed} failed${end}`);
}

/** Sends a line; a server that cannot be reached counts as one that failed. */
async function ask(agent: Agent, target: string, { url, headers, body, id }: LineRequest): Promise<LineAnswer> {
  const key = process.env['OPENAI_API_KEY'];
  try {
    const { statusCode: status, body: answer } = await request(pathAt(target, url), {
      method: 'POST',
      dispatcher: agent,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'x-request-id': id,
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body,
    });
    return { status, body: Buffer.from(await answer.arrayBuffer()), isBusy: status === 429 || status === 503 };
  } catch (error) {
    const message = `The server did not answer: ${(error as Error).message}`;
    return { status: 502, body: Buffer.from(JSON.stringify({ error: { message } })), isBusy: false };
  }
}

/** Part of the ids of a file's results. */
async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex').slice(0, 24);
}
