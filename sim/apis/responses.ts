import type { Delta } from '../text/answer.js';
import type { ToolCall } from '../text/conversation.js';
import { optional, sse, type Api, type Choice, type Formatter, type Reply, type Usage } from './api.js';
import type { JsonObject } from './fields.js';
import { namespaceOf, readResponses } from './responses-input.js';

export const responses: Api = {
  read: readResponses,
  format: (reply) => new ResponsesFormatter(reply),
};

export const responseId = (reply: Reply): string => `resp_${reply.id}`;

class ResponsesFormatter implements Formatter {
  #sequence = 0;
  /** The open output item of the stream: -1 for the message, else the number of a tool call. */
  #open: number | undefined;
  #items = 0;

  constructor(private readonly reply: Reply) {}

  opening(): string[] {
    return [
      this.#event('response.created', { response: this.whole() }),
      this.#event('response.in_progress', { response: this.whole() }),
    ];
  }

  delta(choice: Choice, deltas: readonly Delta[]): string[] {
    const events: string[] = [];
    for (const delta of deltas) {
      const item = delta.type === 'text' ? -1 : delta.index;
      if (this.#open !== item) events.push(...this.finish(choice), ...this.#start(choice, item));
      const at = this.#at(item);
      if (delta.type === 'text') {
        events.push(
          this.#event('response.output_text.delta', { ...at, content_index: 0, delta: delta.text, logprobs: [] }),
        );
      } else if (delta.type === 'arguments') {
        events.push(this.#event('response.function_call_arguments.delta', { ...at, delta: delta.text }));
      }
    }
    return events;
  }

  closing(): string[] {
    // vLLM ends the stream of an incomplete response the same way; a cancelled one has no event of its own.
    return [this.#event('response.completed', { response: this.whole() })];
  }

  #start({ narrator }: Choice, item: number): string[] {
    this.#open = item;
    this.#items += 1;
    const at = this.#at(item);
    const call = narrator.calls[item];
    const begun = call && this.#callItem({ ...call, arguments: '' }, item, 'in_progress');
    if (begun !== undefined) return [this.#ofItem('added', at, begun)];
    return [
      this.#ofItem('added', at, { ...this.#messageItem('', 'in_progress'), content: [] }),
      this.#event('response.content_part.added', { ...at, content_index: 0, part: textPart('') }),
    ];
  }

  finish({ narrator: { text, calls } }: Choice): string[] {
    const item = this.#open;
    if (item === undefined) return [];
    this.#open = undefined;
    const at = this.#at(item);
    const call = calls[item];
    if (call !== undefined)
      return [
        this.#event('response.function_call_arguments.done', { ...at, name: call.name, arguments: call.arguments }),
        this.#ofItem('done', at, this.#callItem(call, item, 'completed')),
      ];
    return [
      this.#event('response.output_text.done', { ...at, content_index: 0, text, logprobs: [] }),
      this.#event('response.content_part.done', { ...at, content_index: 0, part: textPart(text) }),
      this.#ofItem('done', at, this.#messageItem(text, 'completed')),
    ];
  }

  #ofItem(what: 'added' | 'done', { output_index }: { readonly output_index: number }, item: JsonObject): string {
    return this.#event(`response.output_item.${what}`, { output_index, item });
  }

  whole(): JsonObject {
    const { terms, choices } = this.reply;
    const { body } = terms;
    const [choice] = choices;
    const completed = this.reply.status === 'completed';
    const cut = completed && choice?.answer.finish === 'length';
    const usage = this.reply.usage();
    const metrics = completed ? this.reply.metrics() : undefined;
    return {
      id: responseId(this.reply),
      object: 'response',
      created_at: this.reply.createdAt,
      status: cut ? 'incomplete' : this.reply.status,
      background: body['background'] === true,
      error: null,
      incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
      instructions: body['instructions'] ?? null,
      max_output_tokens: terms.maxTokens ?? null,
      metadata: body['metadata'] ?? {},
      model: this.reply.model,
      output: choice === undefined ? [] : this.#output(choice),
      parallel_tool_calls: body['parallel_tool_calls'] ?? true,
      previous_response_id: body['previous_response_id'] ?? null,
      reasoning: { effort: null, summary: null },
      service_tier: 'auto',
      store: body['store'] ?? true,
      temperature: body['temperature'] ?? 1,
      text: body['text'] ?? { format: { type: 'text' } },
      tool_choice: body['tool_choice'] ?? 'auto',
      tools: body['tools'] ?? [],
      top_p: body['top_p'] ?? 1,
      truncation: 'disabled',
      usage: completed && usage !== undefined ? responsesUsage(usage) : null,
      user: null,
      ...optional('metrics', metrics),
    };
  }

  #output({ narrator }: Choice): JsonObject[] {
    const status = this.reply.status === 'completed' ? 'completed' : 'in_progress';
    const items = narrator.calls.map((call, index) => this.#callItem(call, index, status));
    return narrator.text === '' ? items : [this.#messageItem(narrator.text, status), ...items];
  }

  #messageItem(text: string, status: string): JsonObject {
    return { id: this.#itemId(-1), type: 'message', status, role: 'assistant', content: [textPart(text)] };
  }

  #callItem(call: ToolCall, item: number, status: string): JsonObject {
    const { id, name, arguments: json } = call;
    const namespace = optional('namespace', namespaceOf(this.reply.terms.body, name));
    return { id: this.#itemId(item), type: 'function_call', status, call_id: id, name, arguments: json, ...namespace };
  }

  #itemId(item: number): string {
    return item === -1 ? `msg_${this.reply.id}` : `fc_${this.reply.id}${item}`;
  }

  #at(item: number): { output_index: number; item_id: string } {
    return { output_index: this.#items - 1, item_id: this.#itemId(item) };
  }

  #event(type: string, fields: JsonObject): string {
    const event = sse({ type, sequence_number: this.#sequence, ...fields }, type);
    this.#sequence += 1;
    return event;
  }
}

const textPart = (text: string): JsonObject => ({ type: 'output_text', text, annotations: [], logprobs: [] });

function responsesUsage({ prompt, cached, output }: Usage): JsonObject {
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: prompt + output,
  };
}
