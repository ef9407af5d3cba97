import { expect, it } from 'vitest';
import { Threads } from '../../../sidecar/watch/threads.js';
import { programId } from '../../../src/index.js';

it('counts no more than 256 threads of a program, and forgets them with it', () => {
  const threads = new Threads();
  const program = programId('p');
  const accept = (thread: string) => threads.accepted({ spec: { identity: { program, thread } } });
  for (let n = 0; n < 300; n += 1) accept(`t${n}`);
  accept('t0');
  expect(threads.of(program).size).toBe(256);
  expect(threads.of(program).get('t0')).toBe(2);
  threads.programGone({ program });
  expect(threads.of(program).size).toBe(0);
});
