import { setTimeout as sleep } from 'node:timers/promises';

const READY_MS_MAX = 30_000;
const READY_POLL_MS = 20;

/** The body of a 200. @throws Error that names the URL. */
export async function get(url: string): Promise<string> {
  const response = await fetch(url).catch((error: unknown) => {
    throw new Error(`${url} cannot be reached: ${reasonOf(error)}`);
  });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return response.text();
}

/** `fetch` hides the reason of its failure in a cause. */
function reasonOf(error: unknown): string {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return reason instanceof Error ? reason.message : String(reason);
}

/** Polls until nothing is missing. @throws Error that names the missing part after 30 seconds */
export async function untilReady(missing: () => Promise<string | undefined>): Promise<void> {
  const deadline = performance.now() + READY_MS_MAX;
  for (;;) {
    const reason = await missing();
    if (reason === undefined) return;
    if (performance.now() > deadline) throw new Error(reason);
    await sleep(READY_POLL_MS);
  }
}
