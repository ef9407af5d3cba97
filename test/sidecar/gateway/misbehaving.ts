import { ask, completion, type Answer, type World } from './world.js';

/** Engines that fail some calls, and the gateway's judgement of them. */

/** Ejects at the second failure, and probes often. */
export const QUICK = { health: { failuresMax: 2, intervalMs: 50, backoffMs: 50, backoffMsMax: 50 } };

export const says =
  (code: number, error: object, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error }));
  };

/** Misbehaves for calls that contain a word, and answers all others well. */
export const poisoned =
  (bad: Answer, good: Answer = completion()): Answer =>
  (response, seen, request) =>
    seen.body.includes('poison') ? bad(response, seen, request) : good(response, seen, request);

export const say = (content: string, headers: Record<string, string> = {}) =>
  [{ messages: [{ role: 'user', content }] }, headers] as const;

export const asProgram = (id: string) => ({ 'x-maitred-program': id });

export async function states({ adminUrl }: World): Promise<unknown[]> {
  const rows = (await ask(`${adminUrl}/engines`)).json()['engines'] as { state: string }[];
  return rows.map((row) => row.state);
}

export const ejections = ({ logs }: World): number => logs.filter((line) => line['msg'] === 'engine ejected').length;
