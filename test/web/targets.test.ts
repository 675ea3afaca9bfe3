// What is pressed on the console is as large as WCAG 2.2 asks (2.5.8), and a wide table does not
// make the page wider than the window. A real Chromium with the console's own style sheet.

import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { CHROMIUM, launch } from '../support/chromium.js';

const css = readFileSync(new URL('../../src/web/assets/console.css', import.meta.url), 'utf8');
const HEADS = ['State', 'Captured', 'Refunded', 'Net', 'Differs'];
const WORDS = ['2026-11-23 04:15:09', 'finb (as said on the command line)', 'waived'];
const LONG = 'SO-20261116-000127-as-somebody-numbered-it-long-ago';
const page = `<!doctype html><html lang="en"><head><style>${css}</style></head><body>
  <nav class="pager"><a href="/">Next page</a></nav>
  <div class="wide"><table class="tight fits"><thead><tr>${HEADS.map(
    (head) => `<th><a class="by" href="/">${head}</a></th>`,
  ).join('')}</tr></thead></table></div>
  <div class="wide"><table class="lists fits trail"><tbody><tr><th>${WORDS.join('</th><th>')}</th>
    ${`<td>${LONG}</td>`.repeat(3)}</tr></tbody></table></div></body></html>`;

it.runIf(CHROMIUM !== null).each([1440, 1024])('at %i', async (width) => {
  const browser = await launch();
  onTestFinished(() => browser.close());
  const tab = await browser.newPage({ viewport: { width, height: 800 } });
  await tab.setContent(page);
  for (const pressed of await tab.locator('a').all()) {
    const box = await pressed.boundingBox();
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(24);
  }
  expect(await tab.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
});
