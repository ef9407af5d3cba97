import type { GeneratorHealth, LoadOptions, TargetFacts } from './load.js';

/** Thresholds above which the measurements also reflect the load tester. */
const LATE_MS = 50;
const CPU_SHARE = 0.9;
/** Share of a core below which the load tester was not the bottleneck itself, but was held up by other load. */
const IDLE_SHARE = 0.25;
/** Deviation in length above which prompts count as wrong. */
const LENGTH_SHARE = 0.01;

interface Ran {
  readonly options: Pick<LoadOptions, 'connections' | 'ignoreEos'>;
  readonly targets: readonly TargetFacts[];
  readonly generator: GeneratorHealth;
  readonly programsTooLong: number;
  readonly isTooMany: boolean;
}

/** Limitations of a run's figures, in sentences. */
export function warningsOf({ options, targets, generator, programsTooLong, isTooMany }: Ran): string[] {
  const { loopLagMs, lateSendMs, cpuShare, callsInFlightMax } = generator;
  const ms = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
  const warnings: string[] = [];
  if (lateSendMs.p99 > LATE_MS || loopLagMs.p99 > LATE_MS || cpuShare > CPU_SHARE) {
    const who = cpuShare > IDLE_SHARE ? 'The load tester itself is a bottleneck' : 'Something kept the load tester from its work, such as other load on this machine'; // prettier-ignore
    warnings.push(
      `${who}: 1 % of its calls were sent ${ms(lateSendMs.p99)} late or more, its event loop was ${ms(loopLagMs.p99)} late in the worst 1 % of looks, and it took ${(100 * cpuShare).toFixed(0)} % of one core. Latencies count from when calls were meant to be sent.`,
    );
  }
  if (callsInFlightMax >= options.connections)
    warnings.push(`All ${options.connections} connections to a target were in use, so that calls waited for one: --connections allows more.`); // prettier-ignore
  if (isTooMany)
    warnings.push('No more programs were begun when 20,000 were under way on a target: it does not keep up with the rate.'); // prettier-ignore
  if (programsTooLong > 0)
    warnings.push(`${programsTooLong} programs were left out, as they have calls longer than a target's model takes.`);
  for (const target of targets) warnings.push(...ofTarget(target, options.ignoreEos));
  return warnings;
}

function ofTarget(target: TargetFacts, wantsExact: boolean): string[] {
  const { url, isExact, tokenizer, ignoresEos, promptTokensWanted, promptTokensCounted } = target;
  const warnings: string[] = [];
  if (!isExact) {
    const how = { tokenize: 'its tokenizer', usage: 'what it charged for a few calls', guess: 'a guess of one token a word' }; // prettier-ignore
    warnings.push(`Prompts for ${url} are of about the wanted length only, by ${how[tokenizer]}.`);
  }
  if (wantsExact && !ignoresEos) warnings.push(`${url} does not take ignore_eos: its answers may be shorter than wanted.`); // prettier-ignore
  const off = promptTokensCounted / promptTokensWanted - 1;
  if (Math.abs(off) > LENGTH_SHARE)
    warnings.push(`Made prompts for ${url} had ${(100 * off).toFixed(1)} % ${off > 0 ? 'more' : 'fewer'} tokens than wanted, by its own count.`); // prettier-ignore
  return warnings;
}
