import { z } from 'zod';
import { conversation, type Turn } from './conversation.js';
import type { AgentMessage, AgentProgram } from '../program.js';
import { oneEach } from './records.js';

const message = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'user']), content: z.string() }),
  z.object({ role: z.literal('tool'), content: z.string(), tool_call_id: z.string() }),
  z.object({
    role: z.literal('assistant'),
    content: z.string().nullish(),
    tool_calls: z
      .array(z.object({ id: z.string(), function: z.object({ name: z.string().min(1), arguments: z.string() }) }))
      .nullish(),
  }),
]);
const task = z.object({
  task_id: z.union([z.int(), z.string()]),
  trial: z.int().optional(),
  traj: z.array(message),
});

/**
 * Customer-service dialogues of tau-bench: a list of tasks, with all messages and the tools' names.
 *
 * No times are recorded, so all gaps are 0. No tokens are recorded either; they are counted at four bytes each.
 * Messages after the last answer start no call and are left out.
 */
export const tauBench = oneEach(task, ({ task_id, trial = 0, traj }, record) => {
  const turns: Turn[] = [];
  let pending: AgentMessage[] = [];
  for (const [index, said] of traj.entries()) {
    if (said.role !== 'assistant') {
      const { role, content } = said;
      pending.push(role === 'tool' ? { role, content, tool: said.tool_call_id } : { role, content });
      continue;
    }
    if (pending.length === 0) return record.fault(`traj.${index}`, 'an answer to nothing');
    const tools = (said.tool_calls ?? []).map(({ id, function: use }) => ({ ...use, id }));
    turns.push({ messages: pending, answer: said.content ?? '', tools, gapMs: 0 });
    pending = [];
  }
  return { id: `task-${task_id}-trial-${trial}`, calls: conversation(turns) } satisfies AgentProgram;
});
