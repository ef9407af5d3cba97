import type { Template } from './conversation.js';
import type { Message } from './apis/api.js';
import type { Prober } from './preflight.js';
import { COMMON_WORDS, Words } from './words.js';

/** Fewer words than this make text too much alike. */
const WORDS_MIN = 16;
/** Words that texts are counted with, where the model takes so many. */
const LONG = 512;
/** Stands before words that are counted. */
const LEAD = 'so';
/** How much shorter the others are. */
const SHORTER = 8;

/** How text for a target gets its length. */
export interface Calibration {
  readonly words: Words;
  readonly template: Template;
  readonly tokenizer: 'tokenize' | 'usage' | 'guess';
  readonly isExact: boolean;
}

type Count = (text: string) => Promise<number | undefined>;

/**
 * Finds words that are one token each, by the target's tokenizer where it has one to ask, else by what it charges for two
 * calls of different lengths. What its chat template adds is always read off calls, since only these show all of it.
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

/** Tokens of a template; none where nobody knows, as of roles that a target refuses. */
const extra = (tokens: number): number => Math.max(0, Math.round(tokens) || 0);

/** Prompt tokens that the target counts for messages of so many words; NaN where it does not tell. */
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

/** Counts a text's tokens, in the way that the target understands; undefined: it counts none. */
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

/** Words that are one token each; all of them, by their mean, where there are too few. */
async function countedWords(count: Count): Promise<{ readonly words: Words } | undefined> {
  const single = await singleTokens(count, ' ', await singleTokens(count, '\n', COMMON_WORDS));
  const picked = single.length >= WORDS_MIN ? new Words(single, 1) : new Words(COMMON_WORDS, 1);
  const tokens = await count(picked.text({ seed: 0, words: LONG }));
  if (tokens === undefined || tokens === 0) return undefined;
  return { words: tokens === LONG ? picked : new Words(picked.words, tokens / LONG) };
}

/** What tells words from those before them, in tokens: a text begins on a new line of the chat template, and goes on. */
const BETWEEN = { '\n': 1, ' ': 0 } as const;

/** Those words among some that are one token each behind such a character. Asks once where all are, else about each half. */
async function singleTokens(
  count: Count,
  between: keyof typeof BETWEEN,
  words: readonly string[],
): Promise<readonly string[]> {
  const first = await count(LEAD);
  const ask = async (some: readonly string[]): Promise<readonly string[]> => {
    const tokens = await count([LEAD, ...some].join(between));
    if (first === undefined || tokens === undefined) return [];
    if (tokens - first === some.length * (1 + BETWEEN[between])) return some;
    if (some.length <= 1) return [];
    const half = some.length >> 1;
    return [...(await ask(some.slice(0, half))), ...(await ask(some.slice(half)))];
  };
  return ask(words);
}
