import { z } from 'zod';
import { DOUBTS } from '../shadow.js';

const seconds = z.number().min(0).nullable();
const whole = z.int().min(0);
const ratio = z.number().min(0).nullable();

const pool = z
  .strictObject({
    models: z.array(z.string()),
    engines: whole,
    programs: whole.meta({ description: 'Programs that the means are of: those that began in the window.' }),
    calls: whole,
    doubt: z
      .enum(DOUBTS)
      .nullable()
      .meta({ description: 'Why there is no figure for `fcfs`, see OPERATIONS.md; null: there is one.' }),
    measured_seconds: seconds.meta({ description: 'Mean time of a program, first arrival to last end.' }),
    simulated_seconds: seconds.meta({ description: 'The same in the simulator, under the policy in force.' }),
    fcfs_seconds: seconds.meta({ description: 'The same in the simulator, under `fcfs`.' }),
    ratio: ratio.meta({
      description: '`fcfs_seconds` over `simulated_seconds`; above 1 the policy in force is faster.',
    }),
    ratio_low: ratio.meta({ description: 'Its 95 % interval over programs; it leaves out the error of the model.' }),
    ratio_high: ratio,
    call_error: ratio.meta({ description: 'Median error of the engine model’s times of single calls, as a share.' }),
  })
  .meta({ id: 'ShadowPool', description: 'Engines that share models.' });

export const shadow = z
  .strictObject({
    made_at: z.number().nullable().meta({ description: 'Unix time in seconds; null: no estimate yet.' }),
    window_seconds: seconds.meta({ description: 'Time that it covers.' }),
    took_seconds: seconds,
    pools: z.array(pool),
  })
  .meta({ id: 'Shadow', description: 'An estimate of what `fcfs` would have made of the latest programs.' });
