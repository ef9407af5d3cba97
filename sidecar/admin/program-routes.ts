import type { IncomingMessage } from 'node:http';
import { programId } from '../../src/index.js';
import type { Context } from '../context.js';
import { sendJson } from '../http/answer.js';
import type { Routes } from '../http/listener.js';
import { ofOthers, wherever, type Parts as Asking } from './peers.js';
import { endProgram } from './programs.js';
import { tenantIn } from './query.js';

/** The parts of the gateway that this file uses. */
type Parts = Asking & Pick<Context, 'auth'>;

/**
 * `POST /programs/{id}/end`. Operators may do so to any tenant's program, by `?tenant=` or by its key;
 * clients only to their own.
 * @param asAdmin whether this listener serves operators
 */
export function programRoutes(context: Parts, asAdmin: boolean): Routes {
  const tenantFor = (request: IncomingMessage) => {
    if (asAdmin && !hasClientKey(context, request)) {
      context.auth.checkAdmin(request.headers);
      return tenantIn(request);
    }
    return context.auth.tenantOf(request);
  };
  return {
    '/programs/:id/end': {
      POST: async (request, response, { id = '' }) => {
        const { key, tenant, gateway } = await wherever(context, 'program', id, tenantFor(request));
        // Whoever runs it forgets it as well, or its next call there would go on with it.
        if (gateway !== (context.peers?.gateway ?? null)) await ofOthers(context, 'end', key);
        endProgram(context, programId(key));
        sendJson(request, response, 200, 'ended', { ended: true, id, tenant });
      },
    },
  };
}

/** Whether the request carries an API key. Without configured keys, all callers share one tenant. */
function hasClientKey(context: Parts, request: IncomingMessage): boolean {
  if (context.config.auth.keys.length === 0) return false;
  try {
    context.auth.tenantOf(request);
    return true;
  } catch {
    return false;
  }
}
