import { describe, expect, it } from 'vitest';
import { ask, bearer, chat, fakeEngine, keysOf, named, world } from '../../sidecar/gateway/world.js';
import { BUSY_MS, CHROMIUM, HIDDEN_WIDTH, canRun, openPage } from './browser.js';

describe.skipIf(!canRun)(`the table of programs (${CHROMIUM})`, () => {
  it('keeps each program beside its tenant, and why it ended in reach', async () => {
    const engine = await fakeEngine();
    const { url, adminUrl } = await world([engine], {
      auth: { keys: keysOf('research', 'support') },
      admin: { port: 0 },
    });
    for (const [tenant, name] of Object.entries({ research: `#129 ${'of a batch '.repeat(5)}`, support: 'short' }))
      await chat(url, {}, { ...named(name), ...bearer(tenant) });
    const { page } = await openPage(`${adminUrl}/ui`);
    await page.getByRole('link', { name: '#129' }).waitFor();
    expect((await ask(`${adminUrl}/programs/short/end`, { method: 'POST' })).status).toBe(200);
    for (const tab of ['', 'tenant', 'ended']) {
      await page.goto(`${adminUrl}/ui?tab=${tab}`);
      await page.locator('.programs').waitFor();
      for (const width of [400, 800, 1280, 1600]) {
        await page.setViewportSize({ width, height: 900 });
        const hidden = () => page.evaluate<number>(HIDDEN_WIDTH);
        await expect.poll(hidden, { message: `${tab} ${width}`, timeout: BUSY_MS }).toBe(0);
      }
    }
    const why = page.locator('td.why');
    for (const width of [400, 800, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await why.scrollIntoViewIfNeeded();
      expect((await page.locator('.programs tbody th').boundingBox())?.x).toBeGreaterThan(0);
      const { x = NaN, width: own = NaN } = (await why.boundingBox()) ?? {};
      expect(x + own).toBeLessThanOrEqual(width);
    }
  });

  it('cuts no name in the table, headings or cards: names may differ anywhere', async () => {
    const [id, model, name] = [
      `gpu-17.${'zone.'.repeat(12)}local:8000`,
      `org/${'model-'.repeat(12)}8B`,
      `swe-bench/${'task-'.repeat(20)}a1b2c3d4`,
    ];
    const engine = await fakeEngine();
    const { url, adminUrl } = await world([engine], {
      balancer: { name: 'sticky' },
      engines: [{ url: engine.url, kind: 'openai', id, models: [model, 'm'] }],
    });
    await chat(url, {}, named('other'));
    await chat(url, { model }, named(name));
    const { page } = await openPage(`${adminUrl}/ui`);
    const row = page.locator('.programs tbody tr', { hasText: 'swe-bench' });
    await row.waitFor();
    expect(await row.locator('a, .engine, .model').allTextContents()).toEqual([name, id, model.slice(4)]);
    expect(await row.locator('td.model').getAttribute('title')).toBe(model);
    await page.setViewportSize({ width: 400, height: 900 });
    expect(
      await page.evaluate<number>(
        `[...document.querySelectorAll('tbody :is(th, td)')].reduce((sum, { scrollWidth, clientWidth }) => sum + scrollWidth - clientWidth, 0)`,
      ),
    ).toBe(0);
    expect(await page.locator('.card h3 button').textContent()).toBe(id);
    await row.getByRole('link').click();
    await page.locator('dd').getByText(model).waitFor();
    expect(await page.locator('h2').first().textContent()).toBe(name);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(400);
  });

  it('goes through a long table in parts', async () => {
    const engine = await fakeEngine();
    const { url, adminUrl } = await world([engine]);
    for (let program = 0; program < 250; program += 1) await chat(url, {}, named(`program-${program}`));
    const { page, see } = await openPage(`${adminUrl}/ui?sort=-age_seconds`);
    const names = page.locator('.programs tbody a');
    await see('1 to 100 of 250');
    await page.getByRole('button', { name: 'Next' }).click();
    await see('101 to 200 of 250');
    expect([await names.first().textContent(), await names.count()]).toEqual(['program-100', 100]);
    await page.getByRole('button', { name: 'Next' }).click();
    await see('201 to 250 of 250');
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
    await page.reload();
    await see('201 to 250 of 250');
    await page.getByLabel('Text').fill('program-24');
    await expect.poll(() => names.count()).toBe(11);
  });
});
