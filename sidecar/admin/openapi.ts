import { z } from 'zod';
import * as answers from './answers.js';

/** Input and answer of an operation. Parameters in the path are found by their braces. */
interface Operation {
  readonly summary: string;
  readonly query?: Readonly<Record<string, string>>;
  /** The JSON that it takes, in words. */
  readonly body?: string;
  readonly status?: number;
  /** A schema for JSON, or the media type of anything else. */
  readonly answer: z.ZodType | string;
  /** Statuses of its errors, besides those of every guarded path. */
  readonly errors?: readonly number[];
  /** Open to everyone. */
  readonly open?: true;
}

const TENANT = { tenant: 'Tenant of the program; needed if several tenants have one of that id.' };
const PAGE = {
  limit: 'Rows of the page, 1 to 1000; default 100.',
  offset: 'Rows before the page.',
  sort: 'A field of the rows, such as `current_wait_seconds`; with a leading minus sign the greatest come first.',
  tenant: 'Only programs of this tenant.',
  engine: 'Only programs whose home or running calls are on this engine.',
  state: '`waiting`, `running` or `idle`.',
  text: 'Only programs whose key contains each of these words, whatever their case.',
};
const STREAM = `The state as it changes. Server-sent events. Events \`gateway\`, \`engines\`, \`queue\`, \`totals\`, \`history\` and \`programs\` carry the answers of the
paths of these names; with \`program\` set, \`program\` (null: not in the table) and \`calls\` too. All come at once, then once a
second those that have changed, or a comment. Clients that reconnect get all of them again.`;

/** Every path of the admin listener, in the notation of OpenAPI. */
const PATHS: Readonly<Record<string, Readonly<Partial<Record<'get' | 'post' | 'delete', Operation>>>>> = {
  '/programs': { get: { summary: 'Programs, a page at a time.', query: PAGE, answer: answers.programPage } },
  '/ended': { get: { summary: 'The last programs that have left the table.', answer: answers.endedPrograms } },
  '/programs/{id}': {
    get: {
      summary: 'One program, its threads and active calls.',
      query: TENANT,
      answer: answers.programDetail,
      errors: [404],
    },
  },
  '/programs/{id}/explain': {
    get: {
      summary:
        'Why its calls wait or run where they do. The id may also be a call’s, or at least 4 characters with which one program’s id alone begins.',
      query: TENANT,
      answer: answers.explanation,
      errors: [404],
    },
  },
  '/programs/{id}/calls': {
    get: {
      summary: 'Its latest ended calls. By its key also after it has left the table.',
      query: TENANT,
      answer: answers.pastCalls,
      errors: [404],
    },
  },
  '/programs/{id}/end': {
    post: {
      summary: 'Ends it: running calls finish, and its next call begins a new program.',
      query: TENANT,
      answer: answers.ended,
      errors: [404],
    },
  },
  '/programs/{id}/hint': {
    post: {
      summary: 'Declares the rest of it, for its next calls. Clients may do so with their own key.',
      query: TENANT,
      body: '`{"remaining": {"promptTokens": 1200, "outputTokens": 300, "calls": 4}}`; `calls` is optional. See docs/WORKFLOWS.md.',
      answer: answers.hinted,
      errors: [404, 413, 415],
    },
  },
  '/engines': {
    get: { summary: 'All engines.', answer: answers.engineList },
    post: {
      summary: 'Adds an engine, or returns a drained one to service.',
      body: 'The keys of `engines[]` in docs/CONFIG.md.',
      status: 201,
      answer: answers.engine,
      errors: [409, 413, 415],
    },
  },
  '/engines/{id}': {
    get: { summary: 'One engine.', answer: answers.engine, errors: [404] },
    delete: { summary: 'Drains it, then forgets it.', answer: answers.removed, errors: [404] },
  },
  '/engines/{id}/drain': {
    post: { summary: 'Sends it no new calls; running ones finish.', answer: answers.engine, errors: [404] },
  },
  '/engines/{id}/undrain': {
    post: { summary: 'Returns a drained engine to service.', answer: answers.engine, errors: [404] },
  },
  '/every-engine/{path}': {
    post: {
      summary: 'Sends the same request to all engines, if `admin.enginePaths` lists the path.',
      body: 'Whatever the path of the engines takes.',
      answer: answers.everyEngine,
      errors: [413, 502, 503],
    },
  },
  '/queue': { get: { summary: 'Waiting calls by level.', answer: answers.queue } },
  '/tenants': {
    get: { summary: 'Tenants and their shares of engine time, the largest first.', answer: answers.tenantList },
  },
  '/identity': {
    get: { summary: 'The sources that named the programs of the last 512 calls.', answer: answers.identitySources },
  },
  '/totals': { get: { summary: 'Sums over the last minutes.', answer: answers.totals } },
  '/history': {
    get: {
      summary: 'The last five minutes, hour or day in 60 steps.',
      query: { range: '`5m` (default), `1h` or `1d`.' },
      answer: answers.history,
    },
  },
  '/gateway': { get: { summary: 'The gateway itself.', answer: answers.gatewayState } },
  '/stream': {
    get: {
      summary: STREAM,
      query: {
        ...PAGE,
        program: 'Key of a program to watch as well.',
        ended: 'If set, the event `ended` carries the answer of that path.',
      },
      answer: 'text/event-stream',
      errors: [503],
    },
  },
  '/demo': {
    post: {
      summary: 'Sends a small fleet of agent programs through the embedded engines.',
      status: 202,
      answer: answers.demo,
      errors: [404],
    },
  },
  '/config': {
    get: { summary: 'The configuration in effect, without secrets.', answer: 'application/json' },
  },
  '/metrics': { get: { summary: 'Metrics for Prometheus.', answer: 'text/plain' } },
  '/openapi.json': { get: { summary: 'This description.', answer: 'application/json' } },
  '/version': { get: { summary: 'The version of maitred.', answer: answers.version } },
  '/healthz': { get: { summary: 'Whether the process is alive.', answer: answers.alive, open: true } },
  '/health': { get: { summary: 'The same, by the path of the engines’ probes.', answer: answers.alive, open: true } },
  '/readyz': { get: { summary: 'Whether it takes calls.', answer: answers.ready, errors: [503], open: true } },
  '/': { get: { summary: 'Leads to the page.', status: 302, answer: '*/*', open: true } },
  '/ui': { get: { summary: 'The page.', answer: 'text/html', errors: [404], open: true } },
  '/ui/assets/{file}': { get: { summary: 'A file of the page.', answer: '*/*', errors: [404], open: true } },
};

