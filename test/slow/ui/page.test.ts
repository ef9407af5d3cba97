import { describe, expect, it } from 'vitest';
import { startGateway } from '../../../sidecar/index.js';
import {
  DONE_EVENT,
  STOP_EVENT,
  TEXT_EVENT,
  USAGE_EVENT,
  ask,
  chat,
  cleanUp,
  configOf,
  fakeEngine,
  gate,
  named,
  stream,
  until,
  world,
} from '../../sidecar/gateway/world.js';
import { SHADOW, slower } from '../../support/shadow.js';
import { BUSY_MS, CHROMIUM, HIDDEN_WIDTH, axe, canRun, openPage } from './browser.js';

const HOSTILE = `"><script>alert('id')</script><img src=x onerror=alert(1)>`;
const ANSWER = [TEXT_EVENT, STOP_EVENT, USAGE_EVENT, DONE_EVENT];

/** A gateway with an engine of one slot: one program has ended calls, one runs, one waits; names are hostile. */
async function scene() {
  const held = gate();
  let isHeld = false;
  const engine = await fakeEngine(async (response, seen, request) => {
    if (isHeld) await held.opened;
    await stream(ANSWER)(response, seen, request);
  });
  const { url, adminUrl } = await world([engine], {
    engines: [{ url: engine.url, kind: 'openai', id: 'gpu-1', window: 1, capacityTokens: 1000 }],
    health: { timeoutMs: BUSY_MS },
  });
  for (const thread of ['', 'sub', HOSTILE])
    await chat(url, { stream: true }, { ...named('first'), ...(thread !== '' && { 'x-maitred-thread': thread }) });
  await chat(url, { stream: true }, named(HOSTILE));
  isHeld = true;
  const calls: Promise<unknown>[] = [];
  for (const [program, state] of Object.entries({ runs: 'running', waits: 'waiting' })) {
    calls.push(chat(url, { stream: true }, named(program)));
    await until(async () => (await ask(`${adminUrl}/programs?state=${state}`)).json()['total'] === 1, BUSY_MS);
  }
  cleanUp(async () => {
    held.open();
    await Promise.all(calls);
  });
  return { adminUrl, held };
}

