import { z } from 'zod';
import type { Dice } from '../dice.js';

/**
 * A quantity: a number, or a distribution to draw from. Unbounded distributions have a `max`; draws beyond `min` or
 * `max` are clamped.
 */
export type Distribution = number | Shape;
type Shape = z.output<ReturnType<typeof shapes>>;
/** As written in a file, without defaults. */
export type DistributionInput = number | z.input<ReturnType<typeof shapes>>;

interface Bounds {
  readonly min?: number;
  readonly max: number;
}

export const logNormal = (median: number, p95: number, bounds: Bounds, source: string) =>
  ({ dist: 'log-normal', median, p95, ...bounds, source }) as const;

export const gamma = (mean: number, cv: number, bounds: Bounds, source: string) =>
  ({ dist: 'gamma', mean, cv, ...bounds, source }) as const;

/** The values that these shares do not exceed. */
export function quantiles(shares: readonly number[], values: readonly number[], source: string) {
  return {
    dist: 'quantiles' as const,
    points: shares.map((share, at): [number, number] => [share, values[at] ?? NaN]),
    source,
  };
}

/** Whole numbers, each with the share that does not exceed it. */
export function counts(source: string, ...counted: readonly (readonly [value: number, share: number])[]) {
  const points = counted.flatMap(([value, share], at): [share: number, value: number][] => [
    [counted[at - 1]?.[1] ?? 0, value],
    [share, value],
  ]);
  return { dist: 'quantiles' as const, points, source };
}

/** For numbers from `least` to `most`: no draw lies outside. */
export const distribution = (least: number, most: number) =>
  z.union([z.number().min(least).max(most), shapes(least, most).superRefine(checkOrder)], {
    error: 'must be a number or a distribution',
  });

function shapes(least: number, most: number) {
  const value = z.number().min(least).max(most);
  const positive = z.number().gt(0).max(most);
  const source = z.string().min(1).exactOptional().describe('Where it is from; nothing reads it.');
  const clamp = { min: value.default(least), max: value, source };
  return z.discriminatedUnion('dist', [
    z.strictObject({ dist: z.literal('constant'), value, source }),
    z.strictObject({ dist: z.literal('uniform'), min: value, max: value, source }),
    z.strictObject({ dist: z.literal('log-normal'), median: positive, p95: positive, ...clamp }),
    z.strictObject({ dist: z.literal('gamma'), mean: positive, cv: z.number().min(0).max(100), ...clamp }),
    z.strictObject({ dist: z.literal('geometric'), mean: z.number().min(1).max(most), ...clamp }),
    z.strictObject({ dist: z.literal('quantiles'), points: z.array(point(value)).min(2).max(1000), source }),
  ]);
}

/** A share of the draws, from 0 to 1, and the value that they do not exceed. */
const point = (value: z.ZodNumber) => z.tuple([z.number().min(0).max(1), value]);

function checkOrder(given: Shape, context: z.RefinementCtx): void {
  const problem = (key: string | number, message: string, ...path: (string | number)[]) =>
    context.addIssue({ code: 'custom', path: [key, ...path], message });
  if ('max' in given && given.max < given.min) problem('max', 'must be at least min');
  if (given.dist === 'log-normal' && given.p95 < given.median) problem('p95', 'must be at least the median');
  if (given.dist !== 'quantiles') return;
  if (given.points[0]?.[0] !== 0) problem('points', 'must begin at 0', 0);
  if (given.points.at(-1)?.[0] !== 1) problem('points', 'must end at 1', given.points.length - 1);
  given.points.forEach(([share, value], index) => {
    const before = given.points[index - 1];
    if (before !== undefined && (share < before[0] || value < before[1]))
      problem('points', 'must not be below the point before it', index);
  });
}

export function draw(from: Distribution, dice: Dice): number {
  if (typeof from === 'number') return from;
  switch (from.dist) {
    case 'constant':
      return from.value;
    case 'uniform':
      return from.min + dice.share() * (from.max - from.min);
    case 'log-normal':
      return clamped(dice.logNormal(from.median, from.p95), from);
    case 'gamma':
      return clamped(dice.gammaOf(from.mean, from.cv), from);
    case 'geometric':
      return clamped(
        from.mean === 1 ? 1 : 1 + Math.floor(Math.log(1 - dice.share()) / Math.log(1 - 1 / from.mean)),
        from,
      );
    case 'quantiles':
      return quantile(from.points, dice.share());
  }
}

/** Draws a whole number; those of a uniform distribution are equally likely. */
export function drawWhole(from: Distribution, dice: Dice): number {
  const isUniform = typeof from !== 'number' && from.dist === 'uniform';
  return Math.round(isUniform ? dice.int(from.min, from.max) : draw(from, dice));
}

function boundsOf(from: Distribution): readonly [least: number, most: number] {
  if (typeof from === 'number') return [from, from];
  if (from.dist === 'constant') return [from.value, from.value];
  return from.dist === 'quantiles' ? [from.points[0]?.[1] ?? 0, from.points.at(-1)?.[1] ?? 0] : [from.min, from.max];
}

export const smallest = (from: Distribution): number => boundsOf(from)[0];
export const largest = (from: Distribution): number => boundsOf(from)[1];

const clamped = (value: number, { min, max }: { readonly min: number; readonly max: number }): number =>
  Math.min(max, Math.max(min, value));

/** Interpolates linearly between the two points around the share. */
function quantile(points: readonly (readonly [number, number])[], share: number): number {
  let [shareBelow, below] = points[0] ?? [0, 0];
  for (const [shareAbove, above] of points) {
    if (share < shareAbove) return below + ((share - shareBelow) / (shareAbove - shareBelow)) * (above - below);
    [shareBelow, below] = [shareAbove, above];
  }
  return below;
}
