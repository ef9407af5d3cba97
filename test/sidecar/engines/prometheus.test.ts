import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samplesOf } from '../../../sidecar/engines/prometheus.js';

const read = (text: string, ...names: string[]) =>
  names.map((name) => [name, samplesOf(text, name).map(({ labels, value }) => [Object.fromEntries(labels), value])]);

describe('the Prometheus text parser', () => {
  it('reads the samples that were asked for and no other', () => {
    const text = '# HELP a b\n# TYPE a gauge\na 1\nab 2\na3 4\na:b 5\na 6\nb{x="y"} 3\n';
    expect(read(text, 'a', 'b')).toEqual([
      [
        'a',
        [
          [{}, 1],
          [{}, 6],
        ],
      ],
      ['b', [[{ x: 'y' }, 3]]],
    ]);
  });

  it.each<[string, string, unknown]>([
    ['an empty label set', 'a{} 1', [{}, 1]],
    ['a trailing comma', 'a{x="1",} 1', [{ x: '1' }, 1]],
    ['spaces anywhere they may be', 'a{ x = "1" , y="2" }  1 ', [{ x: '1', y: '2' }, 1]],
    ['escapes', String.raw`a{x="q\"b\\n\n}{,="} 1`, [{ x: 'q"b\\n\n}{,=' }, 1]],
    ['exponents', 'a 1.5e+3', [{}, 1500]],
    ['signs', 'a -.5', [{}, -0.5]],
    ['timestamps', 'a 1 1700000000000', [{}, 1]],
    ['exemplars', 'a 1 # {trace="x"} 2', [{}, 1]],
    ['carriage returns', 'a 1\r', [{}, 1]],
    ['names with colons', 'vllm:a_total{e="0"} 7', [{ e: '0' }, 7]],
  ])('takes %s', (_, line, sample) => {
    const found = [...samplesOf(line, 'a'), ...samplesOf(line, 'vllm:a_total')];
    expect(found.map(({ labels, value }) => [Object.fromEntries(labels), value])).toEqual([sample]);
  });

  const WRONG =
    'a;a ;a NaN;a +Inf;a -Inf;a 0x10;a 1e999;a 1x;a one;a{ 1;a{x} 1;a{x="1} 1;a{x=1} 1;a{x="1"y="2"} 1;{a="1"} 1;# a 1';
  it.each(WRONG.split(';'))('skips %s', (line) => {
    expect(read(`${line}\nb 1`, 'a', 'b')).toEqual([
      ['a', []],
      ['b', [[{}, 1]]],
    ]);
  });

  it.each(['a{ ', 'a{x="1" ', 'a{x="1",', 'a{x="\\', 'a 1', 'a '])(
    'takes little time for a line that goes on as %j',
    (begin) => {
      const startedAt = process.cpuUsage();
      read(`${begin}${begin.at(-1)!.repeat(100_000)}x`, 'a');
      expect(process.cpuUsage(startedAt).user / 1e6).toBeLessThan(2);
    },
  );

  it('reads nothing where there is no text', () => {
    expect(samplesOf(undefined, 'a')).toEqual([]);
  });

  it('reads back every label value that is written by the rules', () => {
    const escaped = (value: string) => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '\\', '"', '\n', 'n', '{', '}', ',', '=', 'é') }), (value) => {
        expect(read(`a{x="${escaped(value)}"} 1`, 'a')).toEqual([['a', [[{ x: value }, 1]]]]);
      }),
      { seed: 7 },
    );
  });
});
