import { randomUUID } from 'node:crypto';
import { reasonOf } from '../text/index.js';
import { type Ask, countOf, isObject, listOf, objectIn, objectOf, textOf } from './apis/api.js';
import { measureAlone, calibrate, type Prober } from './calibrate.js';
import { errorMessage, isNotHttp, isTls, short, type Outcome } from './exchange.js';
import { LoadError, type LoadOptions } from './load.js';
import type { Target } from './target.js';

/** Time limit of one exchange before the run; a small model on a slow machine may need this long for its first call. */
const EXCHANGE_MS_MAX = 60_000;
const FIRST_WORDS = 'are you there';
const FIRST_TOKENS = 4;

type PreflightOptions = Pick<LoadOptions, 'model' | 'ignoreEos' | 'stream' | 'timeoutMs' | 'baseline'>;

/** The properties of a target, and how to write for it. */
export type Readiness = Readonly<Awaited<ReturnType<typeof preflight>>>;

type Seen = Awaited<ReturnType<typeof lookAt>>;

/** Facts found out about a target, before the run and by it. */
export type TargetFacts = Readiness['facts'] & {
  /** Prompt tokens intended for calls with made text, and those that the target counted. */
  readonly promptTokensWanted: number;
  readonly promptTokensCounted: number;
  /** When it went away, in milliseconds after the beginning; undefined: it stayed, or came back. */
  readonly goneMs: number | undefined;
  /** Events and calls at a gateway during the run that were not of it. */
  readonly disturbances: readonly string[];
};

/**
 * Asks a target what it serves, without a call.
 * @throws LoadError
 */
export async function lookAt(target: Target, options: PreflightOptions, signal: AbortSignal) {
  const timeoutMs = Math.min(options.timeoutMs, EXCHANGE_MS_MAX);
  const models = await readModels(target, options.model, timeoutMs, signal);
  /** URLs of the engines behind a gateway that tells them, otherwise its own. */
  return { target, ...models, timeoutMs, engines: await enginesOf(target, models.policy, limit(signal, timeoutMs)) };
}

/**
 * Examines a target before the run, by calls: its access, model, and tokenizer.
 * @throws LoadError with one line that states the problem
 */
export async function preflight(seen: Seen, options: PreflightOptions, signal: AbortSignal) {
  const { target, model, maxModelLen, owner, policy, timeoutMs } = seen;
  const { api } = target;
  const base = { model, tools: [], stream: options.stream, fields: {} };
  // To a gateway all of them are one program, which ends before the run: else each would be a program of its own.
  const program = policy === undefined ? undefined : `load-${randomUUID().slice(0, 8)}`;
  const headers: Record<string, string> = program === undefined ? {} : { 'x-maitred-program': program };
  let waitedMs = 0;
  let speed: number | undefined;
  const ask = async (part: Pick<Ask, 'items' | 'outputTokens' | 'isExact'> & Partial<Ask>) => {
    const outcome = await target.ask(api.body({ ...base, ...part }), { headers, timeoutMs }, signal);
    waitedMs = Math.max(waitedMs, outcome.gateway.queueMs || 0);
    if (outcome.gateway.speed > 0) speed = outcome.gateway.speed;
    return outcome;
  };

  const first = { items: [api.item({ role: 'user', text: FIRST_WORDS })], outputTokens: FIRST_TOKENS };
  let isExact = options.ignoreEos;
  let outcome = await ask({ ...first, isExact });
  if (isExact && isBadRequest(outcome)) {
    // A server that rejects unknown fields may accept the call without them.
    isExact = false;
    outcome = await ask({ ...first, isExact });
  }
  check(target, model, outcome);
  const withTools = api.path === '/v1/completions' ? undefined : await ask({ ...first, isExact, tools: ['look'] });

  const prober: Prober = {
    api,
    model,
    call: (part) => ask({ isExact, ...part }),
    post: async (path, body) => {
      const answer = await target.json('POST', path, body, limit(signal, timeoutMs)).catch(() => undefined);
      signal.throwIfAborted();
      return answer?.status === 200 ? objectIn(answer.text) : undefined;
    },
  };
  const calibration = await calibrate(prober, maxModelLen);
  const alone = options.baseline === 'estimate' ? await measureAlone(prober, calibration, maxModelLen) : undefined;
  if (program !== undefined)
    await target.json('POST', `/programs/${program}/end`, {}, limit(signal, timeoutMs)).catch(() => undefined);
  return {
    ...calibration,
    /** Whether the model may be offered tools. */
    offersTools: withTools?.outcome === 'completed',
    facts: {
      url: target.url,
      model,
      /** Its own name, such as `vllm 0.32.0`; undefined where unknown. */
      server: await serverOf(target, policy === undefined ? owner : 'maitred', timeoutMs, signal),
      /** Scheduling policy of a maitred gateway; undefined for other servers. */
      policy,
      /** Longest prompt and answer together; undefined where unknown. */
      maxModelLen,
      tokenizer: calibration.tokenizer,
      isExact: calibration.isExact,
      /** Whether answers can be made exactly as long as wanted. */
      ignoresEos: isExact,
      /** Speed of a call alone, from which `aloneMs` is computed; undefined: not measured. */
      alone,
      /** Longest time that a call before the run waited in a gateway's queue. */
      waitedMs,
      /** How many times as fast as real a stand-in engine runs; undefined: it is none, or does not say. */
      speed,
    },
  };
}