const DESCRIPTION = `How operators see and steer a running maitred. Times are seconds, times of day Unix seconds, sizes tokens.
Within a version fields and paths are only added, so clients must ignore those that they do not know.`;

/** The admin API as an OpenAPI 3.1 document. */
export function openApi(): object {
  const paths = Object.entries(PATHS).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [method, describeOperation(path, operation)]),
    ),
  ]);
  return {
    openapi: '3.1.1',
    info: { title: 'maitred admin API', version: String(answers.API_VERSION), description: DESCRIPTION },
    security: [{}, { token: [] }],
    paths: Object.fromEntries(paths) as object,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: '`admin.token`, where it is set.' } },
      schemas: componentSchemas(),
    },
  };
}

function describeOperation(
  path: string,
  { summary, query = {}, body, status = 200, answer, errors = [], open }: Operation,
) {
  const inPath = [...path.matchAll(/{(\w+)}/g)].map(([, name]) => parameter('path', name ?? '', PATH_PARAMETERS));
  const inQuery = Object.keys(query).map((name) => parameter('query', name, query));
  const statuses = [...(open === true ? [] : [400, 401, 403]), ...errors];
  return {
    summary,
    ...(inPath.length + inQuery.length > 0 && { parameters: [...inPath, ...inQuery] }),
    ...(body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: { description: body } } } },
    }),
    ...(open === true && { security: [] }),
    responses: {
      [status]: { description: 'Done.', content: contentOf(answer) },
      ...Object.fromEntries(
        statuses.map((code) => [code, { description: 'Refused.', content: contentOf(errorOf(path, code, answer)) }]),
      ),
    },
  };
}

/** Some paths answer in their own shape although they failed. */
function errorOf(path: string, status: number, answer: Operation['answer']): Operation['answer'] {
  if (path === '/readyz' || (path.startsWith('/every-engine') && status === 502)) return answer;
  return path === '/ui' ? 'text/plain' : answers.error;
}

const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  id: 'Of an engine; or of a program: its id or its key.',
  path: 'A path of the engines; it may contain slashes.',
  file: 'A name from the page.',
};

const parameter = (where: 'path' | 'query', name: string, descriptions: Readonly<Record<string, string>>) => ({
  name,
  in: where,
  ...(where === 'path' && { required: true }),
  description: descriptions[name],
  schema: { type: 'string' },
});

function contentOf(answer: Operation['answer']): object {
  if (typeof answer === 'string') return { [answer]: {} };
  return { 'application/json': { schema: { $ref: refOf(answer.meta()?.id ?? '') } } };
}

const refOf = (id: string): string => `#/components/schemas/${id}`;

/** The schemas that have an id, with references to one another. Unknown fields are left open, as later ones are. */
function componentSchemas(): Record<string, object> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    uri: refOf,
    override: ({ jsonSchema }) => {
      delete jsonSchema.additionalProperties;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, schema]) => [id, { ...schema, $schema: undefined, $id: undefined }]),
  );
}
