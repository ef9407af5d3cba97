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

/** Resident memory of a process, now or at most so far; undefined without /proc. */
export function rssBytesOf(pid: number, which: 'VmRSS' | 'VmHWM' = 'VmRSS'): number | undefined {
  const kilobytes = new RegExp(`^${which}:\\s+(\\d+)`, 'm').exec(read(pid, 'status') ?? '')?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

function read(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}
