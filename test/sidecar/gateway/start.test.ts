import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../../processes/process.js';
import { startGateway } from '../../../sidecar/index.js';
import { serve } from '../../support/serve.js';
import { MODEL, ask, chat, cleanUp, completionBody, configOf, gate, until, world } from './world.js';

/** An engine that answers each request, its first probe too, once `opened` allows it. */
async function lateEngine(opened: () => Promise<void>) {
  let asked = 0;
  const url = await serve((request, response) => {
    asked += 1;
    void opened().then(() => {
      response.setHeader('content-type', 'application/json');
      const models = { object: 'list', data: [{ id: MODEL, object: 'model' }] };
      response.end(JSON.stringify(request.url === '/v1/models' ? models : completionBody()));
    });
  });
  return { url, asked: () => asked };
}

it('starts with any time for bodies and headers, whole quarters or not', async () => {
  const gateway = await startGateway(configOf([], { timeouts: { bodyMs: 1501 }, log: { level: 'silent' } }));
  cleanUp(() => gateway.close());
  expect((await ask(`${gateway.url}/healthz`)).status).toBe(200);
});

const PATIENT = { health: { timeoutMs: 86_400_000 } };

describe('while the engines are asked for the first time', () => {
  it('tells that it lives and is not ready, and lets calls wait for them', async () => {
    const { opened, open } = gate();
    const engine = await lateEngine(() => opened);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const starting = startGateway(configOf([engine], { ...PATIENT, listen: { port }, log: { level: 'silent' } }));
    cleanUp(async () => (await starting).close());
    await until(() => engine.asked() > 0);
    await until(() => ask(`${url}/healthz`).catch(() => undefined));
    expect((await ask(`${url}/healthz`)).status).toBe(200);
    expect((await ask(`${url}/readyz`)).status).toBe(503);
    const call = chat(url);
    const models = ask(`${url}/v1/models`);
    expect((await ask(`${url}/engines`)).json()['engines']).toMatchObject([{ state: 'starting' }]);
    open();
    await starting;
    expect((await call).status).toBe(200);
    expect((await models).json()['data']).toHaveLength(1);
    expect((await ask(`${url}/readyz`)).status).toBe(200);
  });

  it('waits for a whole first probe, longer than the time limit of one of its questions', async () => {
    const engine = await lateEngine(() => sleep(500));
    const { chat } = await world([engine], { engines: [{ url: engine.url, kind: 'auto' }], health: {} });
    expect((await chat()).status).toBe(200);
  });

  it('has found a taken port already', async () => {
    const [engine, other] = [
      await lateEngine(() => new Promise(() => undefined)),
      await lateEngine(() => new Promise(() => undefined)),
    ];
    const port = Number(new URL(other.url).port);
    const starting = startGateway(configOf([engine], { ...PATIENT, listen: { port }, log: { level: 'silent' } }));
    await expect(starting).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
