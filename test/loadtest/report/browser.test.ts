import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeReporter } from '../../../loadtest/report/index.js';
import { options, playRun, summary } from './made-up.js';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const TARGETS = ['http://127.0.0.1:8000', 'http://127.0.0.1:8001'];

// Reads what Debian's `chromium` package installs, or what the variable CHROMIUM names.
describe.skipIf(!existsSync(CHROMIUM))(`the page in a browser (${CHROMIUM})`, () => {
  let browser: Browser;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'maitred-page-'));
    for (const count of [1, 2]) {
      const html = join(folder, `${count}.html`);
      const reporter = makeReporter(options({ targets: TARGETS.slice(0, count), html }));
      playRun(reporter, { programs: 120, targets: count });
      await reporter.finish(summary({ warnings: ['Prompts are of about the wanted length only.'] }));
    }
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  it.each([1, 2])('of %d target(s) fits narrow and wide windows, and is quiet', async (count) => {
    const page = await browser.newPage();
    const [messages, requests]: [string[], string[]] = [[], []];
    page.on('console', (message) => messages.push(message.text()));
    page.on('pageerror', (error) => messages.push(String(error)));
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(pathToFileURL(join(folder, `${count}.html`)).href);
    for (const width of [400, 1400]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width);
    }
    expect(await page.locator('svg.chart').count()).toBeGreaterThan(7);
    expect(messages).toEqual([]);
    expect(requests.filter((url) => !/^(file|data):/.test(url))).toEqual([]);
    await page.close();
  });

  it('has text on the other side of its background, light and dark, and charts that are whole without it', async () => {
    const page = await browser.newPage();
    const file = join(folder, '2.html');
    await page.goto(pathToFileURL(file).href);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const colours = await page.evaluate<string[]>(
        '[getComputedStyle(document.body).backgroundColor, ...["body", "td", "svg.chart text", "figcaption"].map((each) => getComputedStyle(document.querySelector(each)).color)]',
      );
      const [ground = NaN, ...texts] = colours.map(brightness);
      expect(Math.min(...texts.map((text) => Math.abs(ground - text)))).toBeGreaterThan(0.5);
      expect(ground > 0.5).toBe(colorScheme === 'light');
    }
    const charts = readFileSync(file, 'utf8').match(/<svg .*?<\/svg>/gs)!;
    const broken = `${JSON.stringify(charts)}.filter((text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror') !== null).length`;
    expect([charts.length > 7, await page.evaluate<number>(broken)]).toEqual([true, 0]);
    await page.close();
  });
});

/** From 0 to 1, of a colour as browsers compute it. */
function brightness(colour: string): number {
  const numbers = colour
    .match(/[\d.]+/g)!
    .map(Number)
    .slice(0, 3);
  const most = colour.startsWith('rgb') ? 255 : 1;
  return numbers.reduce((sum, each) => sum + each / most / 3, 0);
}
