import { expect, it } from 'vitest';
import { readable } from '../../sidecar/readable-log.js';

it('shows a line of the log to people, with the stack of an error below', () => {
  const time = new Date(2026, 0, 2, 12, 52, 10).getTime();
  const line = (fields: object) => readable(JSON.stringify({ level: 40, time, pid: 1, hostname: 'h', ...fields }));
  expect(line({ engine: 'gpu-1', reason: 'connect refused', msg: 'engine is down' })).toBe(
    '12:52:10 warn  engine is down engine=gpu-1 reason="connect refused"\n',
  );
  expect(line({ msg: 'failed', err: { message: 'no', stack: 'Error: no\n    at x' } })).toBe(
    '12:52:10 warn  failed\nError: no\n    at x\n',
  );
  expect(line({ program: '\u001b[2J\n', calls: 3, msg: 'call' })).toBe(
    '12:52:10 warn  call program="\\u001b[2J\\n" calls=3\n',
  );
});
