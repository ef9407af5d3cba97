import { watch, type FSWatcher } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  BYTES_MAX,
  isMapping,
  ConfigError,
  configSchema,
  parseYaml,
  pathText,
  problemsOf,
  resolveSecrets,
  type EngineConfig,
  type EngineDefaults,
  type FileConfig,
  type Path,
} from '../config/index.js';
import { reasonOf, type Environment, type Source, type SourcePorts } from './source.js';

/** Time for a writer to finish after the first sign of a change. */
const SETTLE_MS = 50;

/**
 * Reads engines from a file until closed: when its folder announces a change, and every `refreshMs`, because network
 * file systems announce nothing. It watches the folder because the file is replaced by a rename: of itself, or, in a
 * mounted ConfigMap, of the link `..data` beside it.
 */
export function watchFile({ path, refreshMs }: FileConfig, defaults: EngineDefaults, ports: SourcePorts): Source {
  let closed = false;
  let version = '';
  let engines: readonly EngineConfig[] = [];
  let watcher: FSWatcher | undefined;
  let looking = false;
  /** Whether the folder has changed since the last look began. */
  let changed = false;
  let cancelTimer = (): void => undefined;

  const look = async (): Promise<void> => {
    looking = true;
    changed = false;
    watcher ??= watchFolder(dirname(path), announced, () => (watcher = undefined));
    try {
      const stats = await stat(path);
      const found = [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(' ');
      if (found !== version) {
        if (!stats.isFile() || stats.size > BYTES_MAX)
          throw new Error(`${path} is no file of at most ${BYTES_MAX} bytes`);
        engines = readEngines(path, await readFile(path), defaults, ports.env);
        version = found;
      }
      if (!closed) ports.found(engines);
    } catch (error) {
      version = '';
      if (!closed) ports.failed(reasonOf(error));
    }
    looking = false;
    if (!closed) rest();
  };
  const rest = (): void => {
    cancelTimer();
    cancelTimer = ports.setTimer(() => void look(), changed ? SETTLE_MS : refreshMs);
  };
  const announced = (): void => {
    // Further changes do not put the look off.
    if (changed || closed) return;
    changed = true;
    if (!looking) rest();
  };
  void look();
  return {
    close: () => {
      closed = true;
      cancelTimer();
      watcher?.close();
    },
  };
}

/** Undefined where the folder cannot be watched, such as when the system has no watches left. */
function watchFolder(folder: string, announced: () => void, ended: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, announced);
    return watcher.on('error', () => {
      watcher.close();
      ended();
    });
  } catch {
    return undefined;
  }
}

/** @throws ConfigError with all problems found */
function readEngines(path: string, bytes: Buffer, defaults: EngineDefaults, env: Environment): readonly EngineConfig[] {
  const { values, originOf } = parseYaml(path, bytes);
  const isList = Array.isArray(values);
  // In a file that is a mapping, only `engines` may stand.
  const whole = isList ? { engines: values } : isMapping(values) ? values : {};
  const entries: unknown = whole['engines'];
  const keys = Object.keys(whole);
  if (!Array.isArray(entries) || keys.length !== 1)
    throw new ConfigError([
      { path: '', message: 'must be a list of engines, or a mapping of `engines` to one', origin: path },
    ]);
  const engines = entries.map((entry: unknown) => (isMapping(entry) ? { ...defaults, ...entry } : entry));
  const origin = (at: Path) => originOf(isList ? at.slice(1) : at);
  const problems = resolveSecrets({ engines }, env, origin);
  const { data, error } = configSchema.safeParse({ engines }, { reportInput: true });
  for (const { path: at, message } of problemsOf(error?.issues ?? []))
    problems.push({ path: pathText(at), message, origin: origin(at) });
  if (data === undefined || problems.length > 0) throw new ConfigError(problems);
  return data.engines;
}
