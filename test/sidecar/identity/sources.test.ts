import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../sidecar/apis/index.js';
import type { Identity } from '../../../sidecar/identity/index.js';
import { createCaller, DEFAULT_SOURCES, type Sent } from './caller.js';

const seen = ({ label, thread, final, source }: Identity) => ({ label, thread, final, source });
const identify = (sent: Sent) => seen(createCaller().identify(sent));
const UUID = '7f0c9a52-3d5e-4c3b-9c1e-0a1b2c3d4e5f';

describe('headers that name a program', () => {
  const ours = { 'x-maitred-program': 'p' };
  const codex = { 'session-id': 'p' };
  const dynamo = { 'x-dynamo-session-id': 'p' };
  const [child, final] = [{ thread: 's' }, { final: true }];

  /** The first header is the source, where no other is named. */
  it.each<[string, IncomingHttpHeaders, (Partial<Identity> & { source?: string })?]>([
    ['ours', ours],
    ['ours, in a thread', { ...ours, 'x-maitred-thread': 's' }, child],
    ['ours, thread under a thread', { ...ours, 'x-maitred-thread': 's', 'x-maitred-parent': 'r' }, child],
    ['ours, of a parent program', { 'x-maitred-program': 's', 'x-maitred-parent': 'p' }, child],
    ['ours, final', { ...ours, 'x-maitred-final': 'true' }, final],
    ['Claude Code', { 'x-claude-code-session-id': 'p' }],
    [
      'Claude Code sub-agent',
      { 'x-claude-code-session-id': 'p', 'x-claude-code-agent-id': 's', 'x-claude-code-parent-agent-id': 'b' },
      child,
    ],
    ['Codex root', { ...codex, 'thread-id': 'p', 'x-client-request-id': 'r' }],
    [
      'Codex sub-agent',
      { ...codex, 'thread-id': 's', 'x-codex-parent-thread-id': 'p', 'x-openai-subagent': 'collab_spawn' },
      child,
    ],
    ['Codex sub-agent of a sub-agent', { ...codex, 'thread-id': 's', 'x-codex-parent-thread-id': 'u' }, child],
    ['older Codex', { session_id: 'p' }],
    ['older Codex sub-agent', { session_id: 's', 'x-codex-parent-thread-id': 'p' }, child],
    ['OpenCode', { 'x-session-id': 'p', 'x-session-affinity': 'p' }],
    ['OpenCode, affinity alone', { 'x-session-affinity': 'p' }],
    ['OpenCode sub-agent', { 'x-session-id': 's', 'x-parent-session-id': 'p' }, child],
    ['Dynamo', dynamo],
    ['Dynamo child', { 'x-dynamo-session-id': 's', 'x-dynamo-parent-session-id': 'p' }, child],
    ['Dynamo final', { ...dynamo, 'x-dynamo-session-final': 'True' }, final],
    ['Dynamo not final', { ...dynamo, 'x-dynamo-session-final': 'false' }],
    [
      'the end of a Dynamo child, not of its root',
      { 'x-dynamo-session-id': 's', 'x-dynamo-parent-session-id': 'p', 'x-dynamo-session-final': 'true' },
      child,
    ],
    ['LiteLLM', { 'x-litellm-session-id': 'p', 'x-litellm-trace-id': 'q' }],
    ['LiteLLM trace', { 'x-litellm-trace-id': 'p' }],
    ['llm-d', { 'x-llm-d-inference-fairness-id': 'p' }],
    ['SGLang gateway', { 'x-smg-routing-key': 'p' }],
    ['Mistral Vibe', { 'x-affinity': 'p' }],
    ['AIBrix', { 'x-aibrix-session-key': 'p' }],
    ['AIPerf', { 'x-session-affinity': 'p', 'x-correlation-id': 'p', 'x-request-id': 'r' }],
    ['TensorRT-LLM', { 'x-correlation-id': 'p' }],
    ['any vendor', { 'x-acme-session-id': 'p' }],
    ['any vendor’s child', { 'x-acme-session-id': 's', 'x-acme-parent-session-id': 'p' }, child],
    ['baggage', { baggage: 'a=1, session.id = p%20q;meta=1' }, { label: 'p q', source: 'baggage session.id' }],
    ['conversation', { baggage: 'gen_ai.conversation.id=p' }, { source: 'baggage gen_ai.conversation.id' }],
  ])('%s', (_who, headers, expected = {}) => {
    const [source] = Object.keys(headers);
    expect(identify({ headers })).toEqual({ label: 'p', thread: '', final: false, source, ...expected });
  });

  it.each<[string, IncomingHttpHeaders]>([
    ['nothing', {}],
    ['empty values', { 'x-session-id': '', 'x-maitred-program': '  ' }],
    ['a parent alone', { 'x-parent-session-id': 'p', 'x-acme-parent-session-id': 'p' }],
    ['a thread alone', { 'x-maitred-thread': 's', 'x-claude-code-agent-id': 'a', 'thread-id': 't' }],
    ['request ids', { 'x-request-id': 'r', 'x-client-request-id': 'r' }],
    ['a trace, which is off by default', { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }],
    ['baggage of other things', { baggage: 'user.id=5,session.id=,=x,;;,session.id' }],
    ['baggage that cannot be decoded', { baggage: 'session.id=%E0%A4%A' }],
  ])('%s makes a program of one call', (_what, headers) => {
    expect(identify({ headers })).toEqual({ label: '~new-1', thread: '', final: false, source: 'none' });
  });

  it('reads a trace when switched on', () => {
    const caller = createCaller({ sources: ['traceparent'] });
    const trace = 'a'.repeat(32);
    const headers = { traceparent: `00-${trace}-${'b'.repeat(16)}-01` };
    expect(seen(caller.identify({ headers }))).toMatchObject({ label: trace, source: 'traceparent' });
    for (const traceparent of [`00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`, '00-xyz', '']) {
      expect(caller.identify({ headers: { traceparent } }).source).toBe('none');
    }
  });

  it('takes the final header wherever the program was found, and only with our source on', () => {
    const headers = { 'x-session-id': 'p', 'x-maitred-final': '1' };
    expect(createCaller().identify({ headers }).final).toBe(true);
    expect(createCaller().identify({ headers: { 'x-maitred-final': '1' } }).final).toBe(true);
    expect(createCaller({ sources: ['harness'] }).identify({ headers }).final).toBe(false);
    const child = { ...headers, 'x-parent-session-id': 'r' };
    expect(createCaller().identify({ headers: child })).toMatchObject({ label: 'r', thread: 'p', final: false });
  });
});

