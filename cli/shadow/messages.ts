import type { ShadowAnswer } from '../../sidecar/admin/answers.js';
import type { ShadowSettings } from './estimate.js';
import type { Seen } from './pool.js';

/** The thread of the estimates answers each message before it gets the next one. */
export interface ToShadow extends Pick<Seen, 'ended' | 'sinceMs' | 'nowMs'> {
  /** Asks for an estimate. */
  readonly scene: (Pick<Seen, 'open' | 'engines'> & { readonly settings: ShadowSettings }) | undefined;
}

/** The estimate, if one was asked for. */
export type FromShadow = ShadowAnswer | undefined;
