import type { Engine } from '../engines/index.js';

/** Requests that are being passed through, by engine. */
export const passing = new WeakMap<Engine, number>();

/** Calls and passed-through requests that an engine has. @param view of the scheduler, which knows the calls alone */
export const inFlight = (engine: Engine, view: { readonly inFlight: number } | undefined): number =>
  (view?.inFlight ?? 0) + (passing.get(engine) ?? 0);