describe.skipIf(!canRun)(`the page in a browser (${CHROMIUM})`, () => {
  it('is whole in both themes, wide and narrow, clean for axe, and asks nobody else', async () => {
    const { adminUrl } = await scene();
    const { page, complaints, foreign } = await openPage(`${adminUrl}/ui`);
    await page.getByRole('link', { name: 'waits' }).waitFor();
    for (const path of ['/ui', '/ui?program=default%3Afirst', '/ui?program=default%3Awaits']) {
      await page.goto(`${adminUrl}${path}`);
      await page.locator('h2').first().waitFor();
      await page.waitForTimeout(300);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        for (const width of [400, 800, 1280, 1600]) {
          await page.setViewportSize({ width, height: 900 });
          // Charts follow a moment later. No column is clipped.
          const widths = () => page.evaluate<number[]>(`[document.documentElement.scrollWidth, ${HIDDEN_WIDTH}]`);
          await expect.poll(widths, { message: path, timeout: BUSY_MS }).toEqual([width, 0]);
        }
        expect(await axe(page)).toEqual([]);
      }
    }
    expect(complaints).toEqual([]);
    expect(foreign).toEqual([]);
  });

  it('shows the estimate against pass-through, or why there is no figure, and how far the demo fleet is', async () => {
    const demo = { progress: { ended: 14, total: 80 }, start: () => undefined };
    const { adminUrl } = await world([await fakeEngine()], {}, { shadow: SHADOW, demo });
    const { page, see, complaints } = await openPage(`${adminUrl}/ui`);
    await see('m, adapter: Programs end 1.30x faster than without scheduling (1.10 to 1.50).');
    await page.getByRole('button', { name: 'Demo: 14 of 80 programs ended', disabled: true }).waitFor();
    await see('even: No difference that can be told. Mean of 30 programs');
    await see(
      /^other: No figure: fewer than 20 programs began and ended since the last start, reload or change of engines \(12 programs of the 15 min until .*\)\.$/,
    );
    const losing = await world([await fakeEngine()], {}, { shadow: slower() });
    await page.goto(`${losing.adminUrl}/ui/programs/nope`);
    await see('No such program is here, or several are; see those whose names have it: present or ended.');
    await page.locator('.status .warn', { hasText: 'ended an estimated 1.25x slower' }).waitFor();
    await see(/^What helps: compare policy\.name: pass-through/);
    expect(await axe(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('shows failures apart from those by the client’s fault, and why there is no estimate', async () => {
    const engine = await fakeEngine(
      (response) => void response.writeHead(404, { 'content-type': 'application/json' }).end('{}'),
    );
    const none = { ...SHADOW, latest: () => ({ made_at: 0, window_seconds: 20, took_seconds: 0, pools: [] }) };
    const { url, adminUrl } = await world([engine], {}, { shadow: none });
    for (const model of [undefined, 'other', 'other']) await chat(url, model === undefined ? {} : { model });
    const { page, see, complaints } = await openPage(`${adminUrl}/ui`);
    await see(/^1 of 3 calls failed in the last 5 min with engine_404/);
    expect(await page.locator('.status .warn').count()).toBe(1);
    await see('What helps: look up in docs/OPERATIONS.md#errors what each code asks for.');
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toContain('warn');
    await see(/^of 3 calls; 2 by clients’ fault$/);
    await see('No figure: no engine is in service.');
    expect(await axe(page)).toEqual([]);
    await page.getByTitle(/^Completed: answered, and ended or not called/).waitFor();
    await page.getByRole('button', { name: 'Ended' }).click();
    await see(/^None yet: .* Completed ones .* are present until then\.$/);
    expect(complaints).toEqual([]);
    const plain = await world([engine]);
    await page.goto(`${plain.adminUrl}/ui`);
    await see('No estimate is made: shadow.enabled is false.');
    const early = await world([engine], {}, { shadow: { ...none, latest: () => undefined } });
    await page.goto(`${early.adminUrl}/ui`);
    await see(/^No estimate yet: it takes a minute, and 20 programs/);
  });

  it('shows names as they are', async () => {
    const { adminUrl } = await scene();
    const { page, see, complaints } = await openPage(`${adminUrl}/ui`);
    const link = page.locator('.programs a', { hasText: '<script>' });
    await link.waitFor();
    await link.click();
    expect(await page.locator('h2').textContent()).toContain('<script>');
    await page.goto(`${adminUrl}/ui?program=default%3Afirst`);
    await page.locator('.thread', { hasText: 'script' }).waitFor();
    // Its three calls ran for the same reason.
    expect((await page.locator('.ended .reason').allTextContents()).slice(1)).toEqual([]);
    await page.goto(`${adminUrl}/ui?program=${'x'.repeat(10_000)}&text=${encodeURIComponent(HOSTILE)}`);
    await see(/^No such program is here/);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(1280);
    expect(complaints).toEqual([]);
  });

  it('follows calls, says why one waits and where one ran, and ends a program', async () => {
    const { adminUrl, held } = await scene();
    const { page, see } = await openPage(`${adminUrl}/ui?state=waiting`);
    await see(/^1 call runs, 1 waits for the window, the longest for /);
    await expect.poll(() => page.title()).toBe('1 waiting – maitred');
    await page.locator('tr.waiting', { hasText: 'window' }).waitFor();
    await see('Its window is full.');
    expect(await page.locator('.programs tbody a').allTextContents()).toEqual(['waits']);
    await page.getByRole('link', { name: 'waits' }).click();
    await page
      .locator('.text')
      .getByText(/has waited .* for the window of [\s\S]* at level 0 /)
      .waitFor();
    await page.getByRole('button', { name: 'End this program' }).click();
    await see(/^Program "waits" ends, because an operator ended it; 1 call still waits\./);
    expect(await page.getByRole('button', { name: 'End this program' }).count()).toBe(0);
    held.open();
    await see(
      /^Program "waits" ended .* ago: an operator ended it\.\nIt had 1 call in .*\nIts last call, \S+ on gpu-1: Answered after /,
    );
    // Its history stays.
    await page.locator('.ended', { hasText: /Answered after .* It waited .* when its turn came/ }).waitFor();
    await page.goto(`${adminUrl}/ui/programs/waits`);
    await see(/^Program "waits" ended .* ago: an operator ended it\.\nIt had 1 call in /);
    expect(await page.locator('.calls li').count()).toBe(1);
    await page.goto(`${adminUrl}/ui?state=waiting`);
    await see('No program matches.');
    await page.getByRole('button', { name: 'Ended' }).click();
    await page.getByRole('columnheader', { name: 'Queued, %' }).waitFor();
    await page
      .locator('.programs tr', { hasText: 'an operator ended it' })
      .getByRole('link', { name: 'waits' })
      .waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'waits' }).waitFor();
    await page.getByText('1 program', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Took' }).click();
    await page.waitForURL(/sort=-duration_seconds/);
    await page.getByLabel('Text').fill('none like this');
    await page.getByText('No program matches.').waitFor();
    await page.getByLabel('Text').fill('wai');
    await page.getByRole('link', { name: 'waits' }).waitFor();
    expect(await axe(page)).toEqual([]);
  });

  it('says which engine is down, since when and why, and drains and returns one', async () => {
    const [away, there] = [await fakeEngine(), await fakeEngine()];
    const { adminUrl } = await world([away, there], {
      engines: [away, there].map(({ url }, at) => ({ url, kind: 'openai', id: `gpu-${at + 1}` })),
      health: { intervalMs: 100, failuresMax: 1 },
    });
    const { page, see } = await openPage(`${adminUrl}/ui`);
    await see('2 engines up.');
    await page.getByRole('button', { name: 'Drain: gpu-2' }).click();
    await see(/^Has been drained for .*: it takes no calls until/);
    await page.getByRole('button', { name: 'Return to service: gpu-2' }).click();
    await see('2 engines up.');
    await away.close();
    await see(/^gpu-1 has been down for .* \(.*\)/);
    expect(await page.locator('.status .bad').allTextContents()).toEqual([
      expect.stringMatching(/^gpu-1 has been down for .*\.$/),
    ]);
    await expect.poll(() => page.title()).toBe('gpu-1 down – maitred');
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toContain('alarm');
    expect(await axe(page)).toEqual([]);
    const asked: string[] = [];
    page.on('dialog', (dialog) => asked.push(dialog.message()));
    await page.getByRole('button', { name: 'Drain: gpu-2' }).click();
    await see(/^Has been drained for .*: it takes no calls until/);
    expect(asked[1]).toMatch(/^No other engine in service serves m: calls for it would fail/);
  });

  it('is used by keyboard, and keeps its view in the URL', async () => {
    const { adminUrl } = await scene();
    const { page, see } = await openPage(`${adminUrl}/ui`);
    await page.getByRole('button', { name: 'Calls' }).press('Enter');
    await page.waitForURL(/sort=-calls/);
    expect(await page.locator('th[aria-sort="descending"]').textContent()).toContain('Calls');
    await page.locator('.programs a', { hasText: 'first' }).first().press('Enter');
    await page.waitForURL(/program=default%3Afirst/);
    await page.reload();
    await see('Ended calls');
    expect(await page.locator('.lane-name').allTextContents()).toContain('sub');
  });

  it('groups programs by tenant, model or type, and shows those of one', async () => {
    const { adminUrl } = await scene();
    const { page, see, complaints } = await openPage(`${adminUrl}/ui`);
    await page.getByRole('button', { name: 'By model' }).click();
    await see(/^1 group of present programs\.?$/);
    expect(await page.locator('.programs tbody td').allTextContents()).toEqual([
      '4',
      '4',
      '1',
      '1',
      expect.stringMatching(/s$/),
      '6',
      ...Array<unknown>(4).fill(expect.stringMatching(/\d/)),
    ]);
    expect(await axe(page)).toEqual([]);
    await page.setViewportSize({ width: 400, height: 900 });
    await expect.poll(() => page.evaluate<number>(HIDDEN_WIDTH)).toBe(0);
    await page.locator('.programs tbody a').click();
    await see('4 programs');
    await page.waitForURL(/model=/);
    await page.getByLabel('Model').selectOption('any');
    await page.getByLabel('Model').waitFor({ state: 'detached' });
    // Of a program that has ended, the click leads to where it is.
    expect((await ask(`${adminUrl}/programs/first/end`, { method: 'POST' })).status).toBe(200);
    await page.goto(`${adminUrl}/ui?tab=model&text=first`);
    await see(/^1 group of present programs, and of those that ended since \d+ \w+, \d\d:\d\d \(500 at most\)$/);
    await page.locator('.programs tbody a').click();
    await page.waitForURL(/tab=ended/);
    await page.getByRole('link', { name: 'first' }).waitFor();
    await page.goto(`${adminUrl}/ui?tab=nothing&agent_type=none-like-this`);
    await see('No program matches.');
    expect(complaints).toEqual([]);
  });

  it('reconnects to a gateway that was started again', async () => {
    const engine = await fakeEngine();
    const first = await startGateway(configOf([engine]));
    const { page, see } = await openPage(`${first.adminUrl}/ui`);
    await page.locator('.badge.live').waitFor();
    await first.close();
    await page.locator('.badge.reconnecting').waitFor();
    await see(/^No answer from the gateway since [\d:]{8}: is it running\? What is below is its last state\./);
    await page.getByRole('button', { name: /^Drain/, disabled: true }).waitFor();
    const second = await startGateway(configOf([engine], { listen: { port: Number(new URL(first.url).port) } }));
    cleanUp(() => second.close());
    await page.locator('.badge.live').waitFor();
    await chat(second.url, {}, named('after'));
    await page.getByRole('link', { name: 'after' }).waitFor();
  });

  it('asks for the token, and keeps it for the tab', async () => {
    const { adminUrl } = await world([], { admin: { token: 'admin-token' } });
    const { page, see } = await openPage(`${adminUrl}/ui`);
    for (const wrong of ['no header may hold ☃', 'wrong-token']) {
      await page.getByLabel('Admin token').fill(wrong);
      await page.getByRole('button', { name: 'Open' }).click();
      await see('This token is wrong.');
    }
    expect(await axe(page)).toEqual([]);
    await page.getByLabel('Admin token').fill('admin-token');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.locator('.badge.live').waitFor();
    await page.reload();
    await page.locator('.badge.live').waitFor();
  });
});
