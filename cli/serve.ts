import type { Command } from 'commander';
import { statSync } from 'node:fs';
import type { Logger } from 'pino';
import {
  ConfigError,
  configFileOf,
  hasNoEngine,
  keepRestartKeys,
  loadConfig,
  type Config,
  type ConfigInputs,
} from '../sidecar/config/index.js';
import { startGateway } from '../sidecar/index.js';
import { makeLog } from '../sidecar/log.js';
import { EventLog } from '../sidecar/record.js';
import { addConfigOptions, configInputs, type ConfigFlags } from './config-options.js';
import { startEmbedded } from './embedded.js';
import { checkWritable } from './files.js';
import { ShadowThread } from './shadow/thread.js';
import { untilStopped } from './signals.js';

interface ServeFlags extends ConfigFlags {
  readonly record?: string;
}

/** `maitred serve`: the gateway, and stand-in engines if asked for, until a signal ends them. */
export function addServeCommand(program: Command, version: string): void {
  const command = addConfigOptions(program.command('serve').description('run the gateway'))
    .option('--record <file>', 'write an event log for `maitred replay`; gzipped if its name ends in .gz')
    .action(({ record, ...flags }: ServeFlags) => {
      const there = record === undefined ? undefined : statSync(record, { throwIfNoEntry: false });
      if (there?.isFile() && there.size > 0) command.error(`--record: ${record} is there already, and not empty`);
      if (record !== undefined) checkWritable(command, record);
      return serve(configInputs(flags), version, record);
    });
}

/** The gateway in this process, or several in others. */
interface Served {
  readonly url: string;
  readonly adminUrls: readonly string[];
  /** @throws ConfigError; nothing has changed then */
  readonly reload: (config: Config) => void;
  /** Refuses new calls, and resolves when the running ones have ended. */
  readonly drain: () => Promise<void>;
  /** After a drain, or instead of one. */
  readonly end: () => Promise<void>;
}

async function serve(inputs: ConfigInputs, version: string, record: string | undefined): Promise<void> {
  let config = loadConfig(inputs);
  if (config.workers > 1 && record !== undefined)
    throw new ConfigError([{ path: 'workers', message: 'must be 1 with --record: each has a schedule of its own' }]);
  const log = makeLog(config);
  const embedded = await startEmbedded(config.embedded, (engine, error) => {
    log.error({ engine, err: error }, 'embedded engine stopped');
  });
  const withEmbedded = (own: Config): Config => ({ ...own, engines: [...own.engines, ...embedded.configs] });
  let served: Served | undefined;
  try {
    const full = withEmbedded(config);
    served = await (config.workers > 1 ? startWorkers(full, log) : startOne(full, config, { version, log, record }));
    if (hasNoEngine(config)) log.warn('no engine is configured; add one by POST /engines');
    if (config.embedded > 0 || process.stderr.isTTY) greet(served, config, embedded.model);
    const { reload: apply, drain } = served;
    const reload = () => {
      try {
        const next = keepRestartKeys(config, loadConfig(inputs));
        apply(withEmbedded(next.config));
        config = next.config;
        if (next.waiting.length > 0) log.warn({ keys: next.waiting }, 'these keys take effect at the next start');
      } catch (error) {
        log.error(error instanceof ConfigError ? { problems: error.problems } : { err: error }, 'reload refused');
      }
    };
    await untilStopped(configFileOf(inputs) === undefined ? { stop: drain } : { stop: drain, reload });
  } finally {
    await served?.end();
    await embedded.close();
  }
}

interface One {
  readonly version: string;
  readonly log: Logger;
  readonly record: string | undefined;
}

/** @param own without embedded engines */
async function startOne(config: Config, own: Config, { version, log, record }: One): Promise<Served> {
  const recorder = record === undefined ? undefined : await EventLog.open({ file: record, config: own, version, log });
  const demo = await demoOf(own, (err) => log.error({ err }, 'the demo fleet failed'));
  const shadow = own.shadow.enabled ? new ShadowThread(own, log) : undefined;
  const end = async () => {
    await shadow?.close();
    await recorder?.close();
  };
  try {
    const gateway = await startGateway(config, { log, recorder, demo, shadow });
    if (demo !== undefined) demo.target = gateway.url;
    const drain = async () => {
      await demo?.stop();
      await gateway.drain();
    };
    const { url, adminUrl } = gateway;
    return { url, adminUrls: [adminUrl], reload: (next) => gateway.reload(next), drain, end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function startWorkers(config: Config, log: Logger): Promise<Served> {
  const { Workers } = await import('./workers/workers.js');
  const workers = new Workers(config, log);
  const { url, adminUrls } = await workers.start();
  return {
    url,
    adminUrls,
    reload: (next) => workers.reload(next),
    drain: () => workers.drain(),
    end: () => workers.kill(),
  };
}

/** Loaded on demand, as a gateway before real engines needs neither it nor the simulator. */
async function demoOf({ embedded, auth }: Config, failed: (error: unknown) => void) {
  // It has no key of a client.
  if (embedded === 0 || auth.keys.length > 0) return undefined;
  const { DemoFleet } = await import('./demo-fleet.js');
  return new DemoFleet(failed);
}

/** For people, so on stderr: stdout is a stream of JSON log lines. */
function greet({ url, adminUrls }: Served, { auth }: Config, model: string | undefined): void {
  const key = auth.keys.length > 0 ? ` -H "authorization: Bearer $KEY"` : '';
  const body = { model, messages: [{ role: 'user', content: 'Hello' }] };
  const chat = `/v1/chat/completions${key} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
  const call = model === undefined ? `/v1/models${key}` : chat;
  const pages = adminUrls
    .map((admin, index) => `Page${index === 0 ? '' : ` of worker ${index + 1}`}: ${admin}/ui`)
    .join('\n');
  const ready = `maitred is ready. Base URL for clients: ${url}/v1\n${pages}`;
  process.stderr.write(`\n${ready}\nTry: curl ${url}${call}\n\n`);
}
