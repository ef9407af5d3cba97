import { createHash } from 'node:crypto';
import { Dice } from '../../workloads/dice.js';
import { PATHS } from './answers.js';
import { asOperator, askNow, askOf, auditRest, engineRows } from './audit.js';
import { Connection, type Heard } from './clients.js';
import { WELL } from './engines.js';
import { TIMES, drawSettings, idsOf, keyOf } from './scenario.js';
import { World } from './world.js';

/** How one seed went. */
export interface Outcome {
  readonly seed: number;
  /** Of everything that was seen, in order: equal for equal seeds. */
  readonly hash: string;
  /** What was wrong, in plain words; none: all invariants held. */
  readonly wrongs: readonly string[];
  /** What happened, a line each, with its time in milliseconds. */
  readonly lines: readonly string[];
  readonly calls: number;
}

/** Plays one seed from its start to its end. */
export async function runSeed(seed: number): Promise<Outcome> {
  const world = new World(seed);
  world.install();
  try {
    await world.start();
    await play(world);
    await finish(world);
  } catch (error) {
    world.oracle.wrong(`the world broke: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  } finally {
    world.uninstall();
  }
  const { lines, oracle } = world;
  const hash = createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
  return { seed, hash, wrongs: oracle.wrongs, lines, calls: oracle.book.size };
}

const LOAD_MS = 5000;
/** For everything to be answered once all engines are well again. */
const HEAL_MS = 60_000;
/** For an engine that is well again to be asked, and found so. */
const RETURN_MS = 4000;
/** For one call to be served then. */
const SERVE_MS = 3000;
/** undici's one timer for all of its own, which runs on until it finds none. */
const UNDICI_TICK_MS = 499;

/** Clients come; engines, operators and clocks do what they may. */
async function play(world: World): Promise<void> {
  const { clock, scenario } = world;
  const dice = Dice.of(scenario.seed, 2);
  const endAt = clock.now + (scenario.end === 'rest' ? LOAD_MS : dice.int(500, 4000));
  while (clock.now < endAt) {
    await world.runTo(Math.min(endAt, clock.now + dice.int(100, 900)));
    if (scenario.kind === 'stormy') await trouble(world, dice);
    else if (dice.share() < 0.2) world.reload(drawSettings(dice, world.settings.engines, true));
    if (dice.share() < 0.4) await world.audit(dice.share() < 0.2 ? 'metrics' : 'views');
  }
  if (scenario.end === 'rest') await heal(world, dice);
}

/** All engines are well and in service again, and everything that was asked is answered. */
async function heal(world: World, dice: Dice): Promise<void> {
  const { scenario, frozen, oracle } = world;
  for (const engine of world.engines) {
    engine.mood = WELL;
    engine.return();
  }
  world.reload(drawSettings(dice, idsOf(scenario), true));
  for (const { id, state } of await engineRows(frozen)) {
    const { kind } = scenario.engines.find((engine) => engine.id === id) ?? {};
    const config = JSON.stringify({ id, kind, url: `http://${id}` });
    if (state === 'draining') await askNow(frozen, asOperator('POST', '/engines', config));
  }
  if (!(await world.runUntil(() => world.agentsLeft === 0, HEAL_MS)))
    oracle.wrong('G6: calls are unanswered long after all engines are well');
}

async function trouble(world: World, dice: Dice): Promise<void> {
  const { clock, engines, scenario, frozen } = world;
  const engine = engines[dice.int(0, engines.length - 1)];
  if (engine === undefined) return;
  const probes = (['well', 'well', 'failing', 'silent'] as const)[dice.int(0, 3)] ?? 'well';
  switch (dice.int(0, 8)) {
    case 0:
    case 1:
    case 2: {
      engine.mood = { faults: [0, 0.3, 0.7, 1][dice.int(0, 3)] ?? 0, probes };
      world.say(`${engine.id} answers wrongly in ${engine.mood.faults} of calls; its probes: ${probes}`);
      return;
    }
    case 3: {
      const door = dice.share() < 0.7 ? 'refused' : 'silent';
      world.say(`${engine.id} is gone: ${door}`);
      engine.leave(door);
      clock.after(dice.int(100, 3000), () => {
        world.say(`${engine.id} is back`);
        engine.return();
      });
      return;
    }
    case 4:
      world.reload(drawSettings(dice, idsOf(scenario), false));
      return;
    case 5: {
      world.say(`an operator drains ${engine.id}`);
      await askNow(frozen, asOperator('POST', `/engines/${engine.id}/drain`));
      return;
    }
    case 6: {
      world.say(`an operator adds ${engine.id}`);
      await askNow(frozen, asOperator('POST', '/engines', JSON.stringify({ id: engine.id, url: engine.url })));
      return;
    }
    case 7:
      clock.wallOffsetMs += dice.int(-3_600_000, 3_600_000);
      return;
    default:
      world.stall(dice.int(50, 3000));
  }
}

/** The end: all is answered, all comes back to zero, and nothing of the gateway is left. */
async function finish(world: World): Promise<void> {
  const { scenario, oracle, gateway } = world;
  if (scenario.end === 'rest') {
    await world.audit('metrics');
    await serveAgain(world);
    await rest(world);
  } else oracle.closing = true;
  const draining = scenario.end === 'close' ? gateway.close() : gateway.drain();
  const most = (scenario.end === 'drain' ? TIMES.drainMs : 0) + 1500;
  await world.until(draining, most).catch(() => oracle.wrong('G6: the gateway does not end'));
  const { clock, network } = world;
  // For the moment that a cache keeps its clock for.
  await world.runTo(clock.now + 5);
  const timers = clock.pending.filter((ms) => ms !== UNDICI_TICK_MS);
  if (timers.length > 0) oracle.wrong(`G7: timers outlive the gateway: ${timers.join()} ms`);
  await world.runUntil(() => world.agentsLeft === 0, HEAL_MS);
  // undici waits for a connection that is being made before it closes it.
  await world.runTo(clock.now + 3000);
  if (clock.pending.length > 0) oracle.wrong(`G7: timers outlive the gateway for long: ${clock.pending.join()} ms`);
  const held = network.wires.filter((wire) => wire.held).length;
  if (held > 0) oracle.wrong(`G7: ${held} connections outlive the gateway`);
  oracle.closed();
}

/** A well-behaved call of each tenant is served, whatever was before; a key that is no longer known opens nothing. */
async function serveAgain(world: World): Promise<void> {
  await world.runTo(world.clock.now + RETURN_MS);
  const { clock, scenario, oracle, settings } = world;
  for (const tenant of ['a', 'b', 'c']) {
    for (const stream of [false, true]) {
      const ends: Heard[] = [];
      const ended = (heard: Heard): void => {
        world.ended(heard);
        ends.push(heard);
      };
      const body = JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'still there?' }] });
      const headers = { authorization: `Bearer ${keyOf(tenant)}` };
      const ask = { ...askOf('POST', PATHS.chat, headers, body), stream, rid: `${tenant}.last.${stream}` };
      world.asked(new Connection({ ...world.frozen, ended }, 1).ask(ask));
      await world.runUntil(() => ends.length > 0, SERVE_MS);
      const known = !scenario.keys || settings.tenants.includes(tenant);
      const status = ends[0]?.head?.status;
      if (status !== (known ? 200 : 401)) oracle.wrong(`G6: with all well, ${ask.rid} is answered ${status}`);
    }
  }
  await world.runTo(clock.now + 100);
}

