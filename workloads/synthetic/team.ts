import type { SpecInput } from './spec.js';

const source = 'assumed: sizes of a company’s assistant';

/** One-call questions over documents, coding agents and people on the same engines: the cost of one class to another. */
export const TEAM: SpecInput = { kind: 'mixture', of: { rag: 60, coder: 30, people: 10 } };

/** Its three kinds of programs. */
export const TEAM_PARTS: Readonly<Record<string, SpecInput>> = {
  rag: {
    kind: 'agent',
    system: [{ name: 'rag', tokens: 300, source }],
    inputTokens: { dist: 'log-normal', median: 3500, p95: 7000, max: 12_000, source },
    outputTokens: { dist: 'log-normal', median: 150, p95: 400, max: 1000, source },
  },
  coder: {
    kind: 'agent',
    system: [{ name: 'coder', tokens: 4000, source }],
    inputTokens: 1500,
    callsPerTurn: 20,
    outputTokens: { dist: 'log-normal', median: 120, p95: 800, max: 4000, source },
    tools: [
      {
        name: 'bash',
        ms: { dist: 'log-normal', median: 3000, p95: 60_000, max: 300_000, source },
        resultTokens: { dist: 'log-normal', median: 600, p95: 5000, max: 20_000, source },
      },
    ],
  },
  people: {
    kind: 'agent',
    system: [{ name: 'chat', tokens: 500, source }],
    turns: { dist: 'geometric', mean: 4, max: 20, source },
    inputTokens: { dist: 'log-normal', median: 60, p95: 500, max: 4000, source },
    outputTokens: { dist: 'log-normal', median: 250, p95: 900, max: 2000, source },
    thinkMs: { dist: 'log-normal', median: 30_000, p95: 180_000, max: 600_000, source },
  },
};
