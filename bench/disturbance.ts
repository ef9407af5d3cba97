import { readFileSync } from 'node:fs';

/**
 * Milliseconds of processor time that a process and its children took so far, also those that have ended, all threads,
 * user and system; undefined without /proc.
 */
export function cpuMsOf(pid: number): number | undefined {
  // Fields 14 to 17 in hundredths of a second; the second field, the name, may hold spaces.
  const fields = read(pid, 'stat')?.split(') ').at(-1)?.split(' ');
  if (fields === undefined) return undefined;
  const children = (read(pid, `task/${pid}/children`) ?? '').split(' ').filter((child) => child !== '');
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
  return children.reduce((sum, child) => sum + (cpuMsOf(Number(child)) ?? 0), own);
}

/** Resident memory of a process; undefined without /proc. */
export function rssBytesOf(pid: number): number | undefined {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(read(pid, 'status') ?? '')?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

function read(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** Cores that others may use before the figures are said to be disturbed. */
const CORES_MAX = 0.1;

/** CPU that other processes of the machine used during a measurement. */
export interface Disturbance {
  /** Of the measurement, on the wall. */
  readonly seconds: number;
  /** CPU seconds of others; null where there is no /proc. */
  readonly others_cpu_seconds: number | null;
  readonly others_cores: number | null;
  /** Whether others used so much that the figures should not be published. */
  readonly disturbed: boolean;
}

/**
 * Begins to count. Processes that the measurement leaves behind count as others.
 * @returns ends it
 */
export function watchOthers(): () => Disturbance {
  const [startedAt, before] = [performance.now(), othersMs()];
  return () => {
    const seconds = (performance.now() - startedAt) / 1000;
    const after = othersMs();
    if (before === undefined || after === undefined)
      return { seconds, others_cpu_seconds: null, others_cores: null, disturbed: false };
    const used = Math.max(0, after - before) / 1000;
    const cores = used / seconds;
    return { seconds, others_cpu_seconds: used, others_cores: cores, disturbed: cores > CORES_MAX };
  };
}

export function sayDisturbance({ seconds, others_cpu_seconds: used, others_cores: cores, disturbed }: Disturbance) {
  if (used === null || cores === null) return `Took ${seconds.toFixed(0)} s; without /proc, others are not seen.`;
  const text = `Others used ${used.toFixed(1)} s of CPU in ${seconds.toFixed(0)} s, ${cores.toFixed(2)} of a core.`;
  return disturbed ? `${text} DISTURBED: do not publish figures in real time.` : text;
}

/** Processor time of all other processes since the machine started; waiting for disks and stolen time left out. */
function othersMs(): number | undefined {
  const own = cpuMsOf(process.pid);
  try {
    const [, user, nice, system, , , irq, soft] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.split(/\s+/);
    const ticks = [user, nice, system, irq, soft].reduce((sum, each) => sum + Number(each), 0);
    return own === undefined ? undefined : ticks * 10 - own;
  } catch {
    return undefined;
  }
}
