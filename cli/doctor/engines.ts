import { hasNoEngine, labelOf, type Config, type EngineConfig, type SourceConfig } from '../../sidecar/config/index.js';
import { lookUp } from '../../sidecar/discovery/index.js';
import { idOf } from '../../sidecar/engines/address.js';
import { reasonOf } from '../../sidecar/errors.js';
import { examine, type Examination } from '../../sidecar/engines/examine.js';
import { NotAnEngine } from '../../sidecar/engines/index.js';
import { OWN_NAME } from '../advice.js';
import { DEAD_ENGINE, SET_CAPACITY, type Finding } from './finding.js';

const SET_KEY = 'set engines[].apiKey: env:NAME, and the variable NAME to the key';

/** Each engine: whether it answers, what it is, and what it lacks. @param calls whether small calls may be sent */
export async function engineFindings(config: Config, calls: boolean): Promise<Finding[]> {
  if (hasNoEngine(config))
    return [{ level: 'broken', subject: 'engines', found: 'none is configured', advice: `name each with --engine URL or in engines; without any, try it out: ${OWN_NAME} serve --embedded 2` }]; // prettier-ignore
  const sources = config.discovery.map((source) => lookedAt(source, config, calls));
  const found = await Promise.all([...sources, judgedAll(config.engines, config, calls)]);
  return found.flat();
}

const judgedAll = async (engines: readonly EngineConfig[], config: Config, calls: boolean): Promise<Finding[]> =>
  (await Promise.all(engines.map((engine) => judged(engine, config, calls)))).flat();

/** A source of discovery, and the engines that it finds. */
async function lookedAt(source: SourceConfig, config: Config, calls: boolean): Promise<Finding[]> {
  const subject = `discovery ${labelOf(source)}`;
  const broken = (found: string): Finding[] => [{ level: 'broken', subject, found, advice: 'docs/OPERATIONS.md says what each source needs' }]; // prettier-ignore
  const look = await lookUp(source).catch((error: unknown) => error as Error);
  if (look instanceof Error) return broken(reasonOf(look));
  const { engines } = look;
  if (engines.length === 0) return broken('lists no engine');
  return [{ level: 'ok', subject, found: `engines: ${engines.length}` }, ...(await judgedAll(engines, config, calls))];
}

async function judged(engine: EngineConfig, { health, timeouts }: Config, calls: boolean): Promise<Finding[]> {
  const subject = `engine ${idOf(engine)}`;
  const { timeoutMs } = health;
  const { connectMs } = timeouts;
  const found = await examine(engine, { timeoutMs, connectMs, calls }).catch((error: unknown) => error as Error);
  if (found instanceof NotAnEngine) return [{ level: 'broken', subject, found: found.message }];
  if (found instanceof Error) {
    const reason = reasonOf(found);
    return /answered 40[13]$/.test(reason)
      ? [{ level: 'broken', subject, found: `${engine.url} refuses ${engine.apiKey === undefined ? 'calls without a key' : 'its key'}`, advice: SET_KEY }] // prettier-ignore
      : [{ level: 'broken', subject, found: `${engine.url} is not healthy: ${reason}`, advice: DEAD_ENGINE }];
  }
  return [
    ...healthFindings(subject, engine, found),
    ...hostFindings(subject, engine, found),
    ...flagFindings(subject, found),
  ];
}

function healthFindings(subject: string, engine: EngineConfig, { adapter, models, load }: Examination): Finding[] {
  const names = [...(models?.keys() ?? [])];
  if (names.length === 0)
    return [{ level: 'broken', subject, found: 'it lists no model', advice: `if it needs a key, ${SET_KEY}; or list its models in engines[].models` }]; // prettier-ignore
  const capacityTokens = engine.capacityTokens ?? load.capacityTokens;
  const kind = engine.kind === 'auto' ? `${adapter.kind}, detected` : adapter.kind;
  const findings: Finding[] = [{ level: 'ok', subject, found: `${kind}; serves ${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}` }]; // prettier-ignore
  findings.push(
    capacityTokens === undefined
      ? { level: 'warning', subject, found: 'its KV cache is of unknown size, so no gate protects it', advice: SET_CAPACITY } // prettier-ignore
      : { level: 'ok', subject, found: `KV cache of ${capacityTokens.toLocaleString('en-US')} tokens` },
  );
  if (load.running === undefined && load.waiting === undefined)
    findings.push({ level: 'note', subject, found: 'it reports no load, so its window follows completions', advice: 'engines[].window fixes it' }); // prettier-ignore
  if (load.running === 0 && (load.waiting ?? 0) > 0)
    findings.push({ level: 'warning', subject, found: `it runs none of its ${load.waiting} requests`, advice: 'look again: an engine that stays like this is stuck, and needs a restart' }); // prettier-ignore
  return findings;
}

function hostFindings(subject: string, engine: EngineConfig, { load, hostTier }: Examination): Finding[] {
  const hostTokens = engine.hostTokens ?? load.hostTokens ?? 0;
  const name = hostTier === undefined ? '' : ` (${hostTier})`;
  if (hostTokens > 0)
    return [{ level: 'ok', subject, found: `host memory keeps ${hostTokens.toLocaleString('en-US')} tokens of what leaves its KV cache${name}` }]; // prettier-ignore
  if (hostTier === undefined) return [];
  const advice = 'set engines[].hostTokens: contexts that come back from there cost less, and more programs may run';
  return [{ level: 'note', subject, found: `it has a host tier of unknown size${name}`, advice }];
}

function flagFindings(subject: string, { flags }: Examination): Finding[] {
  const lacking = flags.filter(({ isOn }) => isOn === false);
  const findings = lacking.map(({ flag, gives }): Finding => ({ level: 'warning', subject, found: `runs without ${flag}`, advice: `add this flag: it gives ${gives}` })); // prettier-ignore
  const unknown = flags.filter(({ isOn }) => isOn === undefined).map(({ flag, gives }) => `${flag} (${gives})`);
  if (unknown.length > 0)
    findings.push({ level: 'note', subject, found: `does not report whether it runs with ${unknown.join(', ')}`, advice: 'see its command line' }); // prettier-ignore
  return findings;
}
