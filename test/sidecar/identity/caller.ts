import type { IncomingHttpHeaders } from 'node:http';
import { it as base } from 'vitest';
import { tenantId, type ProgramId } from '../../../src/index.js';
import { apiFor, type JsonObject } from '../../../sidecar/apis/index.js';
import { configSchema } from '../../../sidecar/config/index.js';
import {
  Identifier,
  type IdentifierOptions,
  type Identity,
  type IdentityRequest,
} from '../../../sidecar/identity/index.js';

export const DEFAULT_SOURCES = configSchema.parse({}).identity.sources;

export interface Sent {
  readonly headers?: IncomingHttpHeaders;
  readonly body?: JsonObject;
  readonly tenant?: string;
  readonly path?: string;
}

/** An identifier with calls in the form in which the gateway passes them. */
export function createCaller(options: Partial<IdentifierOptions> = {}) {
  let ids = 0;
  const identifier = new Identifier({
    sources: DEFAULT_SOURCES,
    conversationsMax: 1000,
    responsesMax: 1000,
    reuseMs: 120_000,
    activityOf: () => undefined,
    newId: () => `new-${++ids}`,
    ...options,
  });

  function request({ headers = {}, body, tenant = 't', path = '/v1/chat/completions' }: Sent): IdentityRequest {
    const facts =
      body && apiFor(path)?.readRequest({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body });
    return { tenant: tenantId(tenant), headers, body, facts };
  }

  return {
    identifier,
    identify: (sent: Sent): Identity => identifier.identify(request(sent)),
    /** A complete call: identified, then answered in the shape of its API. */
    call: (sent: Sent, answer: JsonObject): Identity => {
      const asked = request(sent);
      const identity = identifier.identify(asked);
      identifier.answered(identity, asked, apiFor(sent.path ?? '/v1/chat/completions')!.readAnswer(answer));
      return identity;
    },
  };
}

/** A test with an identifier of its own. */
export const it = base
  .extend('own', () => createCaller())
  .extend('call', ({ own }) => own.call)
  .extend('identify', ({ own }) => own.identify)
  .extend('identifier', ({ own }) => own.identifier);

/** An identity that says nothing but its program. */
export const identityOf = (program: ProgramId, more: Partial<Identity> = {}): Identity => ({
  program,
  label: 'p',
  thread: '',
  final: false,
  source: 'none',
  leaf: undefined,
  renews: false,
  sought: undefined,
  ...more,
});

export const chat = (...messages: JsonObject[]) => ({ body: { messages } });

export const said = (role: string, content: string): JsonObject => ({ role, content });

/** A chat answer. */
export const answer = (content: string | null, more: JsonObject = {}): JsonObject => ({
  choices: [{ message: { role: 'assistant', content, ...more } }],
});
