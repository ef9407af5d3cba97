import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apiFor, type AnswerFacts, type JsonObject } from '../../../sidecar/apis/index.js';

const chat = apiFor('/v1/chat/completions')!;

/** A choice as pieces of text, then the pieces of a tool call. */
const choice = fc.record({
  text: fc.array(fc.string(), { maxLength: 4 }),
  call: fc.option(
    fc.record({
      id: fc.string({ minLength: 1 }),
      name: fc.string({ minLength: 1 }),
      given: fc.array(fc.string(), { maxLength: 3 }),
    }),
  ),
});
type Choice = typeof choice extends fc.Arbitrary<infer T> ? T : never;

function deltasOf({ text, call }: Choice): JsonObject[] {
  if (!call) return text.map((content) => ({ content }));
  const { id, name, given } = call;
  const start = { tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: '' } }] };
  const rest = given.map((piece) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] }));
  return [...text.map((content) => ({ content })), start, ...rest];
}

function messageOf({ text, call }: Choice): JsonObject {
  const given = call && {
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.given.join('') },
  };
  return { role: 'assistant', content: text.join(''), ...(given && { tool_calls: [given] }) };
}

/** @param order numbers that choose the next choice to go on */
function streamed(choices: readonly Choice[], order: readonly number[]): AnswerFacts {
  const facts = chat.readRequest({
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    stream: true,
    n: choices.length,
  });
  const reader = chat.readStream(facts, true);
  const going = choices.map((each, index) => ({ index, deltas: deltasOf(each) }));
  const push = (chunk: JsonObject) => reader.push({ data: JSON.stringify({ choices: [chunk] }) });
  for (let step = 0; going.length > 0; step += 1) {
    const at = (order[step % order.length] ?? 0) % going.length;
    const { index, deltas } = going[at]!;
    const delta = deltas.shift();
    push({ index, delta: delta ?? {}, finish_reason: delta ? null : 'stop' });
    if (!delta) going.splice(at, 1);
  }
  expect(reader.complete).toBe(true);
  return reader.facts();
}

describe('a stream of several choices', () => {
  it('gives the messages of the whole answer, however its pieces are mixed, at most sixteen (property)', () => {
    const all = fc.array(choice, { minLength: 1, maxLength: 20 });
    const order = fc.array(fc.nat(), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(all, order, (choices, mixed) => {
        const whole = chat.readAnswer({ choices: choices.map((each) => ({ message: messageOf(each) })) });
        const { message, further = [] } = streamed(choices, mixed);
        expect(further.length).toBe(Math.min(15, choices.length - 1));
        if (choices.length > 16) return;
        // Choices come in the order of their first pieces.
        const sorted = (facts: readonly unknown[]) => facts.map((each) => JSON.stringify(each)).sort();
        expect(sorted([message, ...further])).toEqual(sorted([whole.message, ...(whole.further ?? [])]));
      }),
      { seed: 1 },
    );
  });
});
