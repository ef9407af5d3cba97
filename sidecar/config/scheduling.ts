import { BALANCER_NAMES, defaults as balancing } from '../../loadbalancer/index.js';
import {
  ADMISSION_NAMES,
  CHARGE_NAMES,
  FORECAST_NAMES,
  FORESIGHT_NAMES,
  ORDER_NAMES,
  POLICY_NAMES,
  RETENTION_NAMES,
  TENANTS_NAMES,
  defaults,
} from '../../src/index.js';
import { z } from 'zod';
import { MEASURED, count, derived, ms, name, note } from './note.js';
import { didYouMean } from './similar.js';

const { policy: ranking, starvation: relief, admission: gating, balancer: placing } = defaults;

const ORDER = 'measured: lab/NOTEBOOK.md, “What each step of the order is worth”';
const PROMPT = 'measured: lab/NOTEBOOK.md, “What a prompt’s length is worth”';

const msPerToken = z.number().min(0).max(1e4);

/** Keys of the scheduler core and the load balancer; see the opening words of schema.ts. */

export const policy = z.strictObject({
  name: note(z.enum(POLICY_NAMES).default(ranking.name), 'Order of waiting calls.', 'Autellix'),
  firstQuantumMs: note(ms(1).default(ranking.firstQuantumMs), 'Service in level 0; each level doubles it.', MEASURED),
  charge: note(z.enum(CHARGE_NAMES).default(ranking.charge), 'All calls of a program, or its longest `chain`.', ORDER),
  order: note(
    z.enum(ORDER_NAMES).default(ranking.order),
    'Order of `plas`: by the rest to expect (`learnt`), or by the time had (`attained`, the paper’s).',
    ORDER,
  ),
  countPrompt: note(
    z.boolean().default(ranking.countPrompt),
    'Rank a program’s first call as if its prompt had been served.',
    PROMPT,
  ),
  msPerPromptToken: note(msPerToken.default(ranking.msPerPromptToken), 'For `countPrompt` and `foresight`.'),
  msPerOutputToken: note(msPerToken.default(ranking.msPerOutputToken), 'For `foresight`.'),
  foresight: note(z.enum(FORESIGHT_NAMES).default(ranking.foresight), '`declared`: work that clients declare.', 'SAGA'),
  tenants: note(
    z.enum(TENANTS_NAMES).default(ranking.tenants),
    'Division of engine time among tenants: `none`, or `weighted` by `tenantWeights`.',
    MEASURED,
  ),
  tenantWeights: note(
    z.record(name, z.number().min(0.001).max(1000)).default(ranking.tenantWeights),
    'Weights by tenant, as `{research: 4}`; others have 1.',
  ),
});

export const starvation = z.strictObject({
  beta: note(z.number().min(0.1).max(1e6).default(relief.beta), 'Waiting over service that promotes a call.', MEASURED),
  floorMs: note(ms(1).default(relief.floorMs), 'Service counts as at least this in that ratio.', PROMPT),
  waitMsMax: note(ms(1).default(relief.waitMsMax), 'Wait of one call that promotes it whatever the ratio.', MEASURED),
});

const shareOf = (what: string, zero: string) =>
  z.number().min(0).max(2, `must be at most 2: a share of the ${what}, such as 0.9 for 90 %; ${zero}`);

export const admission = z
  .strictObject({
    window: note(
      z
        .union([z.literal('auto'), z.literal('adaptive'), count(1, 100_000)], {
          error: ({ input }) =>
            `must be auto, adaptive or a whole number from 1 to 100000${typeof input === 'string' ? didYouMean(input, ['auto', 'adaptive']) : ''}`,
        })
        .default(gating.window),
      'Calls in flight per engine: the engine’s own limit, else adaptive (`auto`), or a number.',
      MEASURED,
    ),
    backgroundShare: note(
      z.number().min(0).max(100).default(gating.backgroundShare),
      'Share of an engine’s time that background calls (batches, `service_tier: flex`) may cost others; 0: only idle engines run them.',
      'measured: lab/NOTEBOOK.md, “Batches”',
    ),
    windowInitial: note(count(1, 100_000).optional(), 'Initial adaptive window.', {
      default: `${gating.windowInitial}, within \`windowMin\` and \`windowMax\``,
    }),
    windowMin: derived(count(1, 100_000), 'Smallest adaptive window.', `${gating.windowMin}, at most \`windowMax\``),
    windowMax: note(count(1, 100_000).default(gating.windowMax), 'Largest adaptive window.', MEASURED),
    gate: note(
      shareOf('KV capacity', '0 means no gate').default(gating.gate),
      'Share of an engine’s KV capacity that the working set may take; 0: no gate.',
      MEASURED,
    ),
    hostGate: note(
      shareOf('host memory', '0: it is not counted').default(gating.hostGate),
      'Share of an engine’s host memory for idle contexts; 0: not counted.',
      MEASURED,
    ),
    batching: note(
      z.enum(ADMISSION_NAMES).default(gating.batching),
      '`knee`: hold a call that would slow others by more than it gains (DESIGN.md).',
      MEASURED,
    ),
    halfLifeMs: note(ms(1).default(gating.halfLifeMs), 'Half-life of an idle program’s residency.', MEASURED),
    retention: note(
      z.enum(RETENTION_NAMES).default(gating.retention),
      'Retention of idle contexts: `learnt` from return times, by `half-life`, or none (`lru`).',
      MEASURED,
    ),
    forecast: note(
      z.enum(FORECAST_NAMES).default(gating.forecast),
      'Count a context at its expected size, by agent type (`learnt`) or first prompt alone (`length`), or as it is (`none`).',
      MEASURED,
    ),
    sharedPrefixes: note(
      z.enum(['family', 'none']).default(gating.sharedPrefixes),
      'Count a family’s shared prefix once (`family`), or in each context (`none`).',
      MEASURED,
    ),
    outputReserveTokens: note(count(0, 1e6).default(gating.outputReserveTokens), 'Tokens kept for an unknown output.'),
    reserveMs: note(ms(0).default(gating.reserveMs), 'Wait after which idle contexts make way for a call.', MEASURED),
    turnMs: note(ms(0).default(gating.turnMs), 'Least time between two such calls on one engine.', MEASURED),
  })
  .transform(({ windowMin, windowInitial, ...rest }) => {
    const least = windowMin ?? Math.min(gating.windowMin, rest.windowMax);
    const initial = windowInitial ?? Math.min(Math.max(gating.windowInitial, least), rest.windowMax);
    return { ...rest, windowMin: least, windowInitial: initial };
  });

export const balancer = z.strictObject({
  name: note(z.enum(BALANCER_NAMES).default(balancing.name), 'Choice of a call’s engine.', 'Autellix, Algorithm 2'),
  thresholdTokens: note(
    count(0, 1e9).default(balancing.thresholdTokens),
    'Longest prompt that is spread instead of sent home.',
    'Autellix, Algorithm 2',
  ),
  adaptThreshold: note(z.boolean().default(balancing.adaptThreshold), 'Move the threshold by measured prefix hits.'),
  spillMs: note(ms(0).default(placing.spillMs), 'Wait after which a call may leave its engine for an idle one.'),
});
