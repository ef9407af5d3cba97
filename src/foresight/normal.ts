/** Beyond it the normal distribution ends here: what is left, some 1e-15, divides without loss. */
const Z_MAX = 8;

/** Probability that a standard normal variable exceeds `z`. Abramowitz and Stegun 26.2.17; error below 1e-7. */
export function normalTail(z: number): number {
  if (z < 0) return 1 - normalTail(-z);
  const x = Math.min(z, Z_MAX);
  const t = 1 / (1 + 0.2316419 * x);
  const sum = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}

/** The value that a standard normal variable exceeds with this probability, above 0. As above, 26.2.23; error 4.5e-4. */
export function normalAbove(probability: number): number {
  if (probability > 0.5) return -normalAbove(1 - probability);
  const t = Math.sqrt(-2 * Math.log(probability));
  const over = 2.515517 + t * (0.802853 + t * 0.010328);
  return t - over / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}
