import { describe, expect, it } from 'vitest';
import { apiFor } from '../../../sidecar/apis/index.js';

const chat = apiFor('/v1/chat/completions')!;
const completions = apiFor('/v1/completions')!;

describe('usage of an engine', () => {
  it.each([
    { prompt_tokens: 1e308, completion_tokens: 5 },
    { prompt_tokens: 1e9 + 1, completion_tokens: 5 },
    { prompt_tokens: 1.5, completion_tokens: 5 },
    { prompt_tokens: 10, completion_tokens: 1e308 },
    { prompt_tokens: 10, completion_tokens: -1 },
    { prompt_tokens: 10, completion_tokens: '5' },
  ])('takes %j, which no engine can have counted, for no usage', (usage) => {
    expect(chat.readAnswer({ usage }).usage).toBeUndefined();
    expect(completions.readAnswer({ usage }).usage).toBeUndefined();
  });

  it.each([11, 99_999, 1e308, 0.5, -1, '8', null])('takes %j cached tokens of ten for unknown', (cached_tokens) => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens } };
    expect(chat.readAnswer({ usage }).usage).toEqual({ promptTokens: 10, outputTokens: 5 });
  });

  it('believes counts up to 1e9', () => {
    const usage = { prompt_tokens: 1e9, completion_tokens: 1e9, prompt_tokens_details: { cached_tokens: 1e9 } };
    expect(chat.readAnswer({ usage }).usage).toEqual({ promptTokens: 1e9, outputTokens: 1e9, cachedTokens: 1e9 });
  });
});
