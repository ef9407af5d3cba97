import { HashList } from '../engine/blocks.js';
import { Engine } from '../engine/engine.js';
import type { Preset } from '../engine/presets.js';
import type { Sequence, Work } from '../engine/sequence.js';
import type { Group } from './measured.js';

/** Ample room: every group has fitted into the measured server. */
const TOKENS_MAX = 1e9;

interface Predicted {
  readonly firstTokenMs: number;
  readonly endMs: number;
}

/** The engine model's times for a group of requests that reach the engine `requestMs` after they are sent. */
export function predict(preset: Preset, requestMs: number, group: Group): Predicted[] {
  const engine = new Engine({
    preset: { ...preset, kvTokens: TOKENS_MAX, maxModelLen: TOKENS_MAX },
    blockSize: 16,
  });
  const runUntil = (ms: number) => {
    while (engine.stepEnd < ms) {
      const endMs = engine.stepEnd;
      engine.end();
      engine.begin(endMs, Infinity);
    }
  };
  const sequences = new Map<number, Sequence>();
  const order = group.map((_, index) => index).sort((a, b) => sentMs(group, a) - sentMs(group, b));
  for (const index of order) {
    const nowMs = sentMs(group, index) + requestMs;
    runUntil(nowMs);
    const sequence = engine.add(workOf(group, index), nowMs);
    if (sequence !== undefined) sequences.set(index, sequence);
    if (Number.isNaN(engine.stepEnd)) engine.begin(nowMs, Infinity);
    else engine.cut(nowMs);
  }
  runUntil(Infinity);
  return group.map((_, index) => {
    const { firstTokenAt = NaN, endedAt = NaN } = sequences.get(index) ?? {};
    return { firstTokenMs: firstTokenAt - sentMs(group, index), endMs: endedAt - sentMs(group, index) };
  });
}

const sentMs = (group: Group, index: number): number => group[index]?.sentMs ?? NaN;

function workOf(group: Group, index: number): Work {
  const { promptTokens = 1, outputTokens = 1 } = group[index] ?? {};
  return { promptTokens, outputTokens, blockHashes: new HashList([]) };
}
