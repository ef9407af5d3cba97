import { randomInt } from 'node:crypto';
import type { Ask, LoadApi, Message } from './apis/api.js';
import type { Outcome } from './exchange.js';
import type { Template } from './conversation.js';
import { COMMON_WORDS, Words } from './words.js';
import type { AloneSpeed } from './load.js';

export interface Prober {
  readonly api: LoadApi;
  readonly model: string;
  readonly call: (ask: Pick<Ask, 'items' | 'outputTokens'>) => Promise<Outcome>;
  /** POST of JSON; undefined unless the answer is a success with a JSON object. */
  readonly post: (path: string, body: object) => Promise<Record<string, unknown> | undefined>;
}

/** Fewer words than this make texts too similar. */
const WORDS_MIN = 16;
/** Number of words in a counted text, if the model accepts that many. */
const LONG = 512;
const LEAD = 'so';
/** Texts in a row with a longer word in each, after which the tokenizer is not asked about the other words. */
const MISSES_MAX = 12;
const SHORTER = 8;

export interface Calibration {
  readonly words: Words;
  readonly template: Template;
  readonly tokenizer: 'tokenize' | 'usage' | 'guess';
  readonly isExact: boolean;
}

type Count = (text: string) => Promise<number | undefined>;

/**
 * Finds words that are one token each. It asks the target's tokenizer if there is one; else it compares the prompt
 * tokens reported for two calls of different lengths. The tokens of the chat template always come from calls, since
 * only these show all of them.
 */
export async function calibrate(prober: Prober, maxModelLen = Infinity): Promise<Calibration> {
  const long = Math.min(LONG, Math.floor(maxModelLen / 4));
  const short = Math.max(1, Math.floor(long / SHORTER));
  const count = await tokenizerOf(prober);
  const counted = count && (await countedWords(count));
  const words = counted?.words ?? new Words(COMMON_WORDS, 1);
  const charge = chargeOf(prober, words);
  const [plain, more] = [await charge(['user', short]), await charge(['user', long])];
  if (Number.isNaN(plain) || Number.isNaN(more)) {
    const template = { opening: 0, system: 0, turn: 0 };
    return { words, template, tokenizer: counted === undefined ? 'guess' : 'tokenize', isExact: false };
  }
  const perWord = (more - plain) / (long - short);
  const calibrated = counted === undefined && perWord !== 1 ? new Words(COMMON_WORDS, perWord || 1) : words;
  const text = (count: number) => count * calibrated.tokensPerWord;
  const opening = Math.round(plain - text(short));
  const withSystem = await charge(['system', short], ['user', short]);
  const withTurn = await charge(['user', short], ['assistant', short], ['user', short]);
  return {
    words: calibrated,
    template: {
      opening: extra(opening),
      system: extra(withSystem - plain - text(short)),
      turn: extra(withTurn - plain - text(2 * short)),
    },
    tokenizer: counted === undefined ? 'usage' : 'tokenize',
    isExact: perWord === 1 && opening >= 0,
  };
}

/** Tokens that the chat template adds for a role; 0 if the target refuses it. */
const extra = (tokens: number): number => Math.max(0, Math.round(tokens) || 0);

/** Prompt tokens that the target counts for messages of these lengths in words; NaN where it does not report them. */
function chargeOf({ api, call }: Prober, words: Words) {
  let texts = 0;
  return async (...messages: readonly (readonly [role: Message['role'], words: number])[]): Promise<number> => {
    const items = messages.map(([role, count]) => {
      texts += 1;
      return api.item({ role, text: words.text({ seed: texts, words: count }), isPlain: true });
    });
    const { answer, outcome } = await call({ items, outputTokens: 1 });
    return outcome === 'completed' ? answer.promptTokens : NaN;
  };
}

/** Counts a text's tokens through the target's tokenizer; undefined: it has none. */
async function tokenizerOf({ model, post }: Prober): Promise<Count | undefined> {
  const shapes: Count[] = [
    // vLLM and SGLang
    async (prompt) => tokensIn(await post('/tokenize', { model, prompt, add_special_tokens: false })),
    // llama.cpp
    async (content) => tokensIn(await post('/tokenize', { content, add_special: false })),
  ];
  for (const count of shapes) if (((await count('the and for')) ?? 0) > 0) return count;
  return undefined;
}

function tokensIn(answer: Record<string, unknown> | undefined): number | undefined {
  const count = answer?.['count'];
  if (typeof count === 'number') return count;
  const tokens = answer?.['tokens'];
  return Array.isArray(tokens) ? tokens.length : undefined;
}

/** Words that are one token each. With too few of them, all words at their mean length. */
async function countedWords(count: Count): Promise<{ readonly words: Words } | undefined> {
  const single = await singleTokens(count, ' ', await singleTokens(count, '\n', COMMON_WORDS));
  const picked = single.length >= WORDS_MIN ? new Words(single, 1) : new Words(COMMON_WORDS, 1);
  const tokens = await count(picked.text({ seed: 0, words: LONG }));
  if (tokens === undefined || tokens === 0) return undefined;
  return { words: tokens === LONG ? picked : new Words(picked.words, tokens / LONG) };
}

