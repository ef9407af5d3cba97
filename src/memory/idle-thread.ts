import type { Engine } from '../engines/engine.js';
import type { Family, Usage } from '../protocol/events.js';
import type { Call } from '../programs/call.js';
import type { Program } from '../programs/process-table.js';
import type { Timed } from '../queues/timer-heap.js';
import type { ModelId } from '../protocol/units.js';
import type { Worth } from './worth.js';

/**
 * A thread between two calls, and the warm of its context.
 *
 *     idle ──room on its engine──> warming ──done──> warm
 *       ^                             │
 *       └── cancelled, or it failed ──┘
 *
 * `Prefetch` says when. The record goes when the thread's next call has ended, or with its program.
 */
export class IdleThread implements Timed {
  state: 'idle' | 'warming' | 'warm' = 'idle';
  heapIndex = -1;
  timerAtMs = 0;
  /** Engine of its last warm. */
  engine: Engine | undefined;
  /** Worth of warms of its agent type; undefined before the first. */
  worth: Worth | undefined;
  /** Warms begun for this return. */
  attempts = 0;
  /** When its return is given up. */
  untilMs = Infinity;
  /** Tokens that its warms computed. */
  warmedTokens = 0;
  isOver = false;

  readonly program: Program;
  readonly thread: string;
  readonly model: ModelId;
  readonly family: Family | undefined;
  /** Of its last call: the prefix shared with the family, and the size that its context is expected to reach. */
  readonly sharedTokens: number;
  readonly forecastTokens: number;

  /** @param promptTokens length of its last prompt, by the engine's count */
  constructor(
    { program, thread, model, family, sharedTokens, forecastTokens }: Call,
    readonly promptTokens: number,
    readonly seq: number,
  ) {
    this.program = program;
    this.thread = thread;
    this.model = model;
    this.family = family;
    this.sharedTokens = Math.min(sharedTokens, promptTokens);
    this.forecastTokens = forecastTokens;
  }

  /** Tokens that its warms computed and its next call, on this engine, found cached; all where the engine tells none. */
  foundTokens(engine: Engine, usage: Usage | undefined): number {
    if (engine !== this.engine) return 0;
    const { warmedTokens, promptTokens } = this;
    const cachedTokens = usage?.cachedTokens ?? promptTokens;
    return Math.max(0, Math.min(warmedTokens, cachedTokens - (promptTokens - warmedTokens)));
  }
}
