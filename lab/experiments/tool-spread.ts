import { Dice, type AgentProgram } from '../../workloads/index.js';

/** Mean time of a tool in SAGA's experiment. */
const MEAN_MS = 1200;

/**
 * The same programs with tools of another spread: log-normal, and 1.2 s in the mean (SAGA, 9.10).
 * @param cv coefficient of variation, above 0
 */
export function* withToolSpread(programs: Iterable<AgentProgram>, cv: number, seed: number): Generator<AgentProgram> {
  const sigma = Math.sqrt(Math.log(1 + cv * cv));
  const median = MEAN_MS * Math.exp((-sigma * sigma) / 2);
  const p95 = median * Math.exp(1.645 * sigma);
  let index = 0;
  for (const program of programs) {
    const dice = Dice.of(seed, index++);
    const calls = program.calls.map((call) =>
      call.after.length === 0 ? call : { ...call, gapMs: dice.logNormal(median, p95) },
    );
    yield { ...program, calls };
  }
}
