import { Agent, type Dispatcher } from 'undici';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Exchange } from '../../../sidecar/http/exchange.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const CONTROLLER = { abort: () => undefined } as unknown as Dispatcher.DispatchController;

/** An exchange whose engine sends a byte after each of these pauses, and then nothing. What its sink hears. */
function heard(pausesMs: readonly number[]): string[] {
  const heard: string[] = [];
  const sink = {
    head: () => heard.push('head'),
    data: () => heard.push('data'),
    end: () => heard.push('end'),
    failed: (error: Error) => heard.push(error.message),
  };
  const engine = new Agent();
  engine.dispatch = () => true;
  const request = { method: 'POST', path: '/', headers: [], body: null };
  const exchange = new Exchange(engine, request, { firstByteMs: 300, idleMs: 150, decode: false }, sink);
  exchange.onRequestStart(CONTROLLER);
  exchange.onResponseStart(CONTROLLER, 200, {});
  for (const ms of pausesMs) {
    vi.advanceTimersByTime(ms);
    exchange.onResponseData(CONTROLLER, Buffer.from('x'));
  }
  vi.advanceTimersByTime(149);
  expect(heard.at(-1)).toBe('data');
  vi.advanceTimersByTime(1);
  return heard;
}

it.each([
  ['is not silent while it sends slowly', [40, 140, 149, 149, 149, 149]],
  ['may take longer to begin than between two parts', [299, 149]],
])('an engine %s', (_, pausesMs) => {
  const data = pausesMs.map(() => 'data');
  expect(heard(pausesMs)).toEqual(['head', ...data, 'The engine has been silent for 150 ms.']);
});

it('names a refused connection in words, and other faults by their codes', () => {
  const messageOf = (code: string) => {
    const heard: string[] = [];
    const failed = (error: Error) => heard.push(error.message);
    const sink = { head: () => undefined, data: () => undefined, end: () => undefined, failed };
    const engine = new Agent();
    engine.dispatch = () => true;
    const request = { method: 'POST', path: '/', headers: [], body: null };
    const exchange = new Exchange(engine, request, { firstByteMs: 300, idleMs: 150, decode: false }, sink);
    exchange.onResponseError(CONTROLLER, Object.assign(new Error('no'), { code }));
    return heard;
  };
  expect(messageOf('ECONNREFUSED')).toEqual(['The engine failed: connection refused.']);
  expect(messageOf('EPROTO')).toEqual(['The engine failed: EPROTO.']);
});
