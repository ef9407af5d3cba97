import { run } from '../support/command-line.js';
import { FakeEngine, modelList, type Route } from '../support/fake-engine.js';

type Finding = Readonly<Record<'level' | 'subject' | 'found' | 'advice', string>>;

/** Runs the doctor: its exit code and findings. The gateway's own port is any free one. */
export async function examine(args: readonly string[], settings: Record<string, string> = {}) {
  const env = { MAITRED_LISTEN_PORT: '0', ...settings };
  const { code, out } = await run(['doctor', '--json', ...args], env);
  const { findings } = JSON.parse(out) as { findings: Finding[] };
  const about = (text: string) => findings.filter(({ subject, found }) => `${subject}: ${found}`.includes(text));
  return { code, findings, about, levels: new Set(findings.map(({ level }) => level)) };
}

export const CONFIG_INFO =
  'vllm:cache_config_info{enable_prefix_caching="True",num_gpu_blocks="101",block_size="16"} 1.0\n';
const USAGE = { prompt_tokens: 9, prompt_tokens_details: { cached_tokens: 8 } };
const ANSWER = { choices: [], usage: USAGE, metrics: { queue_time_ms: 1 } };

export const vllm = (routes: Record<string, Route> = {}): Promise<FakeEngine> =>
  FakeEngine.start({
    '/v1/models': modelList(['m']),
    '/health': 200,
    '/metrics': `${CONFIG_INFO}vllm:num_requests_running 0\nvllm:num_requests_waiting 0\n`,
    '/v1/completions': JSON.stringify(ANSWER),
    ...routes,
  });
