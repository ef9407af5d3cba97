/**
 * Batches of calls as plans: lines that may need each other's answers, checked and put into an order. Without I/O.
 *
 * Reading guide:
 *   lines.ts        one line of a batch's file, checked
 *   references.ts   a line's mentions of other lines' answers, found and filled in
 *   each.ts         an answer's items, of which each makes a call
 *   condition.ts    a test of an answer, without which a line is left out
 *   prompt.ts       the beginning of a line's prompt, as blocks that compare fast
 *   graph.ts        which line needs which: circles, programs, critical paths
 *   merge.ts        lines that ask the same
 *   order.ts        lines that share the beginnings of their prompts, side by side
 *   plan.ts         all of these for a whole file
 */
export { holds } from './condition.js';
export { BadItems, ITEM, itemsOf } from './each.js';
export { PROBLEMS_MAX, type Outline } from './graph.js';
export { parseLine, problem, type BatchLine, type Problem } from './lines.js';
export { requestOf } from './merge.js';
export { planOf, outlineOf, PASSES, sharedTokens, type Pass, type Plan } from './plan.js';
export { hashesOf } from './prompt.js';
export { fill, MissingAnswer, textOf } from './references.js';
