import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';

/** A name for a file or folder that one process has at a time; Linux forgets it when that ends, others have none. @param taken thrown if another has it */
export async function claimOf(path: string, taken: Error): Promise<Server | undefined> {
  if (process.platform !== 'linux') return undefined;
  const { dev, ino } = await stat(path);
  const server = createServer((socket) => socket.destroy())
    .unref()
    .listen(`\0maitred-batches-${dev}-${ino}`);
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    // A sandbox may allow no such names.
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return undefined;
    throw taken;
  }
}
