import { expect, it } from 'vitest';
import { Repeats } from '../../../sidecar/calls/repeats.js';
import type { CallSpec } from '../../../sidecar/calls/spec.js';
import { programId } from '../../../src/index.js';

it('forgets the oldest of a program’s threads, whose names clients choose', () => {
  const repeats = new Repeats();
  const program = programId('p');
  const asks = (thread: string, content = '\u0000read\u0000{}') =>
    repeats.answered(
      { identity: { program, thread } as CallSpec['identity'] },
      { message: { role: 'assistant', content } },
    );
  for (let i = 0; i < 3; i++) for (const thread of ['old', 'kept']) asks(thread);
  for (let i = 0; i < 200_000; i++) {
    asks(`thread ${i}`);
    if (i % 100 === 0) asks('kept', '\u0000read\u0000{}');
  }
  expect(repeats.of(program)).toBe(3 + 2000);
  asks('kept', 'done');
  expect(repeats.of(program)).toBe(1);
});
