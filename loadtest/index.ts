/**
 * The load tester behind `maitred load`: agent programs against one or two targets that speak an OpenAI-like API.
 *
 * Reading guide, in this order:
 * - `load.ts`: the options and the summary of a run, and the records of its calls and programs.
 * - `runs.ts`: from the first look at the targets to the summary; `run.ts`: one run; `player.ts` plays one program.
 * - `conversation.ts`: the prompts of calls; `words.ts` makes text of a given number of tokens.
 * - `exchange.ts`: one call on the wire; `apis/`: the shapes of the APIs; `identity.ts`: clients' headers and fields.
 * - `preset.ts`: timings of a server, for `maitred sim calibrate`.
 * - `target.ts`: connections, and allowed targets. `report/`: the report of a run, during it and at its end.
 */
export { API_NAMES, type ApiName } from './apis/index.js';
export { IDENTITY_NAMES, type IdentityName } from './identity.js';
export * from './load.js';
export { type Calibration, calibratePreset } from './preset.js';
export { seedOfRun } from './run.js';
export { type LoadSummary, runLoad } from './runs.js';
