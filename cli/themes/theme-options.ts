import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { replaceTheme, storeThemeFile } from '../../shared/assets/theme-files.ts';
import { findTheme } from '../../shared/models/theme.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { accentTokens, contrastWithPage, isHexColor, minContrast } from '../../shared/theme/accent.ts';
import type { Theme, ThemeFileKind } from '../../shared/theme/theme.ts';
import { fontNames, maxRadius } from '../../shared/theme/theme-css.ts';
import type { FontName } from '../../shared/theme/theme-css.ts';
import { schemes } from '../../shared/theme/tokens.ts';
import type { Scheme } from '../../shared/theme/tokens.ts';
import type { AuditTarget } from '../../shared/models/audit-entry.ts';
import type { CommandContext } from '../installation/context.ts';

/** The value of an option that removes a part of a theme. */
const unset = 'default';

/** A larger file fails its check anyway. */
const maxReadBytes = 16 * 1024 * 1024;

/** The options of commands that set a theme. A missing one leaves its part as it is. */
export interface ThemeOptions {
  color?: string;
  scheme?: Scheme | 'auto' | typeof unset;
  font?: FontName | typeof unset;
  fontFile?: string;
  radius?: number | typeof unset;
  logo?: string;
  logoAlt?: string;
  reset?: boolean;
}

/** Adds the options of a theme to a command. */
export function addThemeOptions(command: Command): Command {
  return command
    .option('--color <#rrggbb>', `color of buttons and links, or ${unset}`, parseColor)
    .addOption(
      new Option('--scheme <scheme>', 'light pages, dark ones, or as the device prefers').choices([
        ...schemes,
        'auto',
        unset,
      ]),
    )
    .addOption(new Option('--font <font>', 'a font that devices come with').choices([...fontNames, unset]))
    .addOption(new Option('--font-file <file>', 'a WOFF2, WOFF, TTF or OTF of your own').conflicts('font'))
    .option('--radius <pixels>', `radius of corners, 0 to ${maxRadius}, or ${unset}`, parseRadius)
    .option('--logo <file>', `a PNG, JPEG or WebP, or ${unset}`)
    .option('--logo-alt <text>', 'the text of the logo, for screen readers', parseAlt)
    .option('--reset', 'remove everything that is set, before applying other options');
}

function parseColor(text: string): string {
  if (text === unset || isHexColor(text)) return text;
  throw new InvalidArgumentError(`It must be a color such as #125e8a, or ${unset}.`);
}

function parseRadius(text: string): number | typeof unset {
  if (text === unset) return unset;
  if (/^\d{1,2}$/.test(text) && Number(text) <= maxRadius) return Number(text);
  throw new InvalidArgumentError(`It must be a whole number between 0 and ${maxRadius}, or ${unset}.`);
}

function parseAlt(text: string): string {
  if (text.length <= 200) return text;
  throw new InvalidArgumentError('It must have at most 200 characters.');
}

/**
 * Changes the theme of an organization or a lesson, and records it in the audit log. Without any theme option, it only
 * returns the theme.
 *
 * @param options.name what the logo says, unless `--logo-alt` does
 */
export async function changeTheme(
  { db, store, audit }: Pick<CommandContext, 'db' | 'store' | 'audit'>,
  { organizationId, name, ...target }: { organizationId: string; name: string } & AuditTarget,
  options: ThemeOptions,
): Promise<Theme> {
  const { id } = target;
  const before = await findTheme(db, organizationId, id);
  if (Object.keys(options).every((option) => option === 'json')) return before ?? {};
  const read = async (kind: ThemeFileKind, path: string) =>
    storeThemeFile(db, store, { kind, name: basename(path), bytes: await readSmallFile(path) });
  const { color, scheme, font, fontFile, radius, logo, logoAlt } = options;
  const parts: Record<string, unknown> = options.reset ? {} : { ...before };
  if (color !== undefined) parts.color = color === unset ? undefined : color.toLowerCase();
  if (scheme !== undefined) parts.scheme = scheme === unset ? undefined : scheme;
  if (radius !== undefined) parts.radius = radius === unset ? undefined : radius;
  if (font !== undefined)
    Object.assign(parts, { font: font === unset ? undefined : font, fontFile: undefined });
  if (fontFile !== undefined)
    Object.assign(parts, { font: undefined, fontFile: await read('fontFile', fontFile) });
  if (logo === unset) Object.assign(parts, { logo: undefined, logoAlt: undefined });
  else if (logo !== undefined) Object.assign(parts, { logo: await read('logo', logo), logoAlt: name });
  if (logoAlt !== undefined) parts.logoAlt = logoAlt;
  const theme = Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as Theme;
  const isEmpty = Object.keys(theme).length === 0;
  await replaceTheme(db, { organizationId, id }, before, isEmpty ? null : theme);
  await audit(organizationId, 'theme.change', { target });
  return theme;
}

async function readSmallFile(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size <= maxReadBytes) return await readFile(path);
  } catch (cause) {
    throw new LecternError('BAD_REQUEST', `${path} cannot be read.`, { cause });
  }
  throw new LecternError('INVALID_CONTENT', `${path} is too large for a theme.`);
}

/** Returns a theme as commands print it. */
export function presentTheme({ logo, fontFile, ...theme }: Theme) {
  const present = (file: Theme['logo']) =>
    file && { sha256: file.sha256, size: file.size, mimeType: file.mimeType };
  return { ...theme, ...(logo && { logo: present(logo) }), ...(fontFile && { fontFile: present(fontFile) }) };
}

/** Describes a theme, with the shades that learners see in place of a color with too little contrast. */
export function describeTheme(theme: Theme): string[] {
  const { color, scheme, font, fontFile, radius, logo, logoAlt } = theme;
  const lines = [
    ...(color === undefined
      ? []
      : [`  color   ${color}`, ...schemes.flatMap((one) => describeShade(color, one))]),
    ...(scheme === undefined ? [] : [`  scheme  ${scheme}`]),
    ...(font === undefined ? [] : [`  font    ${font}`]),
    ...(fontFile === undefined ? [] : [`  font    ${fontFile.mimeType}, ${fontFile.size} bytes`]),
    ...(radius === undefined ? [] : [`  radius  ${radius} pixels`]),
    ...(logo === undefined ? [] : [`  logo    ${logo.mimeType}, ${logo.size} bytes: “${logoAlt ?? ''}”`]),
  ];
  return lines.length === 0 ? ["  Lectern's own look"] : lines;
}

function describeShade(color: string, scheme: Scheme): string[] {
  const { accent } = accentTokens(color, scheme);
  if (accent === color) return [];
  const contrast = (shade: string) => `${contrastWithPage(shade, scheme).toFixed(1)}:1`;
  const reason =
    contrastWithPage(color, scheme) < minContrast
      ? `a contrast of ${contrast(color)} is too low`
      : 'the contrast is too low on colored backgrounds';
  return [`          on ${scheme} pages ${accent} (${contrast(accent)}), because ${reason}`];
}