describe('body fields that name a program', () => {
  const agentic = (agentic_context: unknown) => ({ vllm_xargs: { agentic_context } });
  it.each<[string, JsonObject, Partial<Identity>]>([
    ['program_id', { program_id: 'p' }, {}],
    ['program_id', { extra_body: { program_id: 'p' } }, {}],
    ['program_id', { program_id: 7 }, { label: '7' }],
    ['prompt_cache_key', { prompt_cache_key: 'p' }, {}],
    ['conversation', { conversation: 'p' }, {}],
    ['conversation.id', { conversation: { id: 'p' } }, {}],
    ['metadata.session_id', { metadata: { session_id: 'p', thread_id: 'q' } }, {}],
    ['metadata.conversation_id', { metadata: { conversation_id: 'p' } }, {}],
    ['metadata.thread_id', { metadata: { thread_id: 'p' } }, {}],
    ['session_id', { session_id: 'p' }, {}],
    ['metadata.user_id', { metadata: { user_id: `user_ab_account_${UUID}_session_${UUID}` } }, { label: UUID }],
    [
      'metadata.user_id',
      { metadata: { user_id: `{"device_id":"d","account_uuid":"","session_id":"${UUID}"}` } },
      { label: UUID },
    ],
    ['client_metadata.session_id', { client_metadata: { session_id: 'p', thread_id: 'p' }, prompt_cache_key: 'p' }, {}],
    ['client_metadata.session_id', { client_metadata: { session_id: 'p', thread_id: 's' } }, { thread: 's' }],
    ['agent_hint.session_id', { agent_hint: { session_id: 'p' } }, {}],
    ['agent_hint.session_id', { agent_hint: { session_id: 's', parent_session_id: 'p' } }, { thread: 's' }],
    ['vllm_xargs.agentic_context', agentic({ program_id: 'p' }), {}],
    ['vllm_xargs.agentic_context', agentic({ task_id: 'p', program_id: 'p:lead' }), {}],
    [
      'vllm_xargs.agentic_context',
      agentic('{"task_id":"p","session_id":"q","agent_id":"p:researcher"}'),
      { thread: 'researcher' },
    ],
    ['vllm_xargs.agentic_context', agentic({ program_id: 's', parent_program_id: 'p' }), { thread: 's' }],
    ['vllm_xargs.agentic_context', agentic({ task_id: 'p', expected_resume: false }), { final: true }],
    [
      'vllm_xargs.agentic_context',
      agentic({ task_id: 'p', agent_id: 'sub', expected_resume: false }),
      { thread: 'sub' },
    ],
    ['vllm_xargs.job_id', { vllm_xargs: { job_id: 'p', is_last_step: 0 } }, {}],
    ['vllm_xargs.job_id', { vllm_xargs: { job_id: 'p', is_last_step: 1 } }, { final: true }],
  ])('%s: %j', (source, body, expected) => {
    expect(identify({ body })).toEqual({ label: 'p', thread: '', final: false, source, ...expected });
  });

  it.each<JsonObject>([
    { user: 'someone' },
    { metadata: { user_id: 'someone' } },
    { metadata: { user_id: '{"device_id":"d"}' } },
    { metadata: { user_id: '{not json' } },
    { metadata: 'session_id', session_id: {}, conversation: [], prompt_cache_key: '', program_id: null },
    { session_id: true, agent_hint: 5, vllm_xargs: { agentic_context: '[' }, client_metadata: [] },
    { program_id: 1.5, session_id: NaN },
  ])('%j names none', (body) => expect(identify({ body }).source).toBe('none'));

  it('is read in time that grows no faster than the body', () => {
    const body = { metadata: { user_id: `${'_session_'.repeat(200_000)}!` } };
    expect(identify({ body }).source).toBe('none');
  });
});

