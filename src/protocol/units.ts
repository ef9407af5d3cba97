/** Branded, so that tokens cannot be passed as milliseconds. A name carries its unit last (`waitMsMax`). */
declare const brand: unique symbol;
type Brand<T, B extends string> = T & { readonly [brand]: B };

/** Unique among all programs of all tenants: the driver scopes a client's id by its tenant. */
export type ProgramId = Brand<string, 'ProgramId'>;
/** Unique among all calls ever given to one scheduler. */
export type CallId = Brand<string, 'CallId'>;
export type EngineId = Brand<string, 'EngineId'>;
export type TenantId = Brand<string, 'TenantId'>;
/** The model's name as engines and clients spell it. */
export type ModelId = Brand<string, 'ModelId'>;
/** A point on the driver's monotonic clock, or a duration, in milliseconds. Fractions are allowed. */
export type Millis = Brand<number, 'Millis'>;
/** A whole number of tokens, zero or more. */
export type Tokens = Brand<number, 'Tokens'>;

export const programId = (id: string): ProgramId => id as ProgramId;
export const callId = (id: string): CallId => id as CallId;
export const engineId = (id: string): EngineId => id as EngineId;
export const tenantId = (id: string): TenantId => id as TenantId;
export const modelId = (id: string): ModelId => id as ModelId;

/** @throws RangeError for NaN and infinities: a broken clock must not reach the queues. */
export function millis(value: number): Millis {
  if (!Number.isFinite(value)) throw new RangeError(`milliseconds must be finite, got ${value}`);
  return value as Millis;
}

/** Rounds up to whole tokens. @throws RangeError for NaN, infinities and negative counts. */
export function tokens(value: number): Tokens {
  if (!Number.isFinite(value) || value < 0) throw new RangeError(`tokens must be finite and >= 0, got ${value}`);
  return Math.ceil(value) as Tokens;
}
