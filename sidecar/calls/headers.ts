import type { OutgoingHttpHeaders } from 'node:http';
import type { Dispatch, WaitView } from '../../src/index.js';
import type { Context } from '../context.js';
import { headerValue } from '../http/headers.js';
import { forecastHeader } from './declaration.js';
import type { ExpectedWait } from '../watch/expected-waits.js';
import { isBackground } from '../watch/known-programs.js';
import type { CallSpec } from './spec.js';

/**
 * Headers that give a client the state of its call so far.
 * @param dispatch the last one; undefined while the call waits
 * @param reason stands in the place of the dispatch's own
 */
export function callHeaders(
  { config, driver }: Pick<Context, 'config' | 'driver'>,
  spec: CallSpec,
  dispatch: Dispatch | undefined,
  queueMs: number,
  reason: string | undefined,
  expected?: ExpectedWait,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    'x-request-id': spec.requestId,
    'x-maitred-program': headerValue(spec.identity.label),
    'x-maitred-call': spec.id,
    'x-maitred-queue-ms': Math.round(queueMs),
    'x-maitred-reason': reason ?? dispatch?.reason ?? 'queued',
  };
  // Not spread: V8 then took 16 µs to add the rest.
  if (spec.api.idHeader !== undefined) headers[spec.api.idHeader] = spec.requestId;
  if (spec.budgetLeft !== undefined) headers['x-maitred-budget-left'] = spec.budgetLeft;
  if (dispatch?.inheritedMs !== undefined) headers['x-maitred-inherited-ms'] = Math.round(dispatch.inheritedMs);
  if (expected !== undefined) {
    headers['x-maitred-expected-ms'] = Math.round(expected.p50Ms);
    headers['x-maitred-expected-p90-ms'] = Math.round(expected.p90Ms);
  }
  if (dispatch !== undefined) {
    headers['x-maitred-engine'] = dispatch.engine;
    if (!isBackground(spec)) headers['x-maitred-level'] = dispatch.level;
    headers['x-maitred-placement'] = dispatch.placement;
  }
  if (config.policy.foresight !== 'none')
    headers['x-maitred-forecast'] = forecastHeader(driver.scheduler.views.forecast(spec.identity.program));
  else if (spec.remaining !== undefined) headers['x-maitred-forecast'] = 'off';
  return headers;
}

/** Comments in the stream of a call, for people who watch it: `name=value` pairs, which clients skip. */

export const dispatchedComment = ({ engine, level, reason }: Dispatch): string =>
  `dispatched engine=${engine} level=${level} reason=${reason}`;

/** Other tenants' calls are counted, never named. @param waiting number of calls @param wait undefined: not known */
export function queuedComment(
  waitedMs: number,
  waiting: number,
  wait: WaitView | undefined,
  expected: ExpectedWait | undefined,
): string {
  const begin = `queued waited_ms=${Math.round(waitedMs)} waiting=${waiting}`;
  if (wait === undefined) return begin;
  const { level, cause, engine, needs, free, limit, ahead, oldestAhead } = wait;
  const where = engine === undefined ? '' : ` engine=${engine}`;
  const figures = needs === undefined ? '' : ` needs=${needs} free=${free} limit=${limit}`;
  const oldest = oldestAhead === undefined ? '' : ` oldest_ahead_ms=${Math.round(oldestAhead.waitingMs)}`;
  const quantiles =
    expected === undefined
      ? ''
      : ` expected_ms=${Math.round(expected.p50Ms)} expected_p90_ms=${Math.round(expected.p90Ms)}`;
  return `${begin} level=${level} cause=${cause}${where}${figures} ahead=${ahead}${oldest}${quantiles}`;
}
