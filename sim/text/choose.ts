import type { Message, Tool } from './conversation.js';
import { prose } from './prose.js';
import { sampleOf } from './sample.js';
import { hashText, mix } from './tokens.js';

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** A literal answer, given by a request or by the `script` of the engine. */
export interface ScriptedAnswer {
  readonly content?: string;
  readonly tool_calls?: readonly { readonly id?: string; readonly name: string; readonly arguments: string }[];
  /** Tokens to spend on it, more or fewer than its text has; absent: as many as that. */
  readonly output_tokens?: number;
}

/** Gives the answer to a conversation; `undefined` leaves it to the engine. */
export type Script = (messages: readonly Message[], tools: readonly Tool[]) => ScriptedAnswer | undefined;

/** The inputs of an answer. The same question gets the same answer. */
export interface Question {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  /** JSON schema that the text must satisfy, `{}` for any JSON object; absent: prose. */
  readonly schema: unknown;
  /** Hash of the prompt, the engine's seed, and the index among the `n` answers. */
  readonly seed: number;
  /** Tool calls in a row after which the engine answers with text. */
  readonly toolRounds: number;
  /** Least length of a prose answer in tokens; above it the length is drawn from the seed. */
  readonly minTokens: number;
  /** Exact length of a prose answer; absent: drawn. */
  readonly exactTokens: number | undefined;
}

/** An answer before it is generated: text, calls without ids. */
export interface Chosen {
  readonly text: string;
  readonly toolCalls: readonly { readonly id?: string; readonly name: string; readonly arguments: string }[];
}

/** Chooses the answer: the requested tool, the first tool while the turn has had few results, JSON, or prose. */
export function choose(question: Question): Chosen {
  const tool = chooseTool(question);
  if (tool !== undefined) {
    return { text: '', toolCalls: [{ name: tool.name, arguments: JSON.stringify(sampleOf(tool.parameters)) }] };
  }
  if (question.schema !== undefined) return { text: JSON.stringify(sampleOf(question.schema)), toolCalls: [] };
  const tokens = question.exactTokens ?? Math.max(question.minTokens, proseLength(question.seed));
  return { text: prose(question.seed, tokens), toolCalls: [] };
}

function chooseTool({ tools, toolChoice, messages, toolRounds }: Question): Tool | undefined {
  if (typeof toolChoice === 'object') return tools.find((tool) => tool.name === toolChoice.name);
  if (toolChoice === 'required') return tools[0];
  return toolChoice === 'auto' && toolResultsOfTurn(messages) < toolRounds ? tools[0] : undefined;
}

/** Tool results since the user last spoke. */
function toolResultsOfTurn(messages: readonly Message[]): number {
  const turn = messages.findLastIndex((message) => message.role === 'user' && message.aside !== true);
  return messages.slice(turn + 1).filter((message) => message.role === 'tool').length;
}

/** 16 to 400 tokens, half of them below 90: the shape, if not the tail, of agents' real answers. */
function proseLength(seed: number): number {
  const uniform = (mix(seed, 0x1b873593) >>> 0) / 2 ** 32;
  return Math.round(16 * 25 ** (uniform ** 0.9));
}

export function questionSeed(engineSeed: number, promptHash: number, choice: number): number {
  return hashText(`${engineSeed} ${promptHash} ${choice}`);
}
