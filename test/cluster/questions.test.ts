import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { gatewayId, type GatewayId } from '../../cluster/index.js';
import { Questions } from '../../cluster/redis/questions.js';

const [A, B, C] = [gatewayId('a'), gatewayId('b'), gatewayId('c')];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Gateways that hear each other at once, and answer by name; one that is mute never does. */
function fleet(...mute: readonly GatewayId[]) {
  const published: string[] = [];
  const all = new Map<GatewayId, Questions>();
  for (const gateway of [A, B, C])
    all.set(
      gateway,
      new Questions({
        gateway,
        asked: 'asked',
        answers: 'answers:',
        answer: (question) => {
          if (question === 'fail') return Promise.reject(new RangeError('no'));
          return mute.includes(gateway) ? new Promise(() => undefined) : Promise.resolve(`${gateway} ${question}`);
        },
        publish: (channel, text) => {
          published.push(channel);
          for (const [name, questions] of all)
            if (channel === 'asked' || channel === `answers:${name}`) questions.heard(channel, text);
        },
      }),
    );
  return { questions: all.get(A)!, published, mute: mute as GatewayId[] };
}

it('brings the answers of all others, and asks nobody where there is none', async () => {
  const { questions, published } = fleet();
  expect(await questions.ask('who', [B, C])).toEqual(
    new Map([
      [B, 'b who'],
      [C, 'c who'],
    ]),
  );
  expect(published).toEqual(['asked', 'answers:a', 'answers:a']);
  expect(await questions.ask('fail', [B])).toEqual(new Map([[B, '']]));
  const { published: none, questions: alone } = fleet();
  expect(await alone.ask('who', [])).toEqual(new Map());
  expect(none).toEqual([]);
});

it('waits a second for one that is silent, names it, and then waits for it no more until it answers', async () => {
  const { questions, mute } = fleet(C);
  let heard: ReadonlyMap<GatewayId, string> | undefined;
  void questions.ask('who', [B, C]).then((answers) => (heard = answers));
  await vi.advanceTimersByTimeAsync(999);
  expect(heard).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(heard).toEqual(new Map([[B, 'b who']]));
  expect([...questions.silent]).toEqual([C]);
  // No time passes.
  expect(await questions.ask('who', [B, C])).toEqual(new Map([[B, 'b who']]));
  mute.length = 0;
  await questions.ask('who', [B, C]);
  await vi.advanceTimersByTimeAsync(0);
  expect([...questions.silent]).toEqual([]);
  expect((await questions.ask('who', [B, C])).size).toBe(2);
});

it('is not waited for again because of an answer that comes too late', async () => {
  let ask = '';
  const publish = (_: string, text: string) => void (ask = text);
  const questions = new Questions({
    gateway: A,
    asked: 'asked',
    answers: 'answers:',
    answer: () => Promise.resolve(''),
    publish,
  });
  const answerOf = (afterMs: number) => {
    void questions.ask('who', [B]);
    const [, id] = JSON.parse(ask) as [string, number];
    return vi.advanceTimersByTimeAsync(afterMs).then(() => questions.heard('answers:a', JSON.stringify([B, id, 'b'])));
  };
  await answerOf(1100);
  await answerOf(1100);
  expect([...questions.silent]).toEqual([B]);
  await answerOf(900);
  expect([...questions.silent]).toEqual([]);
});

it('forgets that one was silent which is gone', async () => {
  const { questions } = fleet(C);
  const asked = questions.ask('who', [C]);
  await vi.advanceTimersByTimeAsync(1000);
  await asked;
  await questions.ask('who', [B]);
  expect([...questions.silent]).toEqual([]);
});

it('answers no more than 32 questions at once, and the others after them', async () => {
  const ends: ((said: string) => void)[] = [];
  const answer = vi.fn(() => new Promise<string>((resolve) => ends.push(resolve)));
  const said: string[] = [];
  const publish = (_: string, text: string) => void said.push(text);
  const questions = new Questions({ gateway: A, asked: 'asked', answers: 'answers:', answer, publish });
  for (let id = 0; id < 40; id += 1) questions.heard('asked', JSON.stringify([B, id, 'who']));
  expect(answer).toHaveBeenCalledTimes(32);
  for (const end of ends) {
    end('a');
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(said).toEqual(Array.from({ length: 40 }, (_, id) => JSON.stringify([A, id, 'a'])));
  // No more than 512 wait.
  ends.length = said.length = 0;
  for (let id = 0; id < 600; id += 1) questions.heard('asked', JSON.stringify([B, id, 'who']));
  for (const end of ends) {
    end('a');
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(said).toHaveLength(32 + 512);
});

it.each(['{}', '[1,2]', '["b",1]', 'no JSON', 'null', '["b","1","x"]'])(
  'takes %s for no message of a gateway',
  (text) => {
    const { questions, published } = fleet();
    questions.heard('asked', text);
    questions.heard('answers:a', text);
    expect(published).toEqual([]);
  },
);

it('ends what is open with the answers so far when its gateway leaves', async () => {
  const { questions } = fleet(C);
  const asked = questions.ask('who', [B, C]);
  await vi.advanceTimersByTimeAsync(1);
  questions.close();
  expect(await asked).toEqual(new Map([[B, 'b who']]));
  expect(vi.getTimerCount()).toBe(0);
});
