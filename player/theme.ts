import { addStyles } from './older-browsers.ts';
import { readScheme, schemeAttribute } from '../shared/theme/tokens.ts';
import type { Scheme } from '../shared/theme/tokens.ts';

let themeSheet: CSSStyleSheet | undefined;

/** Adds the stylesheet of a theme to the page, in place of an earlier one. */
export function showTheme(css: string | undefined): void {
  if (themeSheet !== undefined) themeSheet.replaceSync(css ?? '');
  else if (css !== undefined) themeSheet = addStyles(css);
}

/** Shows the page in a color scheme; without one, as the device does. */
export function setScheme(scheme: Scheme | undefined): void {
  const root = document.documentElement;
  if (scheme === undefined) root.removeAttribute(schemeAttribute);
  else root.setAttribute(schemeAttribute, scheme);
}

/** Returns the color scheme of the page; undefined if it is that of the device. */
export function currentScheme(): Scheme | undefined {
  return readScheme(document.documentElement.getAttribute(schemeAttribute));
}
