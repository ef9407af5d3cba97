import { createHash } from 'node:crypto';
import { Dice } from '../../workloads/dice.js';
import { PATHS } from './answers.js';
import { asOperator, askNow, askOf, auditRest, engineRows, type Frozen } from './audit.js';
import { Connection, type Heard } from './clients.js';
import { WELL } from './engines.js';
import type { Oracle } from './oracle.js';
import { TIMES, drawSettings, idsOf, keyOf } from './scenario.js';
import { World, type Node } from './world.js';

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

/** Plays one seed from its start to its end. @param gateways of several, calls go to any of them */
export async function runSeed(seed: number, gateways = 1): Promise<Outcome> {
  const world = new World(seed, gateways);
  world.install();
  try {
    await world.start();
    await play(world);
    await finish(world);
  } catch (error) {
    world.wrong(`the world broke: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  } finally {
    world.uninstall();
  }
  const { lines, nodes } = world;
  const hash = createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
  const wrongs = nodes.flatMap(({ oracle }) => oracle.wrongs);
  return { seed, hash, wrongs, lines, calls: nodes.reduce((sum, { oracle }) => sum + oracle.book.size, 0) };
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
    if (scenario.kind === 'stormy' && world.store !== undefined && dice.share() < 0.4) storeTrouble(world, dice);
    else if (scenario.kind === 'stormy') await trouble(world, dice);
    else if (dice.share() < 0.2) world.reload(drawSettings(dice, world.settings.engines, true));
    if (dice.share() < 0.4) await world.audit(dice.share() < 0.2 ? 'metrics' : 'views');
  }
  if (scenario.end === 'rest') await heal(world, dice);
}

/** All engines are well and in service again, and everything that was asked is answered. */
async function heal(world: World, dice: Dice): Promise<void> {
  const { scenario } = world;
  if (world.store !== undefined) world.store.lagMs = 0;
  for (const engine of world.engines) {
    engine.mood = WELL;
    engine.return();
  }
  world.reload(drawSettings(dice, idsOf(scenario), true));
  for (const node of world.nodes) {
    const frozen = world.frozenAt(node);
    for (const { id, state } of await engineRows(frozen)) {
      const { kind } = scenario.engines.find((engine) => engine.id === id) ?? {};
      const config = JSON.stringify({ id, kind, url: `http://${id}` });
      if (state === 'draining' || state === 'drained') await askNow(frozen, asOperator('POST', '/engines', config));
    }
  }
  if (!(await world.runUntil(() => world.agentsLeft === 0, HEAL_MS)))
    world.wrong('G6: calls are unanswered long after all engines are well');
}

/** The store is late, stands still, loses its data, or is gone for a while. */
function storeTrouble({ store, clock, say, windows }: World, dice: Dice): void {
  if (store === undefined) return;
  windows.disturbed();
  switch (dice.int(0, 3)) {
    case 0:
      store.lagMs = [0, 0.5, 4, 9][dice.int(0, 3)] ?? 0;
      return say(`the store takes ${store.lagMs} ms for each command`);
    case 1: {
      const ms = dice.int(5, 6000);
      store.stand(ms);
      return say(`the store stands still for ${ms} ms`);
    }
    case 2:
      store.flush();
      return say('the store has lost its data');
    default:
      say('the store is gone');
      store.leave();
      clock.after(dice.int(10, 2000), () => {
        say('the store is back');
        store.return();
      });
  }
}

