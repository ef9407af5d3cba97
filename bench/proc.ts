import { readFileSync } from 'node:fs';

/** Milliseconds of processor time that a process took so far, all its threads, user and system; undefined without /proc. */
export function cpuMsOf(pid: number): number | undefined {
  // Fields 14 and 15 in hundredths of a second; the second field, the name, may hold spaces.
  const fields = read(pid, 'stat')?.split(') ').at(-1)?.split(' ');
  return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) * 10;
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
