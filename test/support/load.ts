import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { request } from 'undici';
import { runLoad, type LoadOptions } from '../../loadtest/index.js';
import type { LoadCallRecord, LoadProgramRecord } from '../../loadtest/load.js';
import type { EngineHandle } from '../../sim/index.js';
import { serve } from './serve.js';
import type { AgentCall, AgentProgram } from '../../workloads/index.js';

/** All programs at once, without a limit on time. */
export const OPTIONS: LoadOptions = {
  targets: [],
  programs: () => [],
  maxPrograms: Infinity,
  runs: 1,
  durationMs: Infinity,
  arrivals: { type: 'open', ratePerSecond: 1e6, cv: 0 },
  timeScale: 1,
  gapMsMax: Infinity,
  api: 'chat',
  stream: true,
  identity: 'none',
  seed: 0,
  ignoreEos: true,
  recordedAnswers: false,
  connections: 4096,
  timeoutMs: 20_000,
  ownsTargets: false,
  baseline: 'none',
};

type Signal = Parameters<typeof runLoad>[2];

export async function load(options: Partial<LoadOptions>, signal: Signal = new AbortController().signal) {
  const calls: LoadCallRecord[] = [];
  const programs: LoadProgramRecord[] = [];
  const observer = {
    callEnded: (record: LoadCallRecord) => void calls.push(record),
    programEnded: (record: LoadProgramRecord) => void programs.push(record),
  };
  const summary = await runLoad({ ...OPTIONS, ...options }, observer, signal);
  return { summary, calls, programs };
}

export const call = (fields: Partial<AgentCall> = {}): AgentCall => ({
  after: [],
  gapMs: 0,
  thread: '',
  promptTokens: 100,
  outputTokens: 8,
  ...fields,
});

export const program = (id: string, ...calls: readonly AgentCall[]): AgentProgram => ({ id, calls });

/** This many programs of one call each. */
export const singles = (count: number, fields: Partial<AgentCall> = {}): AgentProgram[] =>
  Array.from({ length: count }, (_, index) => program(`p${index}`, call(fields)));

/** A chain in which each call continues the one before, growing by a fixed number of tokens. */
export function chain(id: string, calls: number, fields: Partial<AgentCall> = {}): AgentProgram {
  const grown = 30;
  return program(
    id,
    ...Array.from({ length: calls }, (_, index) => {
      const promptTokens = 100 + index * (8 + grown);
      const prefix = { call: index - 1, tokens: promptTokens - grown };
      return call({ after: index === 0 ? [] : [index - 1], promptTokens, ...(index > 0 && { prefix }), ...fields });
    }),
  );
}

/** The bodies of a run's calls, without the probes before the run. */
export function bodiesOf(engine: EngineHandle, calls: number): Record<string, unknown>[] {
  const { records } = engine.stats();
  return records.slice(-calls).map(({ body = '{}' }) => JSON.parse(body) as Record<string, unknown>);
}

/** One word of an answer in a stream, and its end. */
export const PART = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n';
export const DONE = 'data: [DONE]\n\n';

type Own = { readonly status: number; readonly text: string } | ((response: ServerResponse) => void);

/**
 * An engine behind a custom front: the client gets `answer`'s result for a path; all other requests go to the engine.
 * @param answer returns undefined to pass the request to the engine
 */
export function front(
  { url }: EngineHandle,
  answer: (path: string, body: string, headers: IncomingHttpHeaders) => Own | undefined,
): Promise<string> {
  return serve((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = 'GET', url: path = '' } = incoming;
      const body = Buffer.concat(chunks).toString();
      const own = answer(path, body, incoming.headers);
      if (typeof own === 'function') return own(response);
      if (own !== undefined) {
        response.writeHead(own.status).end(own.text);
        return;
      }
      const headers = { 'content-type': 'application/json' };
      void request(url + path, { method: method as 'GET', headers, body: method === 'GET' ? null : body }).then(
        (given) => {
          response.writeHead(given.statusCode, { 'content-type': String(given.headers['content-type']) });
          given.body.pipe(response);
        },
      );
    });
  });
}