const limit = (signal: AbortSignal, timeoutMs: number) => AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
export const isBadRequest = ({ status }: Outcome): boolean => status === 400 || status === 422;

export async function readModels(target: Target, wanted: string | undefined, timeoutMs: number, signal: AbortSignal) {
  const answer = await target.json('GET', '/v1/models', undefined, limit(signal, timeoutMs)).catch((error: unknown) => {
    signal.throwIfAborted();
    throw connectionError(target, error as Error, timeoutMs);
  });
  const { status, text, headers } = answer;
  if (status === 401 || status === 403) throw unauthorized(target, status);
  const isHtml = /^\s*</.test(text) || /\bhtml\b/i.test(String(headers['content-type']));
  if (isHtml) throw new LoadError(`${target.url} answers HTML, not an API: status ${status}`);
  const list = status === 200 ? listOf(objectIn(text)?.['data']).filter(isObject) : [];
  if (status === 200 && objectIn(text) === undefined)
    throw new LoadError(`${target.url}/v1/models answers no JSON object: ${short(text)}`);
  const model = wanted ?? list.map((entry) => textOf(entry['id'])).find((id) => id !== '');
  if (model === undefined)
    throw new LoadError(
      `${target.url}/v1/models lists no model (status ${status}): check the URL, or name one by --model`,
    );
  const entry = objectOf(list.find((each) => each['id'] === model));
  const length = countOf(entry['max_model_len']) || countOf(objectOf(entry['meta'])['n_ctx_train']);
  const policy = textOf(headers['x-maitred-policy']) || undefined;
  return { model, maxModelLen: length > 0 ? length : undefined, owner: textOf(entry['owned_by']), policy };
}

async function serverOf(target: Target, owner: string, timeoutMs: number, signal: AbortSignal) {
  const answer = await target.json('GET', '/version', undefined, limit(signal, timeoutMs)).catch(() => undefined);
  const version = answer?.status === 200 ? textOf(objectIn(answer.text)?.['version']) : '';
  const words = [owner, version].filter((word) => word !== '');
  return words.length > 0 ? short(words.join(' ')) : undefined;
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

async function enginesOf(target: Target, policy: string | undefined, signal: AbortSignal): Promise<string[]> {
  const asked =
    policy === undefined ? undefined : await target.json('GET', '/engines', undefined, signal).catch(() => undefined);
  const told = listOf(objectIn(asked?.text ?? '')?.['engines'])
    .map((engine) => textOf(objectOf(engine)['url']))
    .filter((url) => URL.canParse(url));
  return (told.length > 0 ? told : [target.url]).map((text) => {
    const url = new URL(text);
    // An engine on its gateway's own machine.
    for (const name of [new URL(target.url).hostname, '127.0.0.1'])
      if (LOOPBACK.test(url.hostname)) url.hostname = name;
    return url.href.replace(/(\/v1)?\/*$/, '');
  });
}

function connectionError({ url }: Target, error: Error, timeoutMs: number): LoadError {
  if (error.name === 'TimeoutError') return new LoadError(`${url} did not answer within ${timeoutMs} ms`);
  if (isTls(error)) return new LoadError(`${url}: no safe connection: ${reasonOf(error)}`);
  if (isNotHttp(error)) return new LoadError(`${url} does not speak HTTP: ${reasonOf(error)}`);
  return new LoadError(`${url} cannot be reached: ${reasonOf(error)}`);
}

const unauthorized = ({ url }: Target, status: number): LoadError =>
  new LoadError(`${url} refuses the key (status ${status}); --key names the variable that holds it`);

/** @throws LoadError for an unanswered first call */
function check(target: Target, model: string, { outcome, status, detail }: Outcome): void {
  if (outcome === 'completed') return;
  const { url } = target;
  if (status === 401 || status === 403) throw unauthorized(target, status);
  const isOfModel = /\bmodel\b/i.test(detail) && !/length|context|token/i.test(detail);
  if ((status === 404 || status === 400) && isOfModel) throw new LoadError(`${url} has no model ${model}: ${detail}`);
  throw new LoadError(`${url}${target.api.path} does not answer a first call: ${errorMessage(detail)}`);
}
