import { encode, MARKS } from './tokens.js';

/** A message of a conversation, in one form for all APIs. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  /** Text from the same message as tool results: it does not begin a new turn of the user. */
  readonly aside?: boolean;
  /** Images, audio and files of the message, each as a hash of its bytes. */
  readonly attachments?: readonly number[];
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export interface Tool {
  readonly name: string;
  /** JSON schema of its arguments. */
  readonly parameters: unknown;
}

/** Prompt tokens of an attachment: a customary size for one tile of an image. */
const ATTACHMENT_TOKENS = 256;

/** The chat template: tools first, then each message between its role and an end mark, then the role of the answer. */
export function renderPrompt(messages: readonly Message[], tools: readonly unknown[]): number[] {
  const ids: number[] = [];
  if (tools.length > 0) {
    ids.push(MARKS.tools);
    encode(JSON.stringify(tools), ids);
    ids.push(MARKS.end);
  }
  for (const message of messages) {
    ids.push(MARKS[message.role]);
    renderBody(message, ids);
    ids.push(MARKS.end);
  }
  ids.push(MARKS.assistant);
  return ids;
}

/**
 * The tokens of an answer as the template renders it in the next prompt, so that an answer sent back as history hits
 * the prefix cache.
 */
export function renderAnswer(message: Message): number[] {
  const ids: number[] = [];
  renderBody(message, ids);
  ids.push(MARKS.end);
  return ids;
}

function renderBody(message: Message, ids: number[]): void {
  for (const attachment of message.attachments ?? []) {
    for (let index = 0; index < ATTACHMENT_TOKENS; index += 1) ids.push(index === 0 ? attachment : MARKS.image);
  }
  encode(message.text, ids);
  for (const call of message.toolCalls) {
    ids.push(MARKS.call);
    encode(call.name, ids);
    ids.push(MARKS.arguments);
    encode(compactJson(call.arguments), ids);
  }
}

/** JSON without its whitespace, since clients parse arguments and serialise them again in their own way. */
export function compactJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
