import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { ConfigError } from '../../sidecar/config/index.js';
import type { WorkflowInput } from '../../sidecar/workflows/schema.js';
import { fromDag } from './dag-jsonl.js';
import { isObject, type Sizes } from './json.js';
import { fromLangGraph } from './langgraph.js';

export interface ImportOptions extends Sizes {
  readonly name?: string;
  /** Of a `dag_jsonl` file: the session to begin with. */
  readonly session?: string;
}

/**
 * Makes a workflow of another tool's file, which is told by its content: one JSON object with `nodes` and `edges` is a
 * LangGraph graph, lines with `session_id` are AIPerf's `dag_jsonl`.
 * @throws ConfigError
 */
export function importWorkflow(file: string, { name, session, ...sizes }: ImportOptions): WorkflowInput {
  const text = readText(file);
  const fail = (message: string): never => {
    throw new ConfigError([{ path: '', message, origin: file }]);
  };
  const whole = parsed(text);
  const stem =
    basename(file)
      .replace(/\..*$/, '')
      .replace(/[^\w.:-]+/g, '-')
      .slice(0, 128) || 'workflow';
  if (isObject(whole) && Array.isArray(whole['nodes']) && Array.isArray(whole['edges']))
    return { name: name ?? stem, ...fromLangGraph(whole['nodes'], whole['edges'], sizes, fail) };
  const lines = text
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [{ at: index + 1, value: parsed(line) }]));
  const sessions = lines.map(({ at, value }) =>
    isObject(value) && typeof value['session_id'] === 'string'
      ? value
      : fail(`line ${at} is neither a session of dag_jsonl nor a LangGraph graph`),
  );
  if (sessions.length === 0) fail('is empty');
  return { name: name ?? stem, ...fromDag(sessions, session, sizes, fail) };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const text = code === 'ENOENT' ? 'no such file' : `cannot be read: ${message}`;
    throw new ConfigError([{ path: '', message: text, origin: file }]);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
