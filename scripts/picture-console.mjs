// Pictures of the console's main pages for docs/: runs a demo in a folder of its own, opens the
// console, makes the first account by its link, and takes what a person would see. Needs chromium.
// usage: npm run build && node scripts/picture-console.mjs [folder for the pictures]

import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const PROGRAM = fileURLToPath(new URL('../bin/tieout.js', import.meta.url));
const target = resolve(
  process.argv[2] ?? fileURLToPath(new URL('../docs/pictures', import.meta.url)),
);
const PASSWORD = 'a picture needs a password';
const OPEN_WAIT_MS = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'tieout-pictures-'));
chmodSync(folder, 0o755);
mkdirSync(target, { recursive: true });
let web = null;
let browser = null;
try {
  execFileSync(process.execPath, [PROGRAM, 'demo', '--orders', '1000'], { cwd: folder });
  const config = join(folder, 'tieout.yaml');
  writeFileSync(config, readFileSync(config, 'utf8').replace('port: 8080', 'port: 0'));
  web = spawn(process.execPath, [PROGRAM, 'web'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const link = await firstLink(web);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  await takeAll(browser, link);
} finally {
  await browser?.close();
  if (web !== null) {
    web.kill('SIGTERM');
    await new Promise((done) => web.once('close', done));
  }
  rmSync(folder, { recursive: true, force: true });
}

function firstLink(child) {
  return new Promise((found, failed) => {
    let said = '';
    const late = setTimeout(() => failed(new Error(`no link in: ${said}`)), OPEN_WAIT_MS);
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said += text;
      const [link] = /http:\S+\/welcome\/[^\s"]+/.exec(said) ?? [];
      if (link === undefined) return;
      clearTimeout(late);
      found(link);
    });
  });
}

async function takeAll(chrome, link) {
  const context = await chrome.newContext({ viewport: { width: 1200, height: 780 } });
  const page = await context.newPage();
  await page.goto(link);
  await page.fill('#name', 'ada');
  await page.fill('#password', PASSWORD);
  await page.fill('#again', PASSWORD);
  await page.click('button.main');
  await page.getByRole('heading', { level: 1, name: 'Run of' }).waitFor();
  await take(page, 'tonight');
  await page.goto(new URL('/breaks', link).href);
  await take(page, 'breaks');
  await page.locator('tbody th a').first().click();
  await page.getByRole('heading', { level: 1, name: 'Order' }).waitFor();
  await take(page, 'order');
  await page.goto(new URL('/approvals', link).href);
  await take(page, 'approvals');
  await page.goto(new URL('/audit', link).href);
  await take(page, 'audit');
  await page.goto(new URL('/days', link).href);
  await page.locator('main tbody a[href^="/days/"]').first().click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await take(page, 'day');
  await page.goto(link.replace(/\/welcome\/.*/, '/'));
  await page.getByRole('link', { name: 'The statement to sign' }).click();
  await page.getByRole('heading', { level: 1, name: 'Statement' }).waitFor();
  await take(page, 'statement');
  await page.locator('main a[href*="/statement/lines"]').first().click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await take(page, 'statement-lines');
  await page.goto(new URL('/authorisations?show=all', link).href);
  await take(page, 'reservations');
  await page.goto(new URL('/breaks/causes', link).href);
  await take(page, 'causes');
  await page.setViewportSize({ width: 390, height: 780 });
  await page.goto(new URL('/approvals', link).href);
  await take(page, 'approvals-phone');
  await page.setViewportSize({ width: 1200, height: 780 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(new URL('/instructions/1', link).href);
  await take(page, 'instruction-dark');
  await context.close();
}

async function take(page, name) {
  const path = join(target, `console-${name}.png`);
  await page.screenshot({ path });
  console.log(path);
}
