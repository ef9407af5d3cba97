import { listOf, objectIn, objectOf, textOf } from './apis/api.js';
import { counted } from '../text/index.js';
import type { Target } from './target.js';

/** Within which a target shows that it is there. */
export const LOOK_MS_MAX = 3_000;
/** Most that its clock is set by in a run. */
const CLOCK_SECONDS = 0.5;

/** Events of a gateway that change what it can do. */
export const LEFT = / is (down|draining)$/;

export type Watch = Awaited<ReturnType<typeof watch>>;

/** Watches a gateway from now on. Resolves to what tells, after a run, what else happened there. */
export async function watch(target: Target, policy: string | undefined) {
  const before = policy === undefined ? undefined : await lookAt(target);
  /** @param sent calls of the load tester itself @param broken those that broke off */
  return async (sent: number, broken: number): Promise<readonly string[]> => {
    if (policy === undefined) return [];
    const after = before && (await lookAt(target));
    if (before === undefined || after === undefined)
      return broken === 0 ? [] : [`${counted(broken, 'call')} broke off, as when an engine leaves`];
    const known = (text: string, at: number) =>
      before.events.some((old) => old.text === text && Math.abs(old.at - at) < CLOCK_SECONDS);
    const events = new Set(after.events.flatMap(({ text, at }) => (known(text, at) ? [] : [text])));
    const others = after.calls - before.calls - sent;
    return [...events, ...(others > 0 ? [`${counted(others, 'call')} came from others`] : [])];
  };
}

/** A maitred gateway's last events, and its calls so far; undefined: it tells them elsewhere, or not without a token. */
async function lookAt(target: Target) {
  const ask = async (path: string) => {
    const answer = await target.json('GET', path, undefined, AbortSignal.timeout(LOOK_MS_MAX)).catch(() => undefined);
    return answer?.status === 200 ? answer.text : '';
  };
  const [history, metrics] = [objectIn(await ask('/history?range=1d')), await ask('/metrics')];
  if (history === undefined || metrics === '') return undefined;
  const counts = [...metrics.matchAll(/^maitred_calls_(?:accepted|rejected)_total\S* (\d+)$/gm)];
  return {
    calls: counts.reduce((sum, [, count]) => sum + Number(count), 0),
    events: listOf(history['marks'])
      .map(objectOf)
      .map(({ at, text }) => ({ at: Number(at), text: textOf(text) })),
  };
}
