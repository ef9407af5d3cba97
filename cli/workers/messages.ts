import type { StoreMessage, StoreRequest } from '../../cluster/index.js';
import type { Config } from '../../sidecar/config/index.js';

/** What the first process tells a worker. */
export type ToWorker =
  | { readonly type: 'start'; readonly config: Config }
  | { readonly type: 'reload'; readonly config: Config }
  | { readonly type: 'drain' }
  | { readonly type: 'store'; readonly message: StoreMessage };

/** A worker's addresses: the common one, and its own. */
export interface Listening {
  readonly type: 'listening';
  readonly url: string;
  readonly adminUrl: string;
}

/** What a worker tells the first process. */
export type FromWorker =
  /** It hears messages from now on: earlier ones would be lost. */
  | { readonly type: 'loaded' }
  | Listening
  | { readonly type: 'join' }
  | { readonly type: 'failed'; readonly error: WorkerError }
  | { readonly type: 'store'; readonly request: StoreRequest };

/** An error as a message carries it: its class is lost, its facts are not. */
export interface WorkerError {
  readonly message: string;
  readonly code: string | undefined;
  readonly address: string | undefined;
  readonly port: number | undefined;
}
