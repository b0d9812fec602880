import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isHexColor } from './accent.ts';
import { fontNames, maxRadius, themeRules } from './theme-css.ts';
import { schemes } from './tokens.ts';
import type { Scheme } from './tokens.ts';

/** Types of logos and of fonts, with the extensions of their files. */
export const themeFileTypes = {
  logo: { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/webp': 'webp' },
  fontFile: { 'font/woff2': 'woff2', 'font/woff': 'woff', 'font/ttf': 'ttf', 'font/otf': 'otf' },
} as const satisfies Record<string, Record<string, string>>;
export type ThemeFileKind = keyof typeof themeFileTypes;

function fileSchema(kind: ThemeFileKind) {
  return z.object({
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    crc32: z.number(),
    size: z.number(),
    mimeType: z.enum(Object.keys(themeFileTypes[kind])),
  });
}

/**
 * The theme that an organization sets for all of its lessons, or for one. For missing parts, Lectern uses its own look.
 */
export const themeSchema = z.object({
  color: z.string().refine(isHexColor).optional(),
  /** `auto` follows the device, which a lesson may do although its organization does not. */
  scheme: z.enum([...schemes, 'auto']).optional(),
  font: z.enum(fontNames).optional(),
  /** Instead of `font`. */
  fontFile: fileSchema('fontFile').optional(),
  radius: z.number().int().min(0).max(maxRadius).optional(),
  logo: fileSchema('logo').optional(),
  logoAlt: z.string().max(200).optional(),
});
export type Theme = z.output<typeof themeSchema>;
export type ThemeFile = NonNullable<Theme['logo']>;

/** Returns the theme of a lesson: that of the organization, with the parts that the lesson sets; null for neither. */
export function mergedTheme(organization: Theme | null, lesson: Theme | null): Theme | null {
  if (organization === null || lesson === null) return lesson ?? organization;
  const { font, fontFile, ...others } = organization;
  const hasFont = lesson.font !== undefined || lesson.fontFile !== undefined;
  return { ...others, ...(!hasFont && { font, fontFile }), ...lesson };
}

/** Returns the color scheme of a theme; undefined if pages follow the device. */
export function schemeOf({ scheme }: Theme): Scheme | undefined {
  return scheme === 'auto' ? undefined : scheme;
}

export function themeFiles({ logo, fontFile }: Theme): ThemeFile[] {
  return [logo, fontFile].filter((file) => file !== undefined);
}

/** Returns the extension of a theme's file. */
export function extensionOf(kind: ThemeFileKind, { mimeType }: ThemeFile): string {
  const types: Record<string, string> = themeFileTypes[kind];
  return types[mimeType] ?? 'bin';
}

/** Returns the digest of a theme, which is part of the keys of archives that carry it. */
export function themeDigest(theme: Theme): string {
  // In the order of the schema, whatever the order in the database.
  return createHash('sha256')
    .update(JSON.stringify(themeSchema.parse(theme)))
    .digest('hex')
    .slice(0, 16);
}

/** Returns the stylesheet of a theme. @param fontUrl of the theme's own font: characters of a URL only */
export function themeCss(theme: Theme, fontUrl: string | null): string {
  const { color, font, radius, fontFile } = themeSchema.parse(theme);
  return themeRules({ color, font, radius, fontUrl: fontFile === undefined ? null : fontUrl });
}
