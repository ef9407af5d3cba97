import { inChain, type AgentCall, type AgentMessage, type AgentProgram } from '../program.js';
import { Dice } from '../dice.js';

/** Sizes of one synthetic agent program, each number drawn from `dice`. Sizes in tokens, times in milliseconds. */
export interface AgentShape {
  /** The system prompt, the same for all programs. */
  readonly systemTokens: number;
  /** Draws one program: its task's length, then for each call the answer, the tool's reply, and the tool's time. */
  draw(dice: Dice): { readonly taskTokens: number; readonly calls: number; call(): DrawnCall };
}

interface DrawnCall {
  readonly outputTokens: number;
  /** The visible part of the output; the rest is reasoning, which is not sent back. */
  readonly answerTokens: number;
  readonly toolTokens: number;
  readonly gapMs: number;
}

/**
 * SWE-bench agents in the shape of the public mini-swe-agent recordings (mean / median / 95th percentile): calls
 * 38 / 33 / 78, prompt 15.8 k / 13.4 k / 37.4 k tokens, output 284 / 89 / 1,047, from call to call 6 / 4 / 16 s.
 */
export const SWE_AGENT: AgentShape = {
  systemTokens: 120,
  draw(dice) {
    const growthTokens = dice.logNormal(520, 800);
    return {
      taskTokens: Math.round(dice.logNormal(2500, 4000)),
      calls: Math.max(3, Math.round(dice.logNormal(33, 78))),
      call() {
        const outputTokens = Math.max(8, Math.round(dice.logNormal(89, 1047)));
        const answerTokens = Math.min(outputTokens, 300);
        const toolTokens = Math.max(16, Math.round(dice.logNormal(0.4, 3.2) * growthTokens) - answerTokens);
        return { outputTokens, answerTokens, toolTokens, gapMs: dice.logNormal(1600, 7000) };
      },
    };
  },
};

/**
 * Agents of 6 to 12 short calls. Their contexts grow to this many tokens on average (800 or more), plus or minus a
 * quarter.
 */
export function smallAgent(largestTokensMean: number): AgentShape {
  return {
    systemTokens: 40,
    draw(dice) {
      const calls = dice.int(6, 12);
      const largestTokens = largestTokensMean * (0.75 + dice.share() / 2);
      const taskTokens = Math.round(largestTokens * (0.15 + dice.share() / 10));
      const growthTokens = (largestTokens - taskTokens - this.systemTokens) / (calls - 1);
      return {
        taskTokens,
        calls,
        call() {
          const outputTokens = dice.int(16, 48);
          const toolTokens = Math.max(8, Math.round(growthTokens * (0.5 + dice.share())) - outputTokens);
          return { outputTokens, answerTokens: outputTokens, toolTokens, gapMs: dice.int(200, 1500) };
        },
      };
    },
  };
}

export interface SyntheticOptions {
  /** Bytes of plain words per token on the engine. */
  readonly bytesPerToken?: number;
  /** Whether answers are given literally. Otherwise the engine chooses the text, of the given length. */
  readonly answers?: boolean;
}

/** Programs of the shape, equal for equal seeds. */
export function syntheticAgents(
  shape: AgentShape,
  count: number,
  seed: number,
  { bytesPerToken = 4, answers = true }: SyntheticOptions = {},
): AgentProgram[] {
  const system: AgentMessage = { role: 'system', content: words(new Dice(0), shape.systemTokens * bytesPerToken) };
  return Array.from({ length: count }, (_, index) => {
    const dice = new Dice(seed * 1_000_003 + index);
    const drawn = shape.draw(dice);
    const calls: Omit<AgentCall, 'after' | 'thread'>[] = [];
    let messages: AgentMessage[] = [system, { role: 'user', content: words(dice, drawn.taskTokens * bytesPerToken) }];
    let prefix: AgentCall['prefix'] = { name: 'synthetic', tokens: shape.systemTokens };
    let promptTokens = shape.systemTokens + drawn.taskTokens;
    let gapMs = 0;
    for (let at = 0; at < drawn.calls; at += 1) {
      const { outputTokens, answerTokens, toolTokens, gapMs: nextGapMs } = drawn.call();
      const answer = words(dice, answerTokens * bytesPerToken);
      calls.push({ gapMs, promptTokens, outputTokens, prefix, messages, ...(answers && { answer }) });
      // Reasoning is not sent back, so the text after it moves and is no longer cached.
      prefix = { call: at, tokens: promptTokens + (answerTokens < outputTokens ? 0 : outputTokens) };
      messages = [{ role: 'user', content: words(dice, toolTokens * bytesPerToken) }];
      promptTokens += answerTokens + toolTokens;
      gapMs = nextGapMs;
    }
    return { id: `agent-${seed}-${index + 1}`, calls: inChain(calls) };
  });
}

const WORDS =
  `the file holds a list of names and every test reads it before next step begins to change what was there when
class value return import self from open line path error result first last call field index array string number`.split(
    /\s+/,
  );

/** Plain words of this many bytes, drawn anew each time so that no two texts begin alike. */
function words(dice: Dice, bytes: number): string {
  let text = '';
  while (text.length < bytes) text += `${WORDS[dice.int(0, WORDS.length - 1)] ?? ''} `;
  return text.slice(0, Math.max(1, Math.round(bytes)));
}
