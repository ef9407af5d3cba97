/** Prior of the parameters: normal about `start`. */
export interface Prior {
  readonly start: readonly number[];
  readonly deviation: number;
}

const STEPS_MAX = 100;
const DIFFERENCE = 1e-4;
/** Residuals beyond this many standard deviations count linearly, not squared, so that outliers do not dominate. */
const HUBER = 1.5;

/**
 * Parameters with the least sum of squared residuals, which are given in standard deviations: Levenberg-Marquardt with
 * numeric derivatives and Huber's weights.
 * @returns with the standard error of each; near the prior's deviation where the measurements do not determine it
 */
export function leastSquares(residuals: (parameters: readonly number[]) => number[], prior: Prior) {
  const precision = prior.deviation ** -2;
  const cost = (parameters: readonly number[], r: readonly number[]) =>
    sum(r.map(huber)) + sum(parameters.map((value, i) => (precision * (value - (prior.start[i] ?? 0)) ** 2) / 2));
  let parameters = [...prior.start];
  let r = residuals(parameters);
  let best = cost(parameters, r);
  let damping = 1e-2;
  for (let step = 0; step < STEPS_MAX && damping < 1e10; step += 1) {
    const { normal, gradient } = normalEquations(residuals, parameters, r, prior);
    const damped = normal.map((row, i) => row.map((value, j) => (i === j ? value * (1 + damping) : value)));
    const change = solve(damped, gradient);
    const next = parameters.map((value, i) => value - (change[i] ?? 0));
    const nextResiduals = residuals(next);
    const nextCost = cost(next, nextResiduals);
    if (!(nextCost < best)) {
      damping *= 4;
      continue;
    }
    const isDone = best - nextCost < 1e-9 * best;
    [parameters, r, best, damping] = [next, nextResiduals, nextCost, damping / 4];
    if (isDone) break;
  }
  const { normal } = normalEquations(residuals, parameters, r, prior);
  // If the residuals exceed the assumed noise, the standard errors grow with them.
  const spread = Math.max(1, (2 * sum(r.map(huber))) / Math.max(1, r.length - parameters.length));
  const errors = parameters.map((_, i) => {
    const unit = parameters.map((_, j) => (i === j ? 1 : 0));
    return Math.min(prior.deviation, Math.sqrt(spread * (solve(normal, unit)[i] ?? Infinity)));
  });
  return { parameters, errors };
}

function normalEquations(
  residuals: (parameters: readonly number[]) => number[],
  parameters: readonly number[],
  r: readonly number[],
  { start, deviation }: Prior,
) {
  const columns = parameters.map((value, i) => {
    const [up, down] = [1, -1].map((sign) =>
      residuals(parameters.map((other, j) => (j === i ? value + sign * DIFFERENCE : other))),
    );
    return r.map((_, k) => ((up?.[k] ?? 0) - (down?.[k] ?? 0)) / (2 * DIFFERENCE));
  });
  const weights = r.map((residual) => Math.min(1, HUBER / Math.abs(residual)));
  const weighted = (a: readonly number[], b: readonly number[]) =>
    sum(weights.map((weight, k) => weight * (a[k] ?? 0) * (b[k] ?? 0)));
  const precision = deviation ** -2;
  const normal = columns.map((a, i) => columns.map((b, j) => weighted(a, b) + (i === j ? precision : 0)));
  const gradient = columns.map((a, i) => weighted(a, r) + precision * ((parameters[i] ?? 0) - (start[i] ?? 0)));
  return { normal, gradient };
}

function huber(residual: number): number {
  const size = Math.abs(residual);
  return size <= HUBER ? size ** 2 / 2 : HUBER * (size - HUBER / 2);
}

/** Solves a positive definite system by elimination. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, right[i] ?? 0]);
  const size = rows.length;
  rows.forEach((pivot, i) => {
    for (const row of rows.slice(i + 1)) {
      const factor = (row[i] ?? 0) / (pivot[i] ?? 1);
      for (let j = i; j <= size; j += 1) row[j] = (row[j] ?? 0) - factor * (pivot[j] ?? 0);
    }
  });
  const solution = Array<number>(size).fill(0);
  for (let i = size - 1; i >= 0; i -= 1) {
    const row = rows[i] ?? [];
    const known = sum(solution.map((value, j) => (j > i ? (row[j] ?? 0) * value : 0)));
    solution[i] = ((row[size] ?? 0) - known) / (row[i] ?? 1);
  }
  return solution;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
