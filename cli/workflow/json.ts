/** Reading of other tools' JSON: whatever is missing or of another kind reads as empty. */
export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const objectOf = (value: unknown): Json => (isObject(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Ends an import with its reason. */
export type Fail = (message: string) => never;

/** Sizes of calls that a file does not tell. */
export interface Sizes {
  readonly promptTokens: number;
  readonly outputTokens: number;
}