/** Tokens between two words: a text begins on a new line of the chat template, and continues after a space. */
const BETWEEN = { '\n': 1, ' ': 0 } as const;

/**
 * The words that are one token each after this separator. Asks once about all words; if they fail, about every other.
 * Words not asked about are left out: a tokenizer that counts in another way fails them all.
 */
async function singleTokens(
  count: Count,
  between: keyof typeof BETWEEN,
  words: readonly string[],
): Promise<readonly string[]> {
  const first = await count(LEAD);
  let misses = 0;
  const ask = async (some: readonly string[]): Promise<readonly string[]> => {
    if (some.length === 0 || misses >= MISSES_MAX) return [];
    const tokens = await count([LEAD, ...some].join(between));
    if (first === undefined || tokens === undefined) return [];
    if (tokens - first === some.length * (1 + BETWEEN[between])) {
      misses = 0;
      return some;
    }
    misses += 1;
    if (some.length === 1) return [];
    const half = (odd: number) => ask(some.filter((_word, at) => at % 2 === odd));
    return [...(await half(0)), ...(await half(1))];
  };
  return ask(words);
}

const SHORT_TOKENS = 64;
const LONG_TOKENS = 2048;
const OUTPUT_TOKENS = 17;
const [ROUNDS_MIN, ROUNDS_MAX] = [2, 12];
/** Share by which the second fastest calls may be slower than the fastest, which are taken to be undisturbed then. */
export const SPREAD_MAX = 0.05;

/**
 * Speed of a call that has the target to itself: a line through calls with a long prompt, with a long answer, and with
 * neither. Of each, the fastest counts: disturbances only make a call slower. Undefined where answers cannot be counted.
 */
export async function measureAlone(
  prober: Prober,
  { words }: Calibration,
  maxModelLen = Infinity,
): Promise<AloneSpeed | undefined> {
  const longTokens = Math.max(2 * SHORT_TOKENS, Math.min(LONG_TOKENS, Math.floor(maxModelLen / 2)));
  // New texts in every run, as a target may have cached earlier ones.
  let seed = randomInt(2 ** 31);
  const time = async (promptTokens: number, outputTokens: number) => {
    const text = words.text({ seed: (seed += 1), words: words.wordsFor(promptTokens) });
    const startedAt = performance.now();
    const item = prober.api.item({ role: 'user', text, isPlain: true });
    const { answer, endedAt, outcome } = await prober.call({ items: [item], outputTokens });
    return {
      ms: outcome === 'completed' ? endedAt - startedAt : Infinity,
      prompt: answer.promptTokens,
      output: answer.outputTokens,
    };
  };
  const kindOf = (prompt: number, output: number) => ({
    prompt,
    output,
    calls: [] as Awaited<ReturnType<typeof time>>[],
  });
  const kinds = [kindOf(SHORT_TOKENS, 1), kindOf(SHORT_TOKENS, OUTPUT_TOKENS), kindOf(longTokens, 1)];
  const sum = (at: number) => kinds.reduce((all, { calls }) => all + (calls[at]?.ms ?? Infinity), 0);
  // In rounds, so that a slow moment of a machine does not fall on one kind alone.
  for (let round = 0; round < ROUNDS_MIN || (round < ROUNDS_MAX && sum(1) > (1 + SPREAD_MAX) * sum(0)); round += 1)
    for (const { prompt, output, calls } of kinds) {
      calls.push(await time(prompt, output));
      calls.sort((a, b) => a.ms - b.ms);
    }
  const [plain, spoken, read] = kinds.map(({ calls: [fastest] }) => fastest);
  if (!plain || !spoken || !read) return undefined;
  const outputTokenMs = slope(spoken.ms - plain.ms, spoken.output - plain.output);
  const promptTokenMs = slope(read.ms - plain.ms, read.prompt - plain.prompt);
  const overheadMs = plain.ms - plain.prompt * promptTokenMs - plain.output * outputTokenMs;
  if (Number.isNaN(overheadMs)) return undefined;
  return { overheadMs: Math.max(0, overheadMs), promptTokenMs, outputTokenMs, spread: sum(1) / sum(0) - 1 };
}

const TYPICAL = { prompt: 2048, output: 256 };

/**
 * The speed on which all slowdowns of a run are based: that of the fastest target. Two targets with baselines of their
 * own would differ by their errors, and one behind a slow gateway would look as if it slowed nothing.
 */
export function baselineOf(speeds: readonly (AloneSpeed | undefined)[]): AloneSpeed | undefined {
  const typicalMs = ({ overheadMs, promptTokenMs, outputTokenMs }: AloneSpeed): number =>
    overheadMs + TYPICAL.prompt * promptTokenMs + TYPICAL.output * outputTokenMs;
  const known = speeds.filter((speed) => speed !== undefined);
  return known.sort((a, b) => typicalMs(a) - typicalMs(b))[0];
}

const slope = (ms: number, tokens: number): number => (tokens > 0 ? Math.max(0, ms / tokens) : NaN);
