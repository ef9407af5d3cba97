import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { get, untilReady, freePort, start } from '../../processes/process.js';

const COMMAND = 'vllm-router';

export const SKIPPED =
  `skipped: ${COMMAND} is not on the PATH; install it in a virtual environment with\n` +
  '  pip install vllm-router==0.1.17\nand name it with --router PATH';

/** @throws Error when a named file cannot be run */
export function findRouter(named: string | undefined, path: string): string | undefined {
  if (named !== undefined && !canRun(named)) throw new Error(`--router: not an executable file: ${named}`);
  return (
    named ??
    path
      .split(delimiter)
      .map((folder) => join(folder, COMMAND))
      .find(canRun)
  );
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/**
 * Program scheduling of vLLM Router 0.1.17, with the fields of its docs/program_scheduling.md. The capacity is set by
 * hand, and seven coefficients are calibrated to the engine model's `llama-3.1-8b-a100`. All times are divided by the
 * speed. Defaults in real time: idle programs are kept for at most 10 s, and resumed by force after 300 s. Load is read
 * every 2 s, where the default is 1 s: at speed 20 that is every 0.1 s.
 */
export function schedulingConfig(kvTokens: number, speed: number): object {
  return {
    program_scheduling_enable_key: 'auto',
    global_queue: true,
    resume_order: 'mru',
    token_capacity_per_target: kvTokens,
    metrics_interval_seconds: 2 / speed,
    max_acting_ttl_seconds: 10 / speed,
    force_resume_timeout_seconds: 300 / speed,
    prefill_cost_model: {
      intercept_seconds: 0.01 / speed,
      linear_seconds_per_1k_tokens: 0.1 / speed,
      quadratic_seconds_per_1k_tokens_squared: 0.00168 / speed,
      decode_throughput_alpha: 0.15,
    },
    decode_throughput_model: {
      fixed_step_seconds: 0.0107 / speed,
      batch_step_seconds_per_request: 1e-5 / speed,
      context_step_seconds_per_token: 8e-8 / speed,
    },
  };
}

/** Starts the router, and waits until it accepts calls. @throws Error with its stderr if it does not */
export async function startRouter(command: string, engines: readonly string[], kvTokens: number, speed: number) {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const { pid, stdout, ended, stderr, signal, stop } = start(command, [
    ...[
      '--host',
      '127.0.0.1',
      '--port',
      `${port}`,
      '--prometheus-host',
      '127.0.0.1',
      '--prometheus-port',
      `${metricsPort}`,
    ],
    ...['--worker-urls', ...engines, '--policy', 'consistent_hash', '--enable-program-scheduling'],
    ...['--program-scheduling-config-json', JSON.stringify(schedulingConfig(kvTokens, speed))],
  ]);
  stdout.resume();
  const url = `http://127.0.0.1:${port}`;
  const failed = ended.then(() => Promise.reject(new Error(`${command} ended: ${stderr()}`)));
  // Once it is up, its exit is no failure.
  failed.catch(() => undefined);
  const silent = () => get(`${url}/v1/models`).then(() => undefined, String);
  try {
    await Promise.race([untilReady(silent), failed]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, pid, signal, stop };
}
