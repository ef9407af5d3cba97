/**
 * Batches of calls as plans: lines that may need each other's answers, checked and put into an order. Without I/O.
 *
 * Reading guide:
 *   lines.ts        one line of a batch's file, checked
 *   references.ts   a line's mentions of other lines' answers, found and filled in
 *   prompt.ts       the beginning of a line's prompt, as blocks that compare fast
 *   graph.ts        which line needs which: circles, programs, critical paths
 *   order.ts        lines that share the beginnings of their prompts, side by side
 *   plan.ts         all of these for a whole file
 */
export { parseLine, problem, type BatchLine, type Problem } from './lines.js';
export { planOf, outlineOf, sharedTokens, type Outline, type Plan } from './plan.js';
export { fill, MissingAnswer, textOf } from './references.js';
