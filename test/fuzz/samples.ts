import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/tree.js';

/** Small true examples of foreign bytes, from which inputs are made. */
const said = 'Look at the file, then change the function that reads it.';

const CHAT = {
  model: 'm',
  stream: true,
  stream_options: { include_usage: false },
  max_tokens: 20,
  n: 1,
  prompt_cache_key: 'k',
  metadata: { session_id: 's' },
  tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
  messages: [
    { role: 'system', content: 'You are an agent.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: said },
        { type: 'image_url', image_url: { url: 'data:,' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'found' },
    { role: 'assistant', content: `Calling tools:\n[{'id': 'call_2'}]`, reasoning_content: 'hm' },
  ],
};
const MESSAGES = {
  model: 'm',
  max_tokens: 20,
  system: [{ type: 'text', text: 'You are an agent.', cache_control: { type: 'ephemeral' } }],
  messages: [
    { role: 'user', content: said },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'x' },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: { a: 1 } },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'found' }] }],
    },
  ],
};
const RESPONSES = {
  model: 'm',
  instructions: 'You are an agent.',
  previous_response_id: 'resp_1',
  max_output_tokens: 20,
  input: [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: said }] },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
    { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'found' },
  ],
};
const COMPLETIONS = { model: 'm', prompt: [said, said], echo: true, n: 2, stream: false };

/** A body for each path that schedules. */
export const BODIES: Readonly<Record<string, string>> = {
  '/v1/chat/completions': JSON.stringify(CHAT),
  '/v1/messages': JSON.stringify(MESSAGES),
  '/v1/responses': JSON.stringify(RESPONSES),
  '/v1/completions': JSON.stringify(COMPLETIONS),
};

const USAGE = { prompt_tokens: 7, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 5 } };
const event = (data: unknown, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
const typed = (data: { readonly type: string }): string => event(data, data.type);
const item = { id: 'i', type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' };

/** A streamed answer of each of these APIs. */
export const STREAMS: Readonly<Record<string, string>> = {
  '/v1/chat/completions': [
    ': comment\n\n',
    event({ id: 'x', choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' } }] }),
    event({
      choices: [
        { index: 0, delta: { tool_calls: [{ index: 0, id: 'call_1', function: { name: 'look', arguments: '{' } }] } },
      ],
    }),
    event({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }),
    event({ choices: [], usage: USAGE, timings: { prompt_ms: 4, predicted_ms: 5 } }),
    'data: [DONE]\n\n',
  ].join(''),
  '/v1/messages': [
    typed({
      type: 'message_start',
      message: { id: 'msg', usage: { input_tokens: 7, cache_read_input_tokens: 5 } },
    } as never),
    typed({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'look' },
    } as never),
    typed({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{"a"' },
    } as never),
    typed({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } } as never),
    typed({ type: 'message_stop' }),
  ].join(''),
  '/v1/responses': [
    typed({ type: 'response.created', sequence_number: 0, response: { id: 'resp_2' } } as never),
    typed({ type: 'response.output_text.delta', sequence_number: 1, delta: 'hi' } as never),
    typed({ type: 'response.output_item.done', sequence_number: 2, item } as never),
    typed({
      type: 'response.completed',
      sequence_number: 3,
      response: { id: 'resp_2', output: [item], usage: { input_tokens: 7, output_tokens: 3 } },
    } as never),
  ].join(''),
  '/v1/completions': `${event({ choices: [{ index: 0, text: 'hi' }] })}${event({ choices: [], usage: USAGE })}data: [DONE]\n\n`,
};

/** A whole answer of each of them. */
export const ANSWERS: Readonly<Record<string, string>> = {
  '/v1/chat/completions': JSON.stringify({
    id: 'x',
    choices: [{ index: 0, message: CHAT.messages[2], finish_reason: 'tool_calls' }],
    usage: USAGE,
  }),
  '/v1/messages': JSON.stringify({
    id: 'msg',
    role: 'assistant',
    content: MESSAGES.messages[1]!.content,
    usage: { input_tokens: 7, output_tokens: 3 },
  }),
  '/v1/responses': JSON.stringify({ id: 'resp_2', output: [item], usage: { input_tokens: 7, output_tokens: 3 } }),
  '/v1/completions': JSON.stringify({ id: 'x', choices: [{ index: 0, text: 'hi' }], usage: USAGE }),
};

export const PROMETHEUS = `# HELP vllm:num_requests_running Running.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a\\"b\\\\c"} 3.0
vllm:num_requests_waiting{engine="0"} 1e3 1700000000
vllm:kv_cache_usage_perc{engine="0",} 0.25
vllm:cache_config_info{block_size="16",num_gpu_blocks="1000"} 1.0
vllm:prefix_cache_hits_total{engine="0"} 12 # {a="b"} 1 2
`;
export const PROMETHEUS_NAMES = new Set([...PROMETHEUS.matchAll(/^(vllm:\w+)/gm)].map(([, name = '']) => name));

export const CONFIG = `listen: { host: 127.0.0.1, port: 0 }
engines:
  - url: http://127.0.0.1:8000
    kind: vllm
    models: [m]
    window: 8
policy:
  name: plas   # the default
  firstQuantumMs: 4
timeouts: &times
  queueMs: 600000
limits: { programsMax: 100 }
admission: { gate: 0.9, reserveMs: 1000 }
`;
export const WORKLOAD = readFileSync(join(ROOT, 'examples/workloads/office.yaml'), 'utf8');

export const HEADERS = [
  'agent.run.id=abc%20d;prop=1,maitred.program=p-1,key=%ZZ',
  '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  '../../etc/passwd',
  'program\u0000\u{1F600}',
  '120',
  'Wed, 21 Oct 2026 07:28:00 GMT',
  '/v1/chat%2Fcompletions;x=1/..//%252e%252e/?a=b#c',
  'http://host/v1/chat/completions',
];
