import { BEHAVIOUR } from '../../src/index.js';
import { programLine, type FormatName } from '../../workloads/index.js';
import { arrived, ended, finished } from './core-events.js';
import { jsonLines, trajectory } from './trajectory.js';

/** A small trace of this many programs, `p0`, `p1`, ... if its format has names. */
export function sampleTrace(format: FormatName, programs: number): string {
  const each = <T>(make: (index: number) => T): T[] => Array.from({ length: programs }, (_, index) => make(index));
  switch (format) {
    case 'maitred': {
      const call = { after: [], gapMs: 0, thread: '', promptTokens: 60, outputTokens: 9 };
      const next = { ...call, after: [0], gapMs: 5, prefix: { call: 0, tokens: 60 } };
      return each((index) => `${programLine({ id: `p${index}`, calls: [call, next] })}\n`).join('');
    }
    case 'event-log': {
      const step = (now: number, event: object) => ({ now, event, commands: [] });
      const call = (now: number, of: number, call: string) => [
        step(now, { ...arrived(call, { program: `p${of}`, prompt: 60 + (now % 100) }) }),
        step(now + 20, finished(call, { prompt: 60 + (now % 100), output: 9 })),
      ];
      const versions = { maitredEventLog: 1, behaviour: BEHAVIOUR, maitred: '0' };
      return jsonLines([
        { ...versions, startedAt: '2026-06-01T05:40:10.151Z', now: 0, settings: {} },
        ...each((of) => [
          ...call(100 * of, of, `${of}a`),
          ...call(100 * of + 50, of, `${of}b`),
          step(100 * of + 90, ended(`p${of}`)),
        ]).flat(),
        { end: 'closed', steps: 5 * programs },
      ]);
    }
    case 'weka': {
      const call = (t: number, hash_ids: number[]) => ({
        type: 'n',
        t,
        api_time: 1,
        in: hash_ids.length * 64,
        out: 9,
        hash_ids,
      });
      const helper = { type: 'subagent', agent_id: 'a', t: 5, duration_ms: 4000, requests: [call(0, [7])] };
      const requests = [call(0, [1, 2]), helper, call(6, [1, 2, 3])];
      return jsonLines(each((index) => ({ id: `p${index}`, block_size: 64, requests })));
    }
    case 'mini-swe-agent':
      return jsonLines(each((index) => trajectory(`p${index}`, ['one', 'two'])));
    case 'agentcgroup': {
      const call = (t: number) => ({ t, latency: 1, prompt: 50 + t, output: 9, tools: [['Bash', 2]] });
      return jsonLines(each((index) => ({ session: `p${index}`, calls: [call(0), call(3)] })));
    }
    case 'tau-bench': {
      const use = { id: 'x', function: { name: 'find', arguments: '{}' } };
      const traj = [
        { role: 'user', content: 'Where?' },
        { role: 'assistant', content: null, tool_calls: [use] },
        { role: 'tool', content: 'Here.', tool_call_id: 'x' },
        { role: 'assistant', content: 'Here.' },
      ];
      const tasks = each((index) => ({ task_id: index, traj }));
      return JSON.stringify(tasks, undefined, 1);
    }
    case 'mooncake':
      return jsonLines(each((at) => ({ timestamp: at, input_length: 600, output_length: 9, hash_ids: [0, at + 1] })));
    case 'azure':
      return [
        'TIMESTAMP,ContextTokens,GeneratedTokens',
        ...each((index) => `2023-11-16 18:15:${10 + (index % 50)}.68059,37,4`),
        '',
      ].join('\r\n');
  }
}
