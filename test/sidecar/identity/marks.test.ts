import { expect, it } from 'vitest';
import { idOf, standsAlone, wholeOf } from '../../../sidecar/identity/marked.js';

const said = (content: string) => ({ role: 'assistant', content });

it('identifies an answer alone from 64 characters on, and with the message before it from 32', () => {
  const of = (chars: number) => {
    const message = said('x'.repeat(chars));
    return wholeOf(message) === undefined ? 'never' : standsAlone({ chars }) ? 'alone' : 'with the message before';
  };
  expect([31, 32, 63, 64].map(of)).toEqual(['never', 'with the message before', 'with the message before', 'alone']);
});

it('is not an id that no engine would make', () => {
  const called = (id: string) => idOf({ ...said(''), callIds: id });
  expect([called('x'.repeat(128)), called('x'.repeat(129))]).toEqual([`i${'x'.repeat(128)}`, undefined]);
});
