// A real Chromium for the tests of the console: where it lies, pages that remember what the browser
// complained about, and the check for accessibility. Tests that need it are skipped by name where
// there is none.

import { accessSync, constants, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
export const CHROMIUM = findChromium();

function findChromium(): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  for (const path of folders.flatMap((folder) => NAMES.map((name) => join(folder, name)))) {
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not here; the next folder may have it.
    }
  }
  return null;
}

export function launch(): Promise<Browser> {
  if (CHROMIUM === null) throw new Error('there is no chromium');
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
}

export interface Tab {
  context: BrowserContext;
  page: Page;
  /** dialogs, refused scripts and styles, errors of scripts */
  complaints: string[];
}

export async function openTab(
  browser: Browser,
  options: { scheme?: 'light' | 'dark'; scripts?: boolean; session?: string; base: string },
): Promise<Tab> {
  const context = await browser.newContext({
    colorScheme: options.scheme ?? 'light',
    javaScriptEnabled: options.scripts ?? true,
    acceptDownloads: true,
    baseURL: options.base,
  });
  if (options.session !== undefined) {
    await context.addCookies([
      { name: 'tieout-session', value: options.session, url: options.base, httpOnly: true },
    ]);
  }
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => complaints.push(`script: ${error.message}`));
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) complaints.push(message.text());
  });
  return { context, page, complaints };
}

/** Of a desk, the least one that shows all columns side by side, a small one, and a telephone. */
const WIDTHS = [1440, 1130, 1024, 390] as const;
/** Where the page is asked what keeps somebody from using it; beside them only whether it fits. */
const ASKED: readonly number[] = [1440, 1024, 390];

/**
 * What keeps somebody from using the page in a window of any width, what runs over its edge or is
 * cut; and in dark, what cannot be read. It is loaded once and made narrower.
 */
export async function findings(page: Page): Promise<Record<'light' | 'dark', string[]>> {
  const before = page.viewportSize() ?? { width: 1280, height: 800 };
  const light: string[] = [];
  const dark: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    const found = await tooWide(page);
    if (ASKED.includes(width)) found.push(...(await barriers(page)));
    light.push(...found.map((one) => `${width}: ${one}`));
    if (width !== 1440) continue;
    await page.emulateMedia({ colorScheme: 'dark' });
    dark.push(...(await barriers(page, ['color-contrast'])));
    await page.emulateMedia({ colorScheme: 'light' });
  }
  await page.setViewportSize(before);
  return { light, dark };
}

/** What runs over the edge of the window, or of the box that it stands in. */
async function tooWide(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(
    `[document.documentElement, ...document.querySelectorAll('body *')]
      .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 1)
      .filter((one) => one === document.documentElement || one.matches('table') ||
        (getComputedStyle(one).overflowX !== 'visible' && !one.matches('input, select, textarea')))
      .map((one) => [one.tagName.toLowerCase(),
        one.getAttribute('aria-label') ?? one.caption?.textContent ?? one.className,
        one.scrollWidth, 'of', one.clientWidth].join(' '))`,
  );
}

/** How many of each role the browser tells of the tables of a page. */
export async function tableRoles(page: Page): Promise<Record<string, number>> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  const counts: Record<string, number> = {};
  for (const { ignored, role } of nodes) {
    const name = String(role?.value);
    if (ignored || !/^(table|row|cell|rowheader|columnheader)$/.test(name)) continue;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** How a row, and a figure in it, stand in a window of this width. */
export async function figuresAt(page: Page, width: number): Promise<string[]> {
  const before = page.viewportSize() ?? { width: 1440, height: 800 };
  await page.setViewportSize({ width, height: 800 });
  const look = await page.evaluate<string[]>(
    `[getComputedStyle(document.querySelector('tbody tr')).display,
      getComputedStyle(document.querySelector('tbody td.figure')).textAlign]`,
  );
  await page.setViewportSize(before);
  return look;
}

/** Where the heads of the last table stand in a window of this width, scrolled to its last row. */
export async function headAfterScroll(page: Page, width: number): Promise<number> {
  const before = page.viewportSize() ?? { width: 1440, height: 800 };
  await page.setViewportSize({ width, height: 400 });
  await page.locator('tbody tr').last().scrollIntoViewIfNeeded();
  const top = await page.evaluate<number>(
    `[...document.querySelectorAll('table')].at(-1).querySelector('thead :is(.by, th)')
      .closest('th').getBoundingClientRect().top`,
  );
  await page.setViewportSize(before);
  return top;
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  id: string;
  nodes: { html: string }[];
}

/** Nothing is worked out that no test reads. */
const QUICKLY = `{ resultTypes: ['violations'], selectors: false, preload: false }`;
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** What keeps somebody from using the page, by WCAG 2.2 A and AA, or by these rules alone. */
async function barriers(page: Page, rules: readonly string[] = WCAG): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  const findings = await page.evaluate<Finding[]>(
    `axe.run(document, { runOnly: ${JSON.stringify(rules)}, ...${QUICKLY} })
      .then(({ violations }) => violations.map(({ id, nodes }) =>
        ({ id, nodes: nodes.map(({ html }) => ({ html })) })))`,
  );
  return findings.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
