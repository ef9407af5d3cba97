import type { Command } from 'commander';
import { pino } from 'pino';
import { startGateway } from '../sidecar/index.js';
import { configFileOf, loadConfig, type ConfigInputs } from '../sidecar/config/load.js';
import { ConfigError } from '../sidecar/config/problems.js';
import type { Config } from '../sidecar/config/schema.js';
import { addConfigOptions, configInputs } from './config-options.js';
import { startEmbedded } from './embedded.js';
import { untilStopped } from './signals.js';

/** `maitred serve`: the gateway, and stand-in engines if asked for, until a signal ends them. */
export function addServeCommand(program: Command): void {
  addConfigOptions(program.command('serve').description('run the gateway')).action((flags) =>
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
function greet(url: string, config: Config): void {
  const key = config.auth.keys.length > 0 ? ` -H "authorization: Bearer $KEY"` : '';
  const chat = `/v1/chat/completions${key} -H 'content-type: application/json' -d '{"model": "${MODEL}", "messages": [{"role": "user", "content": "Hello"}]}'`;
  process.stderr.write(`
maitred is ready. Base URL for clients: ${url}/v1
Try: curl ${url}${config.embedded > 0 ? chat : `/v1/models${key}`}

`);
}
