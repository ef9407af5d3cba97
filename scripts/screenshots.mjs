/**
 * Makes the picture of the README: a gateway with embedded engines, its demo fleet, and its page in a Chromium (Debian's
 * package, or what the variable CHROMIUM names).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const PICTURE = 'docs/images/page-light.png';
/** Programs that have ended by then: enough for the charts to show something. */
const PROGRAMS = 30;

const gateway = spawn(process.execPath, ['dist/cli/main.js', 'serve', '--embedded', '2', '--port', '0'], {
  stdio: ['ignore', 'ignore', 'pipe'],
});
try {
  let url;
  for await (const line of createInterface({ input: gateway.stderr })) {
    url = /^Page: (\S+)$/.exec(line)?.[1];
    if (url !== undefined) break;
  }
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 1240 }, reducedMotion: 'reduce' });
  await page.goto(url);
  await page.getByRole('button', { name: 'Send a demo fleet' }).click();
  await page.waitForFunction(
    (least) =>
      Number(/(\d+) completed programs/.exec(document.querySelector('.totals')?.textContent ?? '')?.[1]) >= least,
    PROGRAMS,
    { timeout: 180_000 },
  );
  await page.locator('.programs tr.waiting').first().waitFor();
  await page.screenshot({ path: PICTURE });
  await browser.close();
} finally {
  gateway.kill();
  await once(gateway, 'exit');
}
