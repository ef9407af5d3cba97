import { describe, expect, it } from 'vitest';
import { DARK, LIGHT } from '../../../lab/report/palette.js';

type Triple = readonly [number, number, number];

/** Linear light of a colour written as #rrggbb. */
const linear = (colour: string): Triple =>
  [1, 3, 5].map((at) => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as unknown as Triple;

const times = (matrix: readonly Triple[], [a, b, c]: Triple): Triple =>
  matrix.map((row) => row[0] * a + row[1] * b + row[2] * c) as unknown as Triple;

/** WCAG 2's contrast ratio. */
function contrast(one: string, other: string): number {
  const [light, dark] = [one, other]
    .map((colour) => 0.2126 * linear(colour)[0] + 0.7152 * linear(colour)[1] + 0.0722 * linear(colour)[2])
    .toSorted((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** What eyes without one of the three cones see, after Machado, Oliveira and Fernandes (2009). */
const EYES: Readonly<Record<string, readonly Triple[]>> = {
  'all cones': [[1, 0, 0], [0, 1, 0], [0, 0, 1]], // prettier-ignore
  'no long cones': [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]], // prettier-ignore
  'no medium cones': [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]], // prettier-ignore
  'no short cones': [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]], // prettier-ignore
};

/** Oklab (Ottosson, 2020): distances in it are about what people see. */
function oklab(light: Triple): Triple {
  const cones = times([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]], light); // prettier-ignore
  const roots = cones.map((cone) => Math.cbrt(Math.max(0, cone))) as unknown as Triple;
  return times([[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]], roots); // prettier-ignore
}

function distance(one: string, other: string, eyes: readonly Triple[]): number {
  const [a, b] = [one, other].map((colour) => oklab(times(eyes, linear(colour)))) as [Triple, Triple];
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

describe.each([
  ['light', LIGHT],
  ['dark', DARK],
] as const)('colours on a %s page', (_, palette) => {
  // prettier-ignore
  it('stand out from it', () => {
    for (const each of palette.series)
      expect(contrast(each, palette.background), each).toBeGreaterThan(3);
    expect(contrast(palette.text, palette.background)).toBeGreaterThan(12);
  });

  it.each(Object.entries(EYES))('are told apart by eyes with %s', (__, eyes) => {
    for (const [index, one] of palette.series.entries())
      for (const other of palette.series.slice(index + 1))
        expect(distance(one, other, eyes), `${one} ${other}`).toBeGreaterThan(0.1);
  });
});
