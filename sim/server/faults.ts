import { ApiError, array, boolean, string, type JsonObject } from '../apis/fields.js';

/**
 * Ways to misbehave, for tests of gateways and clients. Written `name[=number]`, several joined by `;`:
 * `status=503;retry-after=2`. Times are of the wall clock, whatever the engine's speed.
 */
export const FAULTS = {
  status: 'answer with this status, such as 429, and an error body',
  'retry-after': 'with status: seconds for the Retry-After header',
  html: 'answer with an HTML page',
  garbage: 'answer 200 with bytes that are neither JSON nor events',
  reset: 'reset the connection before the headers',
  'reset-after': 'reset it after so many events, or bytes of a whole answer',
  hang: 'never answer',
  'hang-after': 'fall silent after so many events, or bytes of a whole answer',
  half: 'end cleanly before the terminal events or in the middle of a whole answer; or after so many events',
  'short-length': 'close the connection before Content-Length is reached',
  'long-length': 'send more than Content-Length',
  gzip: 'compress the answer, whatever was accepted',
  slow: 'wait so many milliseconds before doing anything',
  'no-usage': 'leave token usage out',
  'load-fails': 'lose what the host tier sends, and compute it',
} as const;

type FaultName = keyof typeof FAULTS;

export type Fault = ReadonlyMap<FaultName, number | undefined>;

export const NO_FAULT: Fault = new Map();

/** @throws ApiError 400 for an unknown name or an invalid number */
export function parseFault(text: string): Fault {
  const fault = new Map<FaultName, number | undefined>();
  for (const part of text.split(';')) {
    const [name = '', value] = part.trim().split('=');
    const number = value === undefined ? undefined : Number(value);
    if (!Object.hasOwn(FAULTS, name) || (number !== undefined && !(number >= 0 && Number.isFinite(number)))) {
      throw new ApiError(400, `fault '${part.trim()}': one of ${Object.keys(FAULTS).join(', ')} is expected`, 'fault');
    }
    fault.set(name as FaultName, number);
  }
  return fault;
}

export function isFault(text: string): boolean {
  try {
    parseFault(text);
    return true;
  } catch {
    return false;
  }
}

/** Faults queued for the next calls, and the health that the engine pretends. */
export class FaultPlan {
  readonly #queue: Fault[] = [];
  healthy = true;
  /** Whether the engine has requests wait and runs none. */
  stuck = false;

  constructor(faults: readonly string[]) {
    this.#queue.push(...faults.map(parseFault));
  }

  /** The fault of a request: from its own header, else from the queue if the request asks for an answer. */
  next(header: string | string[] | undefined, generates: boolean): Fault {
    if (typeof header === 'string') return parseFault(header);
    return (generates ? this.#queue.shift() : undefined) ?? NO_FAULT;
  }

  get pending(): number {
    return this.#queue.length;
  }

  clear(): void {
    this.#queue.length = 0;
    this.healthy = true;
    this.stuck = false;
  }

  /** `{faults: [text], health: 'up' | 'down', stuck: boolean}`, none of them required. */
  update(body: JsonObject): void {
    const health = string(body, 'health');
    if (health !== undefined && health !== 'up' && health !== 'down') {
      throw new ApiError(400, 'health: up or down is expected', 'health');
    }
    this.#queue.push(...array(body['faults'] ?? [], 'faults').map((text) => parseFault(String(text))));
    if (health !== undefined) this.healthy = health === 'up';
    if (body['stuck'] !== undefined) this.stuck = boolean(body, 'stuck');
  }
}
