import { appendFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { countsInWords } from '../../sidecar/admin/batches.js';
import { isObject, parseJson } from '../../sidecar/apis/fields.js';
import { claimOf } from '../../sidecar/batches/claim.js';
import { readInput, type Input, type InputLimits } from '../../sidecar/batches/input.js';
import { Results, type Paths } from '../../sidecar/batches/results.js';
import { Run, type LineAnswer, type LineRequest } from '../../sidecar/batches/run.js';
import { setTimer } from '../../sidecar/timer.js';
import { ConfigError, fileFault } from '../../sidecar/config/index.js';
import { counted, reasonOf } from '../../text/index.js';
import { messageIn } from '../admin.js';
import { complain } from '../complain.js';
import { Interrupted } from '../signals.js';
import { hashOf, moveChanged, namesOf } from './changed.js';
import type { Problem } from '../../plans/index.js';

export interface RunOptions {
  readonly target: string;
  readonly out: string;
  readonly parallel: number;
  readonly resume: boolean;
}

/** Longest silence of a server. */
const SILENCE_MS = 600_000;
/** Longest silence of one that is only asked whether it is there. */
const REACH_MS = 30_000;
/** Longest absence of one that was there, such as a restart. */
const AWAY_MS = 60_000;
const AWAY = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const PROGRESS_MS = 500;
const DISK = { isOurs: () => true, failed: () => Promise.resolve(false) };
const MODELS_SHOWN_MAX = 8;
const WARNINGS_SHOWN_MAX = 5;

const Models = z.object({ data: z.array(z.object({ id: z.string() })) });

/**
 * Runs a batch against a server, from what the output has on.
 * @throws Interrupted once the calls under way have ended; FaultyBatch; ConfigError for an output of another batch or a server out of reach; Error when lines have failed
 */
export async function runBatch(
  file: string,
  { target, out, parallel, resume }: RunOptions,
  limits: InputLimits,
  signal: AbortSignal,
): Promise<void> {
  const agent = new Agent({ connections: parallel, headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS });
  const models = await modelsOf(agent, target, signal);
  const input = await readInput(file, limits);
  warnOf(file, input.warnings);
  if (!resume) checkModels(file, input.models, target, models);
  const names = await namesOf(file, input);
  const paths = { output: out, errors: `${out}.errors` };
  const { results, claim } = await openResults(file, names, input, paths);
  let awaySinceMs = Infinity;
  const ask = async (line: LineRequest): Promise<LineAnswer | undefined> => {
    const answer = await send(agent, target, line);
    if (!(answer instanceof Error)) {
      if (awaySinceMs < Infinity) complain(`${target} is back`);
      awaySinceMs = Infinity;
      const { status, body } = answer;
      if (models.length > 0 || results.counts.completed > 0 || !isNoApi(status, body)) return answer;
      failed(noApi(target, line.url, status));
      return undefined;
    }
    const nowMs = performance.now();
    if (awaySinceMs === Infinity) complain(`${target} is away, and is asked again: ${reasonOf(answer)}`);
    awaySinceMs = Math.min(awaySinceMs, nowMs);
    if (nowMs - awaySinceMs < AWAY_MS) return { status: 503, body: Buffer.from(answer.message), isBusy: true };
    failed(new Error(`${target} has been away for ${AWAY_MS / 1000} s; --resume goes on`));
    return undefined;
  };
  const ports = { ask, changed: () => pump(), setTimer };
  const run = await Run.open(hashOf(names.join()), file, input, results, ports);
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
  signal.addEventListener('abort', () => {
    if (run.inFlight > 0) complain(`waiting for ${counted(run.inFlight, 'line')} in flight; Ctrl-C again stops now`);
    pump();
  });
  const progress = process.stderr.isTTY ? setInterval(() => show(results, '\r'), PROGRESS_MS) : undefined;
  pump();
  await ended;
  clearInterval(progress);
  await run.close();
  claim?.close();
  await agent.close();
  show(results, '\n');
  const { code, message } = (fault ?? {}) as NodeJS.ErrnoException;
  if (code !== undefined) throw new Error(`${out} cannot be written: ${message}; --resume goes on`);
  if (fault !== undefined) throw fault as Error;
  if (results.pending > 0) throw new Interrupted('stopped; --resume goes on');
  if (results.counts.failed === 0) return;
  warnOf(file, results.failures);
  throw new Error(
    `lines have failed; ${paths.errors} has all: --resume asks those again that you mend in ${file}, or all if you delete it`,
  );
}

const noApi = (target: string, path: string, status: number) =>
  unusable(
    target,
    `${pathAt(target, path)} answers ${status}; name a server of the OpenAI API, without what follows from /v1 on`,
  );

/** @throws ConfigError if another run writes them, or they are of another batch */
async function openResults(file: string, names: readonly string[], { lines }: Input, paths: Paths) {
  const claimed = () =>
    claimOf(paths.output, unusable(paths.output, 'another run writes there: wait for its end, or name another --out'));
  // The file must be there to be claimed.
  await appendFile(paths.output, '');
  let claim = await claimed();
  try {
    const old = `${paths.output}.old`;
    const moved = await moveChanged(paths, names, old);
    if (moved > 0) {
      complain(
        `${file} has changed: ${counted(moved, 'result')} of lines that changed or went, or that need such, moved to ${old}; lines without a result are asked`,
      );
      // It is another file by now.
      claim?.close();
      claim = await claimed();
    }
    const results = await Results.open(names, lines, paths, DISK);
    for (const fault of results.broken) complain(fault);
    return { results, claim };
  } catch (error) {
    claim?.close();
    throw error;
  }
}

/** Models that the target lists; none unless it tells. @throws ConfigError when it cannot be reached or refuses the key */
async function modelsOf(agent: Agent, target: string, signal: AbortSignal): Promise<string[]> {
  try {
    const options = { dispatcher: agent, headersTimeout: REACH_MS, headers: authorization(), signal };
    const at = pathAt(target, '/v1/models');
    const { statusCode: status, headers, body } = await request(at, options);
    if (status === 200 && /^text\/html/i.test(String(headers['content-type'])))
      throw new Error('it is a web site: /v1/models is a page');
    if (status === 403 && 'x-maitred-reason' in headers)
      throw new Error(`answers 403 at ${at}: ${messageIn(await body.text())}`);
    if (status === 401 || status === 403)
      throw new Error(
        `answers ${status}: ${process.env['OPENAI_API_KEY'] ? 'it does not know the key in OPENAI_API_KEY' : 'OPENAI_API_KEY is not set; set it to a key of this server'}`,
      );
    return Models.safeParse(parseJson(await body.text())).data?.data.map(({ id }) => id) ?? [];
  } catch (error) {
    if (signal.aborted) throw new Interrupted('stopped before the first line was sent');
    const { code, message } = error as NodeJS.ErrnoException;
    throw code === undefined ? unusable(target, message) : fileFault(target, `cannot be reached: ${reasonOf(error)}`);
  }
}

const unusable = (origin: string, why: string) => fileFault(origin, `cannot be used: ${why}`);

/** Whether an answer is that of a server that does not know the path: it is not in JSON, or something is missing that is no model. */
const isNoApi = (status: number, body: Buffer): boolean =>
  [200, 404, 405, 501].includes(status) &&
  (!isObject(parseJson(body.toString())) || (status !== 200 && !/\bmodel\b/i.test(body.toString())));

/** @throws ConfigError for models that the target lacks: each of their lines would fail */
function checkModels(file: string, asked: ReadonlyMap<string, number>, target: string, there: readonly string[]): void {
  const has = `${there.slice(0, MODELS_SHOWN_MAX).join(', ')}${there.length > MODELS_SHOWN_MAX ? ', …' : ''}`;
  const problems = [...asked]
    .filter(([model]) => !there.includes(model))
    .map(([model, line]) => ({
      path: '',
      message: `asks for the model "${model}"; ${target} serves only: ${has}`,
      origin: `${file}:${line}`,
    }));
  if (there.length > 0 && problems.length > 0) throw new ConfigError(problems);
}

export function warnOf(file: string, warnings: readonly Problem[]): void {
  for (const { line, message } of warnings.slice(0, WARNINGS_SHOWN_MAX)) complain(`${file}:${line}: ${message}`);
  if (warnings.length > WARNINGS_SHOWN_MAX)
    complain(`${counted(warnings.length - WARNINGS_SHOWN_MAX, 'more text')} like this`);
}

const authorization = (): Record<string, string> => {
  const key = process.env['OPENAI_API_KEY'];
  return key === undefined || key === '' ? {} : { authorization: `Bearer ${key}` };
};

const pathAt = (target: string, path: string): string => target.replace(/(\/v1)?\/*$/, '') + path;

const show = ({ counts, leftOut }: Results, end: string): void =>
  void process.stderr.write(`${countsInWords(counts, leftOut)}${end}`);

/** Sends a line. A server that breaks off counts as one that failed; an Error: it is not there. */
async function send(agent: Agent, target: string, { url, headers, body, id }: LineRequest) {
  try {
    const { statusCode: status, body: answer } = await request(pathAt(target, url), {
      method: 'POST',
      dispatcher: agent,
      headers: { ...headers, 'content-type': 'application/json', 'x-request-id': id, ...authorization() },
      body,
    });
    return { status, body: Buffer.from(await answer.arrayBuffer()), isBusy: status === 429 || status === 503 };
  } catch (error) {
    if (AWAY.has((error as NodeJS.ErrnoException).code ?? '')) return error as Error;
    const message = `The server did not answer: ${reasonOf(error)}`;
    return { status: 502, body: Buffer.from(JSON.stringify({ error: { message } })), isBusy: false };
  }
}