describe('precedence', () => {
  const headers = {
    'x-maitred-program': 'first',
    'x-session-id': 'second',
    baggage: 'session.id=fourth',
  };
  const body = { program_id: 'ours', prompt_cache_key: 'third', previous_response_id: 'unknown' };

  it('follows the configured order', () => {
    const label = (sources: typeof DEFAULT_SOURCES) => createCaller({ sources }).identify({ headers, body }).label;
    expect(label(DEFAULT_SOURCES)).toBe('first');
    expect(label(['harness', 'maitred'])).toBe('second');
    expect(label(['body', 'harness'])).toBe('third');
    expect(label(['baggage', 'body'])).toBe('fourth');
    expect(label([])).toBe('~new-1');
  });

  it('prefers our header to the body’s program_id, and that to a harness', () => {
    expect(identify({ headers, body }).label).toBe('first');
    expect(identify({ headers: { 'x-session-id': 'second' }, body }).label).toBe('ours');
  });

  it('prefers a harness that names its threads', () => {
    const all = {
      'x-correlation-id': 'e',
      'x-acme-session-id': 'd',
      'x-litellm-session-id': 'c',
      'x-session-id': 'b',
      'x-claude-code-session-id': 'a',
    };
    const names = Object.keys(all).reverse() as (keyof typeof all)[];
    const left: IncomingHttpHeaders = { ...all };
    for (const name of names) {
      expect(identify({ headers: left }).label).toBe(all[name]);
      Reflect.deleteProperty(left, name);
    }
  });

  it('is one program whichever of a harness’s ids arrives', () => {
    const caller = createCaller();
    const header = caller.identify({ headers: { 'session-id': UUID, 'thread-id': UUID } });
    const field = caller.identify({ body: { prompt_cache_key: UUID } });
    expect(field.program).toBe(header.program);
  });
});