/** Nobody asks: what was under way leaves nothing behind, and what is remembered is forgotten in time. */
async function rest(world: World): Promise<void> {
  const { clock, oracle } = world;
  // The scheduler's own timer may be set for anything; these are of calls.
  const { bodyMs, connectMs, firstByteMs, idleMs, commentMs } = TIMES;
  const ofCalls = [bodyMs, connectMs, firstByteMs, idleMs, commentMs];
  const odd = clock.pending.filter((ms) => ofCalls.includes(ms));
  if (odd.length > 0) oracle.wrong(`G7: nothing is asked, and timers of ${odd.join()} ms are pending`);
  await checkListeners(world);
  const told = (await engineRows(world.frozen)).map(({ id }) => id);
  const wanted = world.settings.engines;
  if (told.sort().join() !== wanted.join()) oracle.wrong(`G8: the engines are ${told.join()}, not ${wanted.join()}`);
  await world.runTo(clock.now + TIMES.leaseMs + TIMES.ghostMs + 100);
  await auditRest(world.frozen, oracle);
}

/** A connection that has served requests has no more listeners than one that has not. */
async function checkListeners({ network, frozen, oracle }: World): Promise<void> {
  const used = network.inbound;
  const fresh = network.dial(0);
  await frozen.now();
  for (const socket of used)
    for (const event of socket.eventNames()) {
      const more = socket.listenerCount(event) - (fresh?.socket.listenerCount(event) ?? 0);
      if (more > 0) oracle.wrong(`G7: a connection has ${more} more listeners for ${String(event)} than a new one`);
    }
  fresh?.close();
  await frozen.now();
}
