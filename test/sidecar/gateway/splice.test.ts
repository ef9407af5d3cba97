import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject } from '../../../sidecar/apis/fields.js';
import { spliceFields, withoutField } from '../../../sidecar/http/splice.js';

function splice(text: string, fields: Record<string, unknown>): string {
  const keys = new Set(Object.keys(JSON.parse(text) as object));
  return Buffer.concat([spliceFields(Buffer.from(text), keys, fields)].flat()).toString();
}

describe('setting fields in the bytes of a JSON object', () => {
  it('leaves numbers beyond a double, escapes, order and white space alone', () => {
    const text = ' { "z" : 1e400 , "big":12345678901234567890, "e":"\\u00e9\\/", "n":{"priority":[{}, "]}"]} } ';
    expect(splice(text, { priority: 3 })).toBe(text.replace('{ "z"', '{"priority":3, "z"'));
  });

  it('replaces a field where it stands, each time it stands there, and however its key is written', () => {
    expect(splice('{"a":1, "priority": {"x":[1,{"y":"}"}]} ,"b":2}', { priority: 0 })).toBe(
      '{"a":1, "priority":0,"b":2}',
    );
    expect(splice('{"p":1,"a":"\\"p\\":5","p":[2]}', { p: 9 })).toBe('{"p":9,"a":"\\"p\\":5","p":9}');
    expect(splice('{"\\u0070":1}', { p: 2 })).toBe('{"\\u0070":2}');
  });

  it('sets the fields of an object in the object that is there, however deep that is, and replaces what is none', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const text = (options: string) => `{"s":${options},"z":1}`;
    const set = { s: { usage: true } };
    const plain = text('{"usage":true}');
    expect(splice(text(` {"big":12345678901234567890, "usage" : false, "x":${deep}}`), set)).toBe(
      text(` {"big":12345678901234567890, "usage" :true, "x":${deep}}`),
    );
    expect(splice(text('{"x":1.0}'), set)).toBe(text('{"usage":true,"x":1.0}'));
    for (const other of ['{}', 'null', '[{}]', '"{}"']) expect(splice(text(other), set)).toBe(plain);
    expect(splice('{"s":null,"s":{"x":1}}', set)).toBe('{"s":{"usage":true},"s":{"usage":true,"x":1}}');
  });

  it('says what parsing, setting and writing again would say', () => {
    // No key ends in a backslash: after such a key, V8's own parser confuses '"' with it (Node 24).
    const key = fc.constantFrom('a', 'b', 'priority', 'stream_options', '"', 'é', '\\a');
    fc.assert(
      fc.property(
        fc.dictionary(key, fc.oneof(fc.jsonValue(), fc.dictionary(key, fc.jsonValue()))),
        fc.dictionary(key, fc.oneof(fc.string(), fc.double(), fc.dictionary(key, fc.boolean()))),
        fc.nat(2),
        (body, fields, space) => {
          const done = splice(JSON.stringify(body, null, space), fields);
          const both = (name: string) => isObject(body[name]) && isObject(fields[name]);
          const merged = Object.entries(fields).map(([name, value]) => [
            name,
            both(name) ? Object.assign({}, body[name], value) : value,
          ]);
          const expected = { ...body, ...(Object.fromEntries(merged) as object) };
          expect(JSON.parse(done)).toEqual(JSON.parse(JSON.stringify(expected)));
        },
      ),
      { numRuns: 400, seed: 11 },
    );
  });
});

describe('removing a field from the bytes of a JSON object', () => {
  it('leaves all other bytes alone, wherever and however often the field stands', () => {
    const remove = (text: string) => withoutField(Buffer.from(text), 'm').toString();
    expect(remove('{"m":{"a":[1,"}"]}, "b" : 1e400 }')).toBe('{ "b" : 1e400 }');
    expect(remove('{"a":"\\"m\\":5", "m" : null ,"b":{"m":1}}')).toBe('{"a":"\\"m\\":5","b":{"m":1}}');
    expect(remove('{"a":1,"m":2}')).toBe('{"a":1}');
    expect(remove('{"\\u006d":1,"a":2,"m":3}')).toBe('{"a":2}');
    expect(remove(' {"m":1} ')).toBe(' {} ');
    for (const text of ['{}', '{ }', '{"a":{"m":1}}']) expect(remove(text)).toBe(text);
  });
});
