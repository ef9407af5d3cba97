import axeCore from 'axe-core';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { ROOT } from '../../support/tree.js';

export const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
/** Debian's package, and the built page. */
export const canRun = existsSync(CHROMIUM) && existsSync(join(ROOT, 'dist/ui/index.html'));

/** What anything may take while a browser shares the machine. */
export const BUSY_MS = 30_000;

/** A script that measures how much of the process table is out of sight, but on phones, or of its heads beyond their columns. */
export const HIDDEN_WIDTH = `(() => {
  const boxes = [...document.querySelectorAll(innerWidth > 640 ? '.scroller, .programs thead th' : '.programs thead th')];
  return boxes.reduce((sum, box) => sum + box.scrollWidth - box.clientWidth, 0);
})()`;

let browser: Browser | undefined;
beforeAll(async () => {
  if (canRun) browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
});
afterAll(() => browser?.close());

/** A page whose complaints, and whose requests to elsewhere, a test can look at; closed with the test. */
export async function openPage(url: string) {
  const page = await browser!.newPage({ viewport: { width: 1280, height: 900 } });
  onTestFinished(() => page.close());
  const complaints: string[] = [];
  const foreign: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    if (dialog.type() === 'confirm') return void dialog.accept();
    complaints.push(dialog.message());
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(url).origin)) foreign.push(request.url());
  });
  await page.goto(url);
  const see = (text: string | RegExp) => page.getByText(text).waitFor();
  return { page, see, complaints, foreign };
}

/** What axe finds wrong: rules and elements. */
export async function axe(page: Page): Promise<string[]> {
  await page.evaluate(axeCore.source);
  return page.evaluate<string[]>(
    `axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ' ' + html)))`,
  );
}
