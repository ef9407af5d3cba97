import type { Command } from 'commander';
import { statSync } from 'node:fs';
import { request } from 'undici';
import {
  ConfigError,
  configFileOf,
  hasNoEngine,
  keepRestartKeys,
  loadConfig,
  problemText,
  type Config,
  type ConfigInputs,
} from '../sidecar/config/index.js';
import { reasonOf } from '../sidecar/errors.js';
import { startGateway, type Gateway } from '../sidecar/index.js';
import { counted, span } from '../text/index.js';
import { makeLog } from '../sidecar/log.js';
import { EventLog } from '../sidecar/recording/recorder.js';
import { OWN_NAME, addExamples } from './advice.js';
import { NO_ENGINE, addConfigOptions, configInputs, type ConfigFlags } from './config.js';
import { accessFindings } from './doctor/settings.js';
import { complain } from './complain.js';
import { startEmbedded } from './embedded.js';
import { checkWritable } from './files.js';
import { ShadowThread } from './shadow/thread.js';
import { untilStopped } from './signals.js';

export function addServeCommand(program: Command): void {
  const command = addConfigOptions(program.command('serve').description('run the gateway'))
    .option('--record <file>', `write an event log for \`${OWN_NAME} replay\`; gzipped if its name ends in .gz`)
    .action(({ record, ...flags }: ConfigFlags & { readonly record?: string }) => {
      const there = record === undefined ? undefined : statSync(record, { throwIfNoEntry: false });
      if (there !== undefined && (!there.isFile() || there.size > 0))
        command.error(`--record: ${record} is there already, and no empty file`);
      if (record !== undefined) checkWritable(command, record);
      return serve(configInputs(flags), record);
    });
  addExamples(command, {
    'serve --embedded 2': 'two stand-in engines, to try it',
    'serve --engine http://gpu-1:8000 --engine http://gpu-2:8000': 'two engines of your own',
    'serve --config maitred.yaml --log-level warn': 'a file, which init writes; SIGHUP reads it again',
  });
}

async function serve(inputs: ConfigInputs, record: string | undefined): Promise<void> {
  let config = loadConfig(inputs);
  const log = makeLog(config);
  const recorder = record === undefined ? undefined : await EventLog.open({ file: record, config, log });
  const embedded = await startEmbedded(config.embedded, (engine, error) => {
    log.error({ engine, err: error }, 'embedded engine stopped');
  });
  const demo = await demoOf(config, embedded.configs[0]?.url, (err) => log.error({ err }, 'the demo fleet failed'));
  const shadow = config.shadow.enabled
    ? new ShadowThread(
        config,
        log,
        embedded.configs.map(({ id = '' }) => id),
      )
    : undefined;
  const withEmbedded = (own: Config): Config => ({ ...own, engines: [...own.engines, ...embedded.configs] });
  try {
    const gateway = await startGateway(withEmbedded(config), { log, recorder, demo, shadow });
    if (demo !== undefined) demo.target = gateway.url;
    if (hasNoEngine(config)) log.warn(NO_ENGINE);
    for (const { subject, level, found, advice } of accessFindings(config))
      if (level !== 'note') log.warn({ key: subject }, `${found}: ${advice}`);
    if (config.embedded > 0 || process.stderr.isTTY) void greet(gateway, config, embedded.model);
    const reload = () => {
      try {
        const next = keepRestartKeys(config, loadConfig(inputs));
        gateway.reload(withEmbedded(next.config), next.waiting);
        config = next.config;
      } catch (error) {
        const { problems = [] } = error instanceof ConfigError ? error : {};
        // A key that is not known is often what another one lacks.
        const [first = reasonOf(error), second = '', ...more] = problems.map(problemText);
        const reason = `${first}${second && `; ${second}`}${more.length > 0 ? ` (and ${counted(more.length, 'more fault')})` : ''}`;
        gateway.refuseReload(reason, problems.length > 0 ? { problems } : { err: error });
      }
    };
    const stop = async () => {
      await demo?.stop();
      await gateway.drain((calls, ms) => {
        if (calls > 0 && process.stderr.isTTY)
          complain(`waits up to ${span(ms)} for ${counted(calls, 'call')} to end; Ctrl-C again ends at once`);
      });
    };
    // After a second signal, clients are told, and what is recorded is written.
    await untilStopped(configFileOf(inputs) === undefined ? { stop } : { stop, reload }).finally(() => gateway.close());
  } finally {
    await shadow?.close();
    await embedded.close();
    await recorder?.close();
  }
}

/** Loaded on demand, as a gateway before real engines needs neither it nor the simulator. */
async function demoOf({ auth }: Config, engine: string | undefined, failed: (error: unknown) => void) {
  // It has no key of a client.
  if (engine === undefined || auth.keys.length > 0) return undefined;
  const { DemoFleet } = await import('./demo-fleet.js');
  return new DemoFleet(engine, failed);
}

/** For people, so on stderr: stdout is a stream of JSON log lines. */
async function greet({ url, adminUrl }: Gateway, { auth }: Config, model: string | undefined): Promise<void> {
  const key = auth.keys.length > 0 ? ` -H "authorization: Bearer $KEY"` : '';
  const body = { model, messages: [{ role: 'user', content: 'Hello' }] };
  const chat = `/v1/chat/completions${key} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
  const call = model === undefined ? `/v1/models${key}` : chat;
  const [ready, access] = await Promise.all([statusOf(`${url}/readyz`), statusOf(`${adminUrl}/version`)]);
  const isClosed = access === 403;
  const why = isClosed ? '' : `\nSee why: ${OWN_NAME} doctor --url ${adminUrl}`;
  const [state, next] =
    ready === 200
      ? [`maitred is ready${model === undefined ? '' : ', with stand-in engines'}.`, `\nTry: curl ${url}${call}`]
      : ['No engine answers yet: calls wait or fail.', why];
  const page = isClosed ? 'closed until admin.token or admin.port is set' : `${adminUrl}/ui`;
  process.stderr.write(`\n${state} Base URL for clients: ${url}/v1 (Anthropic’s: ${url})\nPage: ${page}${next}\n\n`);
}

const statusOf = async (url: string): Promise<number> => {
  const { statusCode, body } = await request(url);
  await body.dump();
  return statusCode;
};
