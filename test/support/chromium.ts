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
const WIDTHS = [1440, 1130, 1024, 390];

/** What runs over the edge of a window of one of the widths: the page itself, or a table of it. */
export async function tooWide(page: Page, widths: readonly number[] = WIDTHS): Promise<string[]> {
  const before = page.viewportSize() ?? { width: 1280, height: 800 };
  const found: string[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    const over = await page.evaluate<string[]>(
      `[document.documentElement, ...document.querySelectorAll('.wide, table')]
        .map((one) => [one, one.scrollWidth, one.closest('.wide')?.clientWidth ?? innerWidth])
        .filter(([, has, room]) => has > room)
        .map(([one, has, room]) => [one.tagName.toLowerCase(),
          one.getAttribute('aria-label') ?? one.caption?.textContent ?? '', has, 'of', room].join(' '))`,
    );
    found.push(...over.map((one) => `${width}: ${one}`));
  }
  await page.setViewportSize(before);
  return found;
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

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  id: string;
  nodes: { html: string }[];
}

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/**
 * What keeps somebody from using the page, by WCAG 2.2 A and AA, or by these rules alone; empty is
 * well.
 */
export async function barriers(page: Page, rules: readonly string[] = WCAG): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  const findings = await page.evaluate<Finding[]>(
    `axe.run(document, { runOnly: ${JSON.stringify(rules)} })
      .then(({ violations }) => violations.map(({ id, nodes }) =>
        ({ id, nodes: nodes.map(({ html }) => ({ html })) })))`,
  );
  return findings.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
