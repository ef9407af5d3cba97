import type { FormatName } from '../../workloads/index.js';
import type { RecordingName } from './case.js';

/** Path of each recording, in the folder of all recordings. */
export const RECORDINGS: Readonly<Record<RecordingName, { readonly file: string; readonly format: FormatName }>> = {
  'mini-swe-agent': {
    file: 'mini-swe-agent/gemini-3-pro_swebench-verified_first60.jsonl.gz',
    format: 'mini-swe-agent',
  },
  agentcgroup: { file: 'agentcgroup/timings_first40.jsonl.gz', format: 'agentcgroup' },
  weka: { file: 'weka-claude-code/traces_first50.jsonl.gz', format: 'weka' },
};

/** Longer pauses are cut to this length: their people went to lunch, or home. */
export const GAP_SECONDS_MAX = 60;
