import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { millis, type Event, type ProgramId } from '../../src/index.js';
import type { Context } from '../context.js';
import { sendJson } from '../http/answer.js';
import { readJsonBody } from '../http/body.js';
import type { Routes } from '../http/listener.js';
import { cleanId, labelOf } from '../identity/names.js';
import { endProgram, findProgram } from './programs.js';
import { toolName } from '../calls/tools.js';
import { checked } from '../workflows/checked.js';
import { deadlineAtMs } from '../workflows/deadline.js';
import { workOf } from '../workflows/declaration.js';
import { hintSchema, toolEventSchema } from '../workflows/schema.js';
import { tenantIn } from './query.js';

/** The parts of the gateway that this file uses. */
type Parts = Pick<Context, 'config' | 'auth' | 'identifier' | 'driver' | 'observers'>;

/**
 * `POST /programs/{id}/end`, `/hint` and `/events`. Operators may do so to any tenant's program, by `?tenant=` or by its key;
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
      POST: (request, response, { id = '' }) => {
        const row = findProgram(context, id, tenantFor(request));
        endProgram(context, row.id);
        sendJson(request, response, 200, 'ended', { ended: true, id, tenant: row.tenant });
      },
    },
    '/programs/:id/hint': {
      POST: async (request, response, { id = '' }) => {
        const tenant = tenantFor(request);
        const { body } = await readJsonBody(request, response, context.config.timeouts.bodyMs);
        const { remaining, deadline } = checked(hintSchema, body);
        const row = findProgram(context, id, tenant);
        const { config, driver } = context;
        driver.emit({
          type: 'programHinted',
          program: row.id,
          ...(remaining && { remaining: workOf(remaining) }),
          ...(deadline !== undefined && { deadlineAtMs: deadlineAtMs(deadline, driver.now()) }),
        });
        const { foresight, tenants } = config.policy;
        const used =
          (remaining !== undefined && foresight === 'declared') || (deadline !== undefined && tenants === 'afs');
        sendJson(request, response, 200, 'hinted', { hinted: true, used, id, tenant: row.tenant });
      },
    },
    '/programs/:id/events': {
      POST: async (request, response, { id = '' }) => {
        const tenant = tenantFor(request);
        const { body } = await readJsonBody(request, response, context.config.timeouts.bodyMs);
        const told = checked(toolEventSchema, body);
        const row = findProgram(context, id, tenant);
        context.driver.emit(toolEvent(told, row.id, threadOf(told.thread, id, row.id)));
        const used = context.config.policy.foresight !== 'none';
        sendJson(request, response, 200, 'noted', { noted: true, used, id, tenant: row.tenant });
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

/** The thread as the scheduler knows it: '' for the root. A sub-agent's session may also be named by the path. */
function threadOf(given: string | undefined, id: string, program: ProgramId): string {
  if (given === undefined && id === program) return '';
  const thread = cleanId(given ?? id) ?? '';
  return thread === labelOf(program) ? '' : thread;
}

function toolEvent(told: z.output<typeof toolEventSchema>, program: ProgramId, thread: string): Event {
  const tool = toolName(told.tool);
  if (told.type === 'tool_finished') return { type: 'toolFinished', program, thread, tool };
  const { expectedMs } = told;
  return {
    type: 'toolStarted',
    program,
    thread,
    tool,
    ...(expectedMs !== undefined && { expectedMs: millis(expectedMs) }),
  };
}
