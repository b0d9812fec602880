import { colord, extend } from 'colord';
import a11yPlugin from 'colord/plugins/a11y';
import mixPlugin from 'colord/plugins/mix';
import { palettes } from './tokens.ts';
import type { Palette, Scheme } from './tokens.ts';

extend([a11yPlugin, mixPlugin]);

/** WCAG 2.2, 1.4.3: text against its background. */
export const minContrast = 4.5;

/** The share of the accent in its soft background. */
const softShares: Record<Scheme, number> = { light: 0.1, dark: 0.16 };

export type AccentTokens = Pick<Palette, 'accent' | 'accent-strong' | 'on-accent' | 'accent-soft'>;

/** Returns whether a text is a color as `#rgb` or `#rrggbb`. */
export function isHexColor(text: string): boolean {
  return /^#(?:[\da-f]{3}|[\da-f]{6})$/i.test(text);
}

/** Returns the contrast of a color with a scheme's page, between 1 and 21. */
export function contrastWithPage(color: string, scheme: Scheme): number {
  return colord(color).contrast(palettes[scheme].page);
}

/**
 * Returns the accent colors of a scheme for an organization's color: the color itself, or else the nearest shade of its
 * hue that is readable on all backgrounds that the player puts it on, and below the text of a button.
 */
export function accentTokens(color: string, scheme: Scheme): AccentTokens {
  const { h, s, l } = colord(color).toHsl();
  const step = scheme === 'light' ? -1 : 1;
  for (let lightness = l; lightness >= 0 && lightness <= 100; lightness += step) {
    // The color as it was given, without rounding, if it is readable.
    const accent = lightness === l ? colord(color).toHex() : colord({ h, s, l: lightness }).toHex();
    const tokens = tokensOf(accent, scheme);
    if (isReadable(tokens, scheme)) return tokens;
  }
  return tokensOf(scheme === 'light' ? '#000000' : '#ffffff', scheme);
}

function tokensOf(accent: string, scheme: Scheme): AccentTokens {
  const { page } = palettes[scheme];
  const { h, s } = colord(accent).toHsl();
  const onDark = colord({ h, s: Math.min(s, 60), l: 8 }).toHex();
  return {
    accent,
    'accent-strong': colord(accent)
      .mix(scheme === 'light' ? '#000000' : '#ffffff', 0.22)
      .toHex(),
    'on-accent': scheme === 'light' ? '#ffffff' : onDark,
    'accent-soft': colord(page).mix(accent, softShares[scheme]).toHex(),
  };
}

function isReadable(tokens: AccentTokens, scheme: Scheme): boolean {
  const { page, surface, 'text-strong': textStrong } = palettes[scheme];
  const { accent, 'accent-soft': soft, 'on-accent': onAccent } = tokens;
  return (
    [page, surface, soft, onAccent].every((other) => colord(accent).contrast(other) >= minContrast) &&
    colord(textStrong).contrast(soft) >= minContrast
  );
}
