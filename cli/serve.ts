import type { Command } from 'commander';
import { pino } from 'pino';
import { configFileOf, loadConfig, type ConfigInputs } from '../sidecar/config/load.js';
import { ConfigError } from '../sidecar/config/problems.js';
import type { Config } from '../sidecar/config/schema.js';
import { startGateway } from '../sidecar/index.js';
import { DEFAULT_PRESET, PRESETS } from '../sim/index.js';
import { addConfigOptions, configInputs, type ConfigFlags } from './config-options.js';
import { startEmbedded } from './embedded.js';
import { untilStopped } from './signals.js';

/** `maitred serve`: the gateway, and stand-in engines if asked for, until a signal ends them. */
export function addServeCommand(program: Command): void {
  addConfigOptions(program.command('serve').description('run the gateway')).action((flags: ConfigFlags) =>
    serve(configInputs(flags)),
  );
}

async function serve(inputs: ConfigInputs): Promise<void> {
  const config = loadConfig(inputs);
  const log = pino({ level: config.log.level });
  const embedded = await startEmbedded(config.embedded, (engine, error) => {
    log.error({ engine, err: error }, 'embedded engine stopped');
  });
  try {
    const withEmbedded = (own: Config): Config =>
      Object.freeze({ ...own, engines: [...own.engines, ...embedded.configs] });
    const load = () => withEmbedded(loadConfig(inputs));
    const gateway = await startGateway(withEmbedded(config), { reload: load });
    if (config.embedded > 0 || process.stderr.isTTY) greet(gateway.url, config);
    const reload = () => {
      try {
        gateway.reload(load());
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        log.error({ problems: error.problems }, 'reload refused, the old configuration stays');
      }
    };
    const stop = async () => {
      await gateway.drain();
      await gateway.close();
    };
    await untilStopped(configFileOf(inputs) === undefined ? { stop } : { stop, reload });
  } finally {
    await embedded.close();
  }
}

/** For people, so on stderr: stdout is a stream of JSON log lines. */
function greet(url: string, { embedded, auth }: Config): void {
  const key = auth.keys.length > 0 ? ` -H "authorization: Bearer $KEY"` : '';
  const body = { model: PRESETS[DEFAULT_PRESET].model, messages: [{ role: 'user', content: 'Hello' }] };
  const chat = `/v1/chat/completions${key} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
  const call = embedded > 0 ? chat : `/v1/models${key}`;
  process.stderr.write(`\nmaitred is ready. Base URL for clients: ${url}/v1\nTry: curl ${url}${call}\n\n`);
}