async function trouble(world: World, dice: Dice): Promise<void> {
  const { clock, engines, nodes, scenario } = world;
  const node = nodes[nodes.length === 1 ? 0 : dice.int(0, nodes.length - 1)] as Node;
  const frozen = world.frozenAt(node);
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
      await askNow(frozen, asOperator('POST', `/engines/${engine.id}/drain?force`));
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

/** The end: all is answered, all comes back to zero, and nothing of the gateways is left. */
async function finish(world: World): Promise<void> {
  const { clock, network, nodes, scenario } = world;
  if (scenario.end === 'rest') {
    await world.audit('metrics');
    await world.runTo(clock.now + RETURN_MS);
    for (const node of nodes) await serveAgain(world, node);
    await rest(world);
  } else for (const { oracle } of nodes) oracle.closing = true;
  const ending = nodes.map(({ gateway }) => (scenario.end === 'close' ? gateway.close() : gateway.drain()));
  const most = (scenario.end === 'drain' ? TIMES.drainMs : 0) + 1500;
  await world.until(Promise.all(ending), most).catch(() => world.wrong('G6: the gateway does not end'));
  // For the moment that a cache keeps its clock for.
  await world.runTo(clock.now + 5);
  const timers = clock.pending.filter((ms) => ms !== UNDICI_TICK_MS);
  if (timers.length > 0) world.wrong(`G7: timers outlive the gateway: ${timers.join()} ms`);
  await world.runUntil(() => world.agentsLeft === 0, HEAL_MS);
  // undici waits for a connection that is being made before it closes it.
  await world.runTo(clock.now + 3000);
  if (clock.pending.length > 0) world.wrong(`G7: timers outlive the gateway for long: ${clock.pending.join()} ms`);
  const held = network.wires.filter((wire) => wire.held).length;
  if (held > 0) world.wrong(`G7: ${held} connections outlive the gateway`);
  for (const { oracle } of nodes) oracle.closed();
}

/** A well-behaved call of each tenant is served, whatever was before; a key that is no longer known opens nothing. */
async function serveAgain(world: World, node: Node): Promise<void> {
  const { scenario, settings } = world;
  const { index, oracle } = node;
  for (const tenant of ['a', 'b', 'c']) {
    for (const stream of [false, true]) {
      const ends: Heard[] = [];
      const ended = (heard: Heard): void => {
        world.ended(heard);
        ends.push(heard);
      };
      const body = JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'still there?' }] });
      const headers = { authorization: `Bearer ${keyOf(tenant)}` };
      const rid = `${tenant}.last.${stream}${index === 0 ? '' : `.${index}`}`;
      const ask = { ...askOf('POST', PATHS.chat, headers, body), stream, rid };
      world.asked(new Connection({ ...world.frozenAt(node), ended }, 1).ask(ask));
      await world.runUntil(() => ends.length > 0, SERVE_MS);
      const known = !scenario.keys || settings.tenants.includes(tenant);
      const status = ends[0]?.head?.status;
      if (status !== (known ? 200 : 401)) oracle.wrong(`G6: with all well, ${ask.rid} is answered ${status}`);
    }
  }
  await world.runTo(world.clock.now + 100);
}

/** Nobody asks: what was under way leaves nothing behind, and what is remembered is forgotten in time. */
async function rest(world: World): Promise<void> {
  const { clock, nodes, settings } = world;
  // The scheduler's own timer may be set for anything, and probes connect too; these are of calls.
  const { bodyMs, firstByteMs, idleMs, commentMs } = TIMES;
  const ofCalls = [bodyMs, firstByteMs, idleMs, commentMs];
  const odd = clock.pending.filter((ms) => ofCalls.includes(ms));
  if (odd.length > 0) world.wrong(`G7: nothing is asked, and timers of ${odd.join()} ms are pending`);
  for (const node of nodes) {
    const frozen = world.frozenAt(node);
    await checkListeners(frozen, node.oracle);
    const told = (await engineRows(frozen)).map(({ id }) => id).sort();
    const wanted = settings.engines.join();
    if (told.join() !== wanted) node.oracle.wrong(`G8: the engines are ${told.join()}, not ${wanted}`);
  }
  await world.runTo(clock.now + TIMES.leaseMs + TIMES.ghostMs + 100);
  for (const node of nodes) await auditRest(world.frozenAt(node), node.oracle);
}

/** A connection that has served requests has no more listeners than one that has not. */
async function checkListeners({ door, now }: Frozen, oracle: Oracle): Promise<void> {
  const used = door.inbound;
  const fresh = door.dial(0);
  await now();
  for (const socket of used)
    for (const event of socket.eventNames()) {
      const more = socket.listenerCount(event) - (fresh?.socket.listenerCount(event) ?? 0);
      if (more > 0) oracle.wrong(`G7: a connection has ${more} more listeners for ${String(event)} than a new one`);
    }
  fresh?.close();
  await now();
}
