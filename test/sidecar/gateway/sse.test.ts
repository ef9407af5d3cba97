import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SseSplitter } from '../../../sidecar/http/sse.js';

/** Feeds a stream to a splitter, cut at the given positions. Events whose data begins with "hide" are hidden. */
function split(bytes: Buffer, cuts: readonly number[]) {
  const data: string[] = [];
  const splitter = new SseSplitter((event) => {
    data.push(event.data);
    return event.data.startsWith('hide') ? 'hide' : 'forward';
  });
  const out: Buffer[] = [];
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b).concat(bytes.length)) {
    out.push(...splitter.push(bytes.subarray(from, cut)));
    from = cut;
  }
  const held = splitter.heldBytes;
  out.push(...splitter.end());
  return { data, held, out: Buffer.concat(out).toString('utf8') };
}

const newline = fc.constantFrom('\n', '\r\n');
const text = fc.stringMatching(/^[a-zé😀 :]{0,12}$/u);

/** An event with the expected data (undefined: none) and its bytes in one newline style. */
const event = fc
  .record({
    hide: fc.boolean(),
    lines: fc.array(text, { maxLength: 3 }),
    comment: fc.boolean(),
    name: fc.boolean(),
    space: fc.boolean(),
    nl: newline,
  })
  .map(({ hide, lines, comment, name, space, nl }) => {
    const values = lines.length > 0 && hide ? ['hide', ...lines] : lines;
    const rows = values.map((line) => `data:${space ? ' ' : ''}${line}`);
    if (name) rows.unshift('event: x');
    if (comment) rows.unshift(': ping');
    if (rows.length === 0) rows.push('id: 1');
    const data =
      values.length === 0 ? undefined : values.map((line) => (space ? line : line.replace(/^ /, ''))).join('\n');
    return { data, bytes: rows.map((row) => row + nl).join('') + nl };
  });

describe('the event splitter', () => {
  it('forwards every byte but those of hidden events, however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 12 }), (events, seeds) => {
        const bytes = Buffer.from(events.map((one) => one.bytes).join(''));
        const cuts = seeds.map((seed) => seed % (bytes.length + 1));
        const { data, out } = split(bytes, cuts);
        const shown = events.filter((one) => one.data?.startsWith('hide') !== true);
        expect(out).toBe(shown.map((one) => one.bytes).join(''));
        expect(data).toEqual(events.flatMap((one) => (one.data === undefined ? [] : [one.data])));
      }),
      { numRuns: 2000, seed: 7 },
    );
  });

  it('holds an event back until it is whole', () => {
    const splitter = new SseSplitter(() => 'forward');
    expect(splitter.push(Buffer.from('data: a\n'))).toEqual([]);
    expect(splitter.heldBytes).toBe(8);
    expect(Buffer.concat(splitter.push(Buffer.from('\n'))).toString()).toBe('data: a\n\n');
    expect(splitter.heldBytes).toBe(0);
  });

  it('judges a last event without its blank line when the stream ends', () => {
    expect(split(Buffer.from('data: a\n\ndata: [DONE]\n'), [])).toEqual({
      data: ['a', '[DONE]'],
      held: 13,
      out: 'data: a\n\ndata: [DONE]\n',
    });
    expect(split(Buffer.from('data: a\n\ndata: hide'), []).out).toBe('data: a\n\n');
  });

  it('forwards events that end in lone CRs, of which it hides only all together', () => {
    const both = 'data: a\r\rdata: hide\r\r';
    expect(split(Buffer.from(both), [])).toMatchObject({ data: ['a', 'hide'], out: both });
    expect(split(Buffer.from('data: hide\r\r'), []).out).toBe('');
  });

  it('reads an event of very many lines in a time that grows with its length', () => {
    const lines = 'data: a\n'.repeat(600_000);
    expect(split(Buffer.from(`${lines}\r\n`), []).out).toHaveLength(lines.length + 2);
  }, 10_000);

  it('forwards a chunk without hidden events as it came, without a copy', () => {
    const chunk = Buffer.from('data: a\n\ndata: b\n\n');
    const [first, ...rest] = new SseSplitter(() => 'forward').push(chunk);
    expect(rest).toEqual([]);
    expect(first?.buffer).toBe(chunk.buffer);
    expect(first?.byteOffset).toBe(chunk.byteOffset);
  });
});
