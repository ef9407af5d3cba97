/** What engines say: whole answers and streams of four APIs. Each repeats the request's own mark, wherever text stands. */

export type ApiName = 'chat' | 'completions' | 'messages' | 'responses' | 'embeddings';

export const PATHS: Readonly<Record<ApiName, string>> = {
  chat: '/v1/chat/completions',
  completions: '/v1/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
  embeddings: '/v1/embeddings',
};

export function apiOf(path: string): ApiName | undefined {
  return (Object.keys(PATHS) as ApiName[]).find((name) => PATHS[name] === path.split('?', 1)[0]);
}

/** A request that says this is answered as all others that do: without a mark. */
export const PLAIN = 'plain';
export const PLAIN_ANSWER = 'ok';

/** What an answer to this request, and to no other, holds. */
export const markOf = (rid: string): string => `mark(${rid})`;

/** Beside it: which answer of which engine it is, so that two are told apart. */
export const sourceOf = (engine: string, count: number): string => `source(${engine}.${count})`;

export const sourcesIn = (text: string): ReadonlySet<string> => new Set(text.match(/source\([\w.]+\)/g));

/** Every mark in a text. */
export const marksIn = (text: string): string[] =>
  [...text.matchAll(/mark\(([\w.]+)\)/g)].map((match) => match[1] ?? '');

/** The id of the response that an engine makes for this request. */
export const responseIdOf = (rid: string): string => `resp_${rid}`;

/** What an engine says of a path that is no call: of a response, what that response holds. */
export function otherAnswer(rid: string, path: string): string {
  const kept = /^\/v1\/responses\/resp_([\w.]+)/.exec(path)?.[1];
  return JSON.stringify({ said: markOf(kept ?? rid) });
}

/** What a call's answer tells of the response that it goes on from. */
export function previousIn(body: string): string {
  const kept = /"previous_response_id":"resp_([\w.]+)"/.exec(body)?.[1];
  return kept === undefined ? '' : markOf(kept);
}

/** The tenant of a request, which its id begins with. */
export const tenantOf = (rid: string): string => rid.split('.', 1)[0] ?? '';

const USAGE = { prompt_tokens: 40, completion_tokens: 8, total_tokens: 48 };

export function wholeAnswer(api: ApiName, rid: string, plain: boolean, previous: string): string {
  const text = plain ? PLAIN_ANSWER : markOf(rid) + previous;
  switch (api) {
    case 'chat':
      return JSON.stringify({
        id: 'c',
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
        usage: USAGE,
      });
    case 'completions':
      return JSON.stringify({ id: 'c', choices: [{ index: 0, text, finish_reason: 'stop' }], usage: USAGE });
    case 'messages':
      return JSON.stringify({
        id: 'm',
        type: 'message',
        role: 'assistant',
        content: [{ type: 'text', text }],
        usage: { input_tokens: 40, output_tokens: 8 },
      });
    case 'responses':
      return JSON.stringify(responseOf(rid, 'completed', previous));
    case 'embeddings':
      return JSON.stringify({ data: [{ index: 0, embedding: [0], object: text }], usage: { prompt_tokens: 4 } });
  }
}

function responseOf(rid: string, status: string, previous = ''): object {
  const output = [
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: markOf(rid) + previous }] },
  ];
  const usage = { input_tokens: 40, output_tokens: 8 };
  return { id: responseIdOf(rid), object: 'response', status, output, usage };
}

/** The events of a streamed answer: `parts` of them with text, of `padding` bytes beside it, and the end. */
export function eventsOf(api: ApiName, rid: string, source: string, parts: number, padding: number): string[] {
  const text = markOf(rid) + source + '.'.repeat(padding);
  const texts = Array.from({ length: parts }, () => text);
  if (api === 'messages') {
    return [
      named('message_start', { message: { usage: { input_tokens: 40, output_tokens: 0 } } }),
      named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      ...texts.map((each) => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: each } })),
      named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 8 } }),
      named('message_stop', {}),
    ];
  }
  if (api === 'responses') {
    return [
      named('response.created', { sequence_number: 0, response: responseOf(rid, 'in_progress') }),
      ...texts.map((delta, i) => named('response.output_text.delta', { sequence_number: i + 1, delta })),
      named('response.completed', { sequence_number: parts + 1, response: responseOf(rid, 'completed') }),
    ];
  }
  const choice = (each: string) => (api === 'chat' ? { index: 0, delta: { content: each } } : { index: 0, text: each });
  const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
  return [
    ...texts.map((each) => data({ choices: [choice(each)] })),
    data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    data({ choices: [], usage: USAGE }),
    'data: [DONE]\n\n',
  ];
}

function named(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

/** Whether the text of a stream says that it has ended: well, or with an error. */
export function endOf(whole: string): 'whole' | 'error' | undefined {
  const text = whole.slice(-2000);
  if (/^data: .*"error":\{|^event: error|^event: response.failed/m.test(text)) return 'error';
  return /^data: \[DONE\]|^event: message_stop|^event: response.completed|"finish_reason":"stop"/m.test(text)
    ? 'whole'
    : undefined;
}
