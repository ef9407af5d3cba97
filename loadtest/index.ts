/**
 * The load tester behind `maitred load`: agent programs against one or two targets that speak an OpenAI-like API.
 *
 * Reading guide, in this order:
 * - `load.ts`: what to send and what comes of it; `records.ts`: what is told of each call and program.
 * - `run.ts`: a run from the first look at its targets to its summary; `player.ts` plays one program.
 * - `conversation.ts`: what a call says; `words.ts` makes text of so many tokens.
 * - `exchange.ts`: one call on the wire; `apis/`: the shapes of the APIs; `identity.ts`: what clients say of themselves.
 * - `private-address.ts`: whom it may be pointed at. `report/`: what is told of a run, while it goes and at its end.
 */
export { API_NAMES, type ApiName } from './apis/api.js';
export { IDENTITY_NAMES, type IdentityName } from './identity.js';
export * from './load.js';
export { privateLookup } from './private-address.js';
export { runLoad } from './run.js';
export {
  ERROR_CLASSES,
  type ErrorClass,
  type LoadCallRecord,
  type LoadObserver,
  type LoadProgramRecord,
} from './records.js';
