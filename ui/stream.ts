import { createParser } from 'eventsource-parser';
import { API, SECTIONS, announcement, connection, gateway, show, streamQuery, view, type View } from './state.js';

/* Follows `GET /stream` and reconnects by itself. Not an EventSource, which cannot send the token. */

/** The gateway sends at least a comment every few seconds; after this silence the connection counts as dead. */
const SILENCE_MS_MAX = 15_000;
const RETRY_MS = [500, 1000, 2000, 4000];
/** While the viewer scrolls or types, the view is not asked for at each step. */
const SETTLE_MS = 120;
const TOKEN = 'maitred-token';

let running = new AbortController();
let failures = 0;
/** When the gateway was last heard, in Unix seconds; 0: never. */
let heardAt = 0;
let timer: number | undefined;

export function follow(): void {
  streamQuery.subscribe(() => plan(connection.peek().state === 'connecting' ? 0 : SETTLE_MS));
}

/** @param text as typed; a header cannot carry other characters, so they are in no token */
export function useToken(text: string): void {
  const token = text.trim();
  if (!/^[!-~]+$/.test(token)) {
    connection.value = { state: 'locked', wrongToken: true };
    return;
  }
  sessionStorage.setItem(TOKEN, token);
  connection.value = { state: 'connecting' };
  plan(0);
}

/** Sends a command to the gateway. Returns its error; undefined: it was done. */
export async function post(path: string): Promise<Fault | undefined> {
  try {
    const response = await fetch(path, { method: 'POST', headers: authorization() });
    return response.ok ? undefined : await faultOf(response);
  } catch {
    return { message: 'The gateway cannot be reached.' };
  }
}

function authorization(): Record<string, string> {
  const token = sessionStorage.getItem(TOKEN);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

function plan(ms: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => void run(), ms);
}

async function run(): Promise<void> {
  running.abort();
  const own = new AbortController();
  running = own;
  try {
    await read(own);
  } catch {
    // The gateway is gone, or another view took over.
  }
  if (running !== own || connection.peek().state === 'locked') return;
  if (connection.peek().state === 'live') announcement.value = 'Connection lost, reconnecting';
  if (connection.peek().state !== 'refused') connection.value = { state: 'reconnecting', since: heardAt };
  plan(RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)] ?? 0);
}

/** Ends when the stream does. */
async function read(own: AbortController): Promise<void> {
  const response = await fetch(`/stream?${streamQuery.peek()}`, { headers: authorization(), signal: own.signal });
  if (running !== own) return;
  if (response.status === 401) {
    connection.value = { state: 'locked', wrongToken: sessionStorage.getItem(TOKEN) !== null };
    sessionStorage.removeItem(TOKEN);
    return;
  }
  if (!response.ok || response.body === null) {
    const { message, param } = await faultOf(response);
    // A choice in the address that the gateway does not know: without it, the rest of the page is as good.
    if (param && view.peek()[param as keyof View]) {
      show({ [param]: '' });
      return read(own);
    }
    connection.value = { state: 'refused', message };
    return;
  }
  const parser = createParser({
    onEvent: ({ event = '', data }) => {
      if (running === own) take(event, JSON.parse(data));
    },
  });
  let watchdog = 0;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => own.abort(), SILENCE_MS_MAX);
      const { done, value } = await reader.read();
      if (done) return;
      heardAt = Date.now() / 1000;
      parser.feed(value);
    }
  } finally {
    clearTimeout(watchdog);
  }
}

function take(name: string, value: unknown): void {
  if (name === 'gateway') greet(value as NonNullable<typeof gateway.value>);
  if (Object.hasOwn(SECTIONS, name)) SECTIONS[name as keyof typeof SECTIONS].value = value as never;
}

function greet(state: NonNullable<typeof gateway.value>): void {
  const known = gateway.peek();
  if ((state.api as number) !== API) {
    const message = 'The gateway is of another version. Load this page again.';
    connection.value = { state: 'refused', message };
    throw new Error(message);
  }
  failures = 0;
  if (known !== undefined && known.instance !== state.instance)
    announcement.value = 'The gateway has restarted, its history begins anew';
  else if (connection.peek().state !== 'live') announcement.value = 'Connected';
  else if (state.draining && known?.draining === false) announcement.value = 'The gateway is draining';
  connection.value = { state: 'live' };
}

type Fault = Readonly<Record<'message', string> & Partial<Record<'code' | 'param', string | null>>>;

async function faultOf(response: Response): Promise<Fault> {
  const { error } = (await response.json().catch(() => ({}))) as { error?: Fault };
  return error ?? { message: `The gateway answered ${response.status}.` };
}
