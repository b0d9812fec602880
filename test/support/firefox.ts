import puppeteer from 'puppeteer-core';
import type { Browser } from 'puppeteer-core';
import { findCommand } from '../../shared/embedded/child-process.ts';

/** Debian's Firefox; undefined, with a message on stderr, if it is not installed. */
export const firefoxPath = (await findCommand('firefox-esr')) ?? (await findCommand('firefox'));
if (firefoxPath === undefined)
  process.stderr.write('\nNOT RUN: tests in Firefox, which is not installed\n\n');

/**
 * Starts Firefox, which puppeteer drives over WebDriver BiDi. Playwright needs a Firefox of its own.
 */
export function launchFirefox(): Promise<Browser> {
  if (firefoxPath === undefined) throw new Error('There is no Firefox');
  return puppeteer.launch({ browser: 'firefox', executablePath: firefoxPath, headless: true });
}
