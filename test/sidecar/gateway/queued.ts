import type * as Answers from '../../../sidecar/admin/answers.js';
import { held, named, until } from './world.js';

export type Told = Answers.Explanation & { readonly program: Answers.ProgramDetail };

/** One call that runs, of program `first`, and one that waits for its slot, of program `second`. */
export async function queued() {
  const all = await held({ admission: { window: 1 } });
  const { engine, chat, waiting } = all;
  const answers = [chat({}, named('first'))];
  await until(() => engine.seen.length === 1);
  answers.push(chat({}, { ...named('second'), 'x-request-id': 'r-2' }));
  await until(async () => (await waiting()) === 1);
  return { ...all, answers };
}
