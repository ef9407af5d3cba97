import { z } from 'zod';
import { whole } from './answer-parts.js';

const number = z.number();

const pool = z
  .strictObject({
    models: z.array(z.string()),
    engines: whole,
    programs: whole.meta({ description: 'Programs that the means are of: those that began in the window.' }),
    calls: whole,
    doubt: z
      .enum([
        'foresight', // the policy in force uses what programs declare, or what was learnt of them
        'capacity_unknown', // an engine's KV cache is not known
        'cache_unknown', // engines do not report the prompt tokens that they found in their caches
        'engines_differ', // in their models, or much in their sizes
        'few_programs', // too few programs began in the window
        'unanswered', // too many calls ended without an answer
        'not_fitted', // too few calls for a model of the engines
        'too_slow', // a simulation takes too long
        'refused', // simulated calls are refused, so their programs have no time
        'model_differs', // the simulated programs take much longer, or shorter, than the real ones
        'unfinished', // too many programs have not ended
        'beyond_seen', // pass-through would run more calls at a time than the model of the engines can be trusted for
        'no_difference', // none that can be told: the range of the ratio includes 1
      ])
      .nullable()
      .meta({ description: 'Why there is no `gain`, see docs/INSPECT.md.' }),
    replay: z
      .strictObject({
        measured_seconds: number.meta({ description: 'Mean time of a program, first arrival to last end.' }),
        simulated_seconds: number.meta({ description: 'The same in the simulator.' }),
        error: number.meta({ description: 'The longer of the two over the shorter, less 1.' }),
      })
      .nullable()
      .meta({ description: 'The policy in force.' }),
    gain: z
      .strictObject({
        pass_through_seconds: number.meta({
          description: 'Mean time of the same programs in the simulator, under `pass-through`.',
        }),
        ratio: number.meta({ description: 'It over `simulated_seconds`; above 1 the policy in force is faster.' }),
        ratio_low: number.meta({ description: 'Its 95 % interval over programs, widened both ways by the error.' }),
        ratio_high: number,
      })
      .nullable(),
  })
  .meta({ id: 'ShadowPool', description: 'Engines that share models.' });

export const shadow = z
  .strictObject({
    made_at: number.meta({ description: 'Unix time in seconds.' }),
    window_seconds: number.meta({ description: 'Time that it covers.' }),
    took_seconds: number.meta({ description: 'CPU time.' }),
    pools: z.array(pool),
  })
  .meta({ id: 'Shadow', description: 'An estimate of what `pass-through` would have made of the latest programs.' });
