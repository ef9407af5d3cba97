import { describe, expect, it } from 'vitest';
import { chat, fakeEngine, named, world } from '../../sidecar/gateway/world.js';
import { CHROMIUM, canRun, openPage } from './browser.js';

describe.skipIf(!canRun)(`the page where the gateway refuses something (${CHROMIUM})`, () => {
  /** With two programs. */
  async function opened(query = '') {
    const { url, adminUrl } = await world([await fakeEngine()]);
    for (const number of [30, 40]) await chat(url, {}, named(`program-${number}-27838d`));
    const { page, see } = await openPage(`${adminUrl}/ui${query}`);
    const names = page.locator('.programs tbody a');
    await expect.poll(() => names.allTextContents()).toEqual(['program-40-27838d', 'program-30-27838d']);
    return { page, see, names };
  }

  it('leaves out of its address what the gateway does not know', async () => {
    const { page, see } = await opened('?tab=nothing&state=bogus&sort=nothing&range=2d&model=m');
    await see(/^1 engine up\./);
    await page.waitForURL(/\?tab=nothing&model=m$/);
    expect(await page.getByRole('button', { name: 'Present' }).getAttribute('aria-pressed')).toBe('true');
  });

  it('says what to do where it cannot load its scripts', async () => {
    const { page, see } = await opened();
    await page.route('**/*.js', (route) => route.abort());
    await page.reload();
    await see('If this stays, the page could not load its scripts: reload it.');
  });

  it('keeps what it shows while the gateway tells no more', async () => {
    const { page, see, names } = await opened();
    const body = JSON.stringify({ error: { message: 'Too many watch.' } });
    await page.route('**/stream?*', (route) => route.fulfill({ status: 503, body }));
    await page.getByLabel('Text').fill('30');
    await see('Too many watch. What is below is its last state.');
    expect(await names.count()).toBe(2);
    await page.unroute('**/stream?*');
    await see(/^1 engine up\./);
    await expect.poll(() => names.count()).toBe(1);
  });
});
