import type { ProgramId } from '../../src/index.js';
import type { Config } from '../config/index.js';
import type { Driver } from '../driver.js';
import type { Fleet } from '../engines/fleet.js';
import type { Observers } from './observers.js';
import type { CallSpec } from './spec.js';

/** Services of the gateway that calls use. */
export interface CallPorts {
  readonly driver: Driver;
  readonly fleet: Fleet;
  readonly observers: Observers;
  /** The current configuration. */
  readonly config: () => Config;
  /** Value of `x-maitred-forecast`; undefined: not for this call. */
  readonly forecast: (spec: CallSpec) => string | undefined;
  /** The call left the queue unserved, and its client may ask again. */
  readonly mayReturn: (spec: CallSpec) => void;
  readonly endProgram: (program: ProgramId) => void;
}
