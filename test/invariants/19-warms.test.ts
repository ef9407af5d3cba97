import assert from 'node:assert/strict';
import { it } from 'vitest';
import { millis, type Command, type Scheduler, type SchedulerConfig } from '../../src/index.js';
import { WarmWorld, type WarmMoment } from '../support/core-warm-world.js';

const SEQUENCES = Math.ceil(Number(process.env['TEST_SEQUENCES'] ?? 300) / 20);
const STEPS = 400;

/** Longest prefix that programs of the world share. */
const SHARED_TOKENS = 50;

const keyOf = ({ program, thread }: { readonly program: string; readonly thread: string }) => `${program} ${thread}`;

it('a warm has a slot and room under the gate, on an engine that is well, for an idle thread with that prompt', () => {
  const counts = { warm: 0, cancelWarm: 0, warmed: 0 };
  const prompts = new Map<string, number>();
  /** Working set of other gateways, by engine. */
  const others = new Map<string, number>();
  const check = ({ event, book, scheduler, config, commands, nowMs }: WarmMoment): void => {
    if (event.type === 'callFinished') {
      const call = book.calls.get(event.call)!;
      prompts.set(keyOf(call), event.usage!.promptTokens);
    }
    if (event.type === 'engineShared') others.set(event.engine, event.activeTokens + event.claimTokens);
    for (const warm of book.warms) {
      const engine = book.engines.get(warm.engine)!;
      assert.equal(engine.state, 'up', warm.engine);
      assert.ok(!engine.probation && nowMs >= engine.restUntilMs, `${warm.engine} rests or is on probation`);
      assert.ok(scheduler.views.program(warm.program), `${warm.program} is over`);
      for (const call of book.active.values()) assert.notEqual(keyOf(call), keyOf(warm), `${call.id} runs or waits`);
      assert.equal(warm.tokens, prompts.get(keyOf(warm)));
    }
    for (const engine of book.engines.values()) {
      const here = [...book.warms].filter((warm) => warm.engine === engine.id);
      const view = scheduler.views.engine(engine.id as never);
      if (here.length === 0 || view === undefined) continue;
      assert.ok([...book.owed].filter((warm) => warm.engine === engine.id).length <= 1, `${engine.id} has two`);
      assert.ok(book.running(engine.id).length + here.length <= view.window, `${engine.id} has no slot`);
      const tokens = here.reduce((sum, warm) => sum + Math.max(0, warm.tokens - SHARED_TOKENS), 0);
      const gate = config.admission.gate === 0 ? 1 : config.admission.gate;
      const workingSetTokens = view.workingSetTokens + (others.get(engine.id) ?? 0);
      assert.ok(workingSetTokens + tokens <= gate * engine.capacityTokens!, `${engine.id} has no room`);
    }
    for (const { type } of commands) if (type === 'warm' || type === 'cancelWarm') counts[type] += 1;
    if (event.type === 'memoryMoved' && event.ok) counts.warmed += 1;
  };
  for (let seed = 0; seed < SEQUENCES; seed += 1) {
    prompts.clear();
    others.clear();
    new WarmWorld(seed, false, check).run(STEPS);
  }
  assert.ok(counts.warm > 30 && counts.cancelWarm > 8 && counts.warmed > 15, JSON.stringify(counts));
});

it('until a warm has succeeded, every call is placed, charged and ended as without warms', () => {
  let warms = 0;
  const ofCalls = (commands: readonly Command[]) =>
    commands.filter(({ type }) => !['warm', 'cancelWarm', 'wakeAt'].includes(type));
  for (let seed = 0; seed < SEQUENCES; seed += 1) {
    let without: Scheduler | undefined;
    const check = ({ event, nowMs, commands, config, scheduler }: WarmMoment): void => {
      const off: SchedulerConfig = { ...config, policy: { ...config.policy, prefetch: 'off' } };
      without ??= WarmWorld.schedulerOf(off);
      assert.deepEqual(ofCalls(commands), ofCalls(without.step(event, millis(nowMs))), `sequence ${seed}`);
      if (event.type === 'memoryMoved')
        assert.equal(
          scheduler.views.program(event.program)?.serviceMs,
          without.views.program(event.program)?.serviceMs,
        );
      warms += commands.filter(({ type }) => type === 'warm').length;
    };
    new WarmWorld(seed, true, check).run(STEPS);
  }
  assert.ok(warms > 40, `only ${warms} warms`);
});
