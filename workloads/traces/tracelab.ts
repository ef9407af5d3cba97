import { z } from 'zod';
import { TraceError } from './error.js';
import { count, date, milliseconds, optional } from './numbers.js';
import { inChain, keptTokens, type AgentProgram, type Prefix } from '../program.js';
import { parseEach, type Found, type Reader, type TraceRecord } from './records.js';

/** Events from a round's client; all others are the model's. */
const INPUTS = ['user_message', 'tool_result'];

const round = z.object({
  session_id: z.string().min(1),
  round_index: z.int().min(0),
  provider: optional(z.string()),
  model: optional(z.string()),
  input_tokens_total: count,
  /** Prompt tokens found in the provider's cache. */
  prefix_tokens: optional(count),
  output_tokens: count,
  timing_events: z.array(z.object({ event_type: z.string(), timestamp: date })),
  tools: z.array(z.object({ tool_name: z.string().min(1), tool_wall_latency_ms: optional(milliseconds) })),
});

type Round = z.output<typeof round>;

/**
 * Coding sessions of TraceLab: a round a line, with the rounds of a session in sequence.
 *
 * Gaps are the time from a round's last event to the client's last input for the next: a tool's result, or a person's
 * message. Sessions arrive with the first such event, in milliseconds since 1970. Shared tokens are inferred from the
 * lengths (see `keptTokens`); for a prompt shorter than the one before, from the provider's cached tokens. The first
 * round shares its cached tokens with other sessions of its model. A malformed round is left out of its session. If the
 * file is truncated, the session at that point is left out whole.
 */
export const traceLab: Reader = async function* (records) {
  let rounds: Round[] = [];
  let last: TraceRecord | undefined;
  for await (const parsed of parseEach(records, round)) {
    if (parsed instanceof TraceError) {
      yield parsed;
      continue;
    }
    if (last !== undefined && rounds[0]?.session_id !== parsed.value.session_id) {
      yield makeProgram(rounds, last);
      rounds = [];
    }
    rounds.push(parsed.value);
    last = parsed.record;
  }
  if (last !== undefined) yield makeProgram(rounds, last);
};

function makeProgram(unsorted: readonly Round[], record: TraceRecord): Found {
  const rounds = unsorted.toSorted((a, b) => a.round_index - b.round_index);
  const calls = rounds.map((each, index) => {
    const before = rounds[index - 1];
    const prefix = prefixOf(each, before, index);
    const gapMs = before === undefined ? 0 : (handedIn(each) ?? 0) - (answered(before) ?? Infinity);
    const tools = each.tools.map(({ tool_name: name, tool_wall_latency_ms: ms }) => ({
      name,
      ...(ms !== undefined && { ms }),
    }));
    return {
      gapMs: Math.max(0, gapMs),
      promptTokens: each.input_tokens_total,
      outputTokens: each.output_tokens,
      ...(prefix.tokens > 0 && { prefix }),
      ...(tools.length > 0 && { tools }),
    };
  });
  const [first] = rounds;
  const arrivalMs = first && handedIn(first);
  const id = first?.session_id ?? '';
  const program: AgentProgram = { id, ...(arrivalMs !== undefined && { arrivalMs }), calls: inChain(calls) };
  return { program, record };
}

function prefixOf(round: Round, before: Round | undefined, index: number): Prefix & { readonly tokens: number } {
  const promptTokens = round.input_tokens_total;
  const cached = Math.min(round.prefix_tokens ?? 0, promptTokens);
  if (before === undefined) return { name: `tracelab ${round.provider ?? ''} ${round.model ?? ''}`, tokens: cached };
  const earlier = { promptTokens: before.input_tokens_total, outputTokens: before.output_tokens };
  const kept = promptTokens < earlier.promptTokens ? 0 : keptTokens(earlier, promptTokens);
  const cachedOfIt = Math.min(cached, earlier.promptTokens + earlier.outputTokens);
  return { call: index - 1, tokens: Math.max(kept, cachedOfIt) };
}

/** Time of the last input for the round, and time of its answer; undefined: not recorded. */
const handedIn = (round: Round) => lastOf(round, (type) => INPUTS.includes(type));
const answered = (round: Round) => lastOf(round, (type) => !INPUTS.includes(type));

function lastOf({ timing_events: events }: Round, isMeant: (type: string) => boolean): number | undefined {
  const times = events.filter(({ event_type }) => isMeant(event_type)).map(({ timestamp }) => timestamp);
  return times.length === 0 ? undefined : Math.max(...times);
}
