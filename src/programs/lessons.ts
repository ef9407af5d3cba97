import type { CompletionIndex } from './completion-index.js';

/** Service of a program, or its end where `toMs` is absent. */
interface Lesson {
  readonly index: CompletionIndex;
  readonly atMs: number;
  readonly fromMs: number;
  readonly toMs?: number;
}

/** Lessons kept; with more, the oldest are learnt early. */
const LESSONS_MAX = 65_536;
const LEARNT_MAX = 1024;

/** Lessons that completion indices learn late, in the order in which they came. */
export class Lessons {
  #lessons: Lesson[] = [];
  #learnt = 0;

  /** O(1) on average. */
  add(lesson: Lesson): void {
    this.#lessons.push(lesson);
    if (this.#lessons.length - this.#learnt > LESSONS_MAX) this.#learnNext();
  }

  learn(untilMs: number): void {
    for (let next = this.#lessons[this.#learnt]; next !== undefined && next.atMs <= untilMs;) {
      this.#learnNext();
      next = this.#lessons[this.#learnt];
    }
  }

  #learnNext(): void {
    const { index, fromMs, toMs } = this.#lessons[this.#learnt] as Lesson;
    if (toMs === undefined) index.ended(fromMs);
    else index.recordService(fromMs, toMs);
    this.#learnt += 1;
    if (this.#learnt < LEARNT_MAX) return;
    this.#lessons = this.#lessons.slice(this.#learnt);
    this.#learnt = 0;
  }
}
