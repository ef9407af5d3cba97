import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { gatewayId, RedisState } from '../../cluster/index.js';
import { engineId, programId, tenantId } from '../../src/index.js';
import { cleanUp } from '../support/clean-up.js';
import { claimOf, Desk, recordOf, STORE_DEFAULTS } from '../support/shared-desk.js';

/** A server that answers scripts with what it is told, and all else as a Redis does. */
async function liar(answers: () => string): Promise<Server> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      for (const [, command] of chunk.toString().matchAll(/\$\d+\r\n(hello|client|subscribe|evalsha|eval)\r\n/gi)) {
        if (command === 'subscribe')
          socket.write(['a', 'b', 'c', 'd'].map((name, i) => `>3\r\n+subscribe\r\n+${name}\r\n:${i + 1}\r\n`).join(''));
        else socket.write(command?.startsWith('eval') ? answers() : '+OK\r\n');
      }
    });
  }).listen(0, '127.0.0.1');
  cleanUp(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await once(server, 'listening');
  return server;
}

async function openState(server: Server, desk: Desk, heartbeatMs = 60_000): Promise<RedisState> {
  const url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state = await RedisState.open(
    { ...STORE_DEFAULTS, limitMs: 1000, heartbeatMs, connection: { url }, pool: 'p', gateway: gatewayId('g') },
    desk,
  );
  cleanUp(() => state.leave());
  return state;
}

const WRONG_HOLDING = '["g",-5,8,0,[0],0,0,0,0]';
/** Four gateways are live, the lease is known, and the ledger is empty. */
const HEARTBEAT = '*2\r\n:0\r\n*4\r\n+g\r\n+h\r\n+i\r\n+j\r\n';

describe('a store that lies', () => {
  it.each([
    ['an error', '-ERR broken\r\n'],
    ['nothing', '_\r\n'],
    ['a number', ':7\r\n'],
    ['another list', '*2\r\n+no\r\n+{"a":1}\r\n'],
    ['a list of lists that is none', `*2\r\n:0\r\n+[["e",{"since":1,"rev":1,"holdings":[${WRONG_HOLDING}]}]]\r\n`],
    ['a map', '%1\r\n+a\r\n:1\r\n'],
    ['a broken protocol', '!!!\r\n'],
  ])('by %s leaves the gateway alone, with an equal share', async (_, lie) => {
    let answer = HEARTBEAT;
    const desk = new Desk();
    const state = await openState(await liar(() => answer), desk);
    expect(state.state).toMatchObject({ up: true, live: 4, failures: 0 });
    answer = lie;
    const claim = claimOf('e', { window: 10, inFlight: 2 });
    await state.claim([claim]);
    await state.take(programId('t:p'));
    state.put(programId('t:p'), recordOf(1));
    await state.find(tenantId('t'), ['key']);
    await desk.until(() => !state.state.up);
    expect(state.state.error).toBeTypeOf('string');
    expect(desk.engines.get(engineId('e'))).toMatchObject({ slots: 3, inFlight: 6, waitingGateways: 0 });
    expect(await state.claim([claim])).toMatchObject([{ slots: 3 }]);
    expect(await state.take(programId('t:p'))).toBeUndefined();
  });
});

describe('a store that is not there', () => {
  it('delays the start by no more than a second, and is no reason to fail', async () => {
    const server = await liar(() => '');
    const state = await openState(server, new Desk());
    expect(state.state).toMatchObject({ up: false, live: 1 });
    expect(await state.claim([claimOf('e', { window: 10 })])).toMatchObject([{ slots: 10 }]);
    expect(await state.find(tenantId('t'), ['key'])).toBeUndefined();
  });

  it('leaves the gateway no more than its share as soon as it hears of others, while the store is not used yet', async () => {
    const answers: string[] = [];
    const desk = new Desk();
    const state = await openState(await liar(() => answers.pop() ?? '-ERR starting\r\n'), desk, 10);
    expect(await state.claim([claimOf('e', { window: 10 })])).toMatchObject([{ slots: 10 }]);
    answers.push(HEARTBEAT);
    await desk.until(() => desk.slots('e') === 3);
    expect(state.state).toMatchObject({ up: false, live: 4 });
  });

  it('must have names that its keys can hold', async () => {
    const options = { ...STORE_DEFAULTS, connection: { url: '/nowhere' }, gateway: gatewayId('g') };
    await expect(RedisState.open({ ...options, pool: 'a}b' }, new Desk())).rejects.toThrow(RangeError);
  });
});
