import { accentTokens } from './accent.ts';
import type { AccentTokens } from './accent.ts';
import { fontStacks, schemeRules } from './tokens.ts';
import type { Scheme } from './tokens.ts';

/* The stylesheets of themes, for servers and for the console's preview. */

/** Fonts that devices have, by the name of their style. */
export const fonts = {
  system: fontStacks.text,
  serif: fontStacks.display,
  humanist: "Seravek, 'Gill Sans Nova', Ubuntu, Calibri, 'DejaVu Sans', source-sans-pro, sans-serif",
  geometric: "Avenir, Montserrat, Corbel, 'URW Gothic', source-sans-pro, sans-serif",
  rounded:
    "ui-rounded, 'Hiragino Maru Gothic ProN', Quicksand, Comfortaa, Manjari, 'Arial Rounded MT Bold', sans-serif",
  slab: "Rockwell, 'Rockwell Nova', 'Roboto Slab', 'DejaVu Serif', 'Sitka Small', serif",
} as const;
export type FontName = keyof typeof fonts;
export const fontNames = Object.keys(fonts) as FontName[];

/** The family of an organization's own font. */
const ownFamily = 'Lectern Theme';

/** CSS pixels. */
export const maxRadius = 24;

/** The parts of a theme that become CSS. */
interface StyledParts {
  color?: string | undefined;
  font?: FontName | undefined;
  radius?: number | undefined;
  /** Of the theme's own font, in place of `font`: characters of a URL only. */
  fontUrl: string | null;
}

/** Returns the accent colors that a theme sets in a scheme. */
function accentsOf({ color }: Pick<StyledParts, 'color'>, scheme: Scheme): Partial<AccentTokens> {
  return color === undefined ? {} : accentTokens(color, scheme);
}

/**
 * Returns the stylesheet of a theme. Only values that Lectern made itself become CSS: shades of a parsed color, numbers,
 * and names from its own lists.
 */
export function themeRules({ color, font, radius, fontUrl }: StyledParts): string {
  const family = fontUrl === null ? font && fonts[font] : `'${ownFamily}', ${fonts.system}`;
  const both = {
    ...(family !== undefined && { font: family, 'font-display': family }),
    ...(radius !== undefined && { radius: `${radius}px` }),
  };
  const face =
    fontUrl === null
      ? []
      : [
          `@font-face{font-family:'${ownFamily}';src:url("${encodeURI(fontUrl)}");font-display:swap;font-weight:100 900}`,
        ];
  const rules = schemeRules(
    { both, light: accentsOf({ color }, 'light'), dark: accentsOf({ color }, 'dark') },
    { isDefault: false },
  );
  return [...face, rules].join('\n');
}
