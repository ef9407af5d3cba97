/**
 * Batches of calls as plans: lines that may need each other's answers, checked and put into an order. Without I/O.
 *
 * Reading guide:
 *   line.ts      one line of a batch's file
 *   answers.ts   mentions of other lines' answers, filled in; an answer's text, its items, a test of it
 *   outline.ts   what a line's place in the plan depends on: the beginning of its prompt, its request, its tokens
 *   graph.ts     which line needs which: circles, programs, critical paths
 *   order.ts     lines that share the beginnings of their prompts, side by side
 *   plan.ts      all of these for a whole file; lines that ask the same
 */
export { BadAnswer, fill, findReferences, holds, isReference, itemsOf, textOf } from './answers.js';
export { PROBLEMS_MAX } from './graph.js';
export { FaultyBatch, ITEM, problem, type BatchLine, type Problem } from './line.js';
export { outlineOf, requestOf, type Outline } from './outline.js';
export { planOf, PASSES, sharedTokens, type Pass, type Plan } from './plan.js';
