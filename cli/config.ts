import type { Command } from 'commander';
import { stringify } from 'yaml';
import { hasNoEngine, loadConfig, redact } from '../sidecar/config/index.js';
import { addConfigOptions, configInputs, type ConfigFlags } from './config-options.js';

/** `maitred config`: the effective configuration, as a file that `serve` accepts except for the redacted secrets. */
export function addConfigCommand(program: Command): void {
  addConfigOptions(
    program.command('config').description('check the configuration and print all settings in effect'),
  ).action((flags: ConfigFlags) => {
    const config = loadConfig(configInputs(flags));
    if (hasNoEngine(config)) process.stderr.write('maitred: no engine is configured; --engine names one\n');
    process.stdout.write(stringify(redact(config)));
  });
}
