import type { OutgoingHttpHeaders } from 'node:http';
import type { Dispatch } from '../../src/index.js';
import { headerValue } from '../http/headers.js';
import type { CallSpec } from './spec.js';

/**
 * Headers that give a client the state of its call so far.
 * @param dispatch the last one; undefined while the call waits
 * @param waitedMs since its arrival, in milliseconds; stands where there was no dispatch
 * @param reason stands in the place of the dispatch's own
 */
export function callHeaders(
  spec: CallSpec,
  dispatch: Dispatch | undefined,
  waitedMs: number,
  reason: string | undefined,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    'x-request-id': spec.requestId,
    'x-maitred-program': headerValue(spec.identity.label),
    'x-maitred-call': spec.id,
    'x-maitred-queue-ms': Math.round(dispatch?.queueMs ?? waitedMs),
    'x-maitred-reason': reason ?? dispatch?.reason ?? 'queued',
  };
  if (spec.budgetLeft !== undefined) headers['x-maitred-budget-left'] = spec.budgetLeft;
  if (dispatch?.inheritedMs !== undefined) headers['x-maitred-inherited-ms'] = Math.round(dispatch.inheritedMs);
  if (dispatch !== undefined) {
    headers['x-maitred-engine'] = dispatch.engine;
    headers['x-maitred-level'] = dispatch.level;
    headers['x-maitred-placement'] = dispatch.placement;
  }
  return headers;
}
