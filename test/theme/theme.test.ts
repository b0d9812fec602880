import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { removeUnusedAssets } from '../../shared/assets/stored-assets.ts';
import { replaceTheme, storeThemeFile } from '../../shared/assets/theme-files.ts';
import { findLessonTheme } from '../../shared/models/theme.ts';
import { accentTokens } from '../../shared/theme/accent.ts';
import { mergedTheme, schemeOf, themeCss, themeDigest } from '../../shared/theme/theme.ts';
import type { Theme } from '../../shared/theme/theme.ts';
import { palettes, schemes } from '../../shared/theme/tokens.ts';
import { png } from '../exports/pictures.ts';
import { buildOrganization } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';

/** The contrast of two colors, calculated as WCAG 2.2 defines it. */
function contrast(one: string, other: string): number {
  const [light, dark] = [one, other].map(luminance).sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((start) => {
    const share = parseInt(color.slice(start, start + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const hexColor = fc.integer({ min: 0, max: 0xffffff }).map((n) => `#${n.toString(16).padStart(6, '0')}`);

describe('the shades of a color', () => {
  test('are readable on every background, in both schemes, whatever the color', () => {
    fc.assert(
      fc.property(hexColor, fc.constantFrom(...schemes), (color, scheme) => {
        const { page, surface } = palettes[scheme];
        const shades = accentTokens(color, scheme);
        for (const back of [page, surface, shades['accent-soft'], shades['on-accent']]) {
          expect(contrast(shades.accent, back)).toBeGreaterThan(4.49);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('are the color itself where it is readable', () => {
    expect(accentTokens('#125e8a', 'light').accent).toBe('#125e8a');
    expect(accentTokens('#ffcc00', 'dark').accent).toBe('#ffcc00');
    expect(accentTokens('#ffcc00', 'light').accent).not.toBe('#ffcc00');
  });
});

describe('the stylesheet of a theme', () => {
  test('has only declarations of design tokens', () => {
    const css = themeCss({ color: '#c2185b', font: 'slab', radius: 0 }, null);
    expect(css).toContain('--lectern-radius:0px;');
    expect(css.replaceAll(/--lectern-[a-z-]+:[^;{}]+;/g, '')).not.toMatch(/[;<]|url|import/);
  });

  test.each([
    { color: 'red;}body{display:none' },
    { font: "x';}" },
    { radius: '0}' },
    { logo: { sha256: '../../etc', crc32: 0, size: 1, mimeType: 'image/png' } },
    { logo: { sha256: 'a'.repeat(64), crc32: 0, size: 1, mimeType: 'image/svg+xml' } },
  ])('is not made of %j, whoever wrote it into the database', (theme) => {
    expect(() => themeCss(theme as unknown as Theme, null)).toThrow();
    expect(() => themeDigest(theme as unknown as Theme)).toThrow();
  });

  test('keeps a URL inside its quotes', () => {
    const fontFile = { sha256: 'a'.repeat(64), crc32: 0, size: 1, mimeType: 'font/woff2' };
    expect(themeCss({ fontFile }, '/a")}*{x:y}')).toContain('src:url("/a%22)%7D*%7Bx:y%7D")');
  });
});

test('a lesson replaces parts of its organization’s theme; a font of either kind replaces the other', () => {
  const fontFile = { sha256: 'a'.repeat(64), crc32: 0, size: 1, mimeType: 'font/woff2' };
  const organization: Theme = { color: '#112233', fontFile, radius: 4 };
  expect(mergedTheme(organization, { font: 'serif', radius: 0 })).toEqual({
    color: '#112233',
    font: 'serif',
    radius: 0,
  });
  expect(schemeOf(mergedTheme({ scheme: 'dark' }, { scheme: 'auto' }) ?? {})).toBeUndefined();
  expect(mergedTheme(organization, null)).toBe(organization);
  expect(mergedTheme(null, null)).toBeNull();
});

describe('files of themes', () => {
  const harness = useHarness();
  const store = (kind: 'logo' | 'fontFile', bytes: Buffer) =>
    storeThemeFile(harness.db, harness.store, { kind, name: 'file', bytes });

  test.each([
    [
      'an SVG',
      'logo',
      Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'),
      'is an SVG',
    ],
    ['a page', 'logo', Buffer.from('<!doctype html><script>alert(1)</script>'), 'is an unknown type'],
    ['a picture as a font', 'fontFile', png(1), 'is image/png. Use WOFF2, WOFF, TTF or OTF.'],
    ['a large logo', 'logo', Buffer.concat([png(1), Buffer.alloc(300_000)]), 'The limit is 200 kB.'],
  ] as const)('%s is rejected', async (_name, kind, bytes, message) => {
    await expect(store(kind, bytes)).rejects.toMatchObject({
      code: 'INVALID_CONTENT',
      message: expect.stringContaining(message) as string,
    });
  });

  test('stay as long as a theme refers to them, and no other organization gets a theme by its id', async () => {
    const { organization } = await buildOrganization(harness);
    const id = organization._id;
    const logo = await store('logo', png(7));
    const replace = (before: Theme | null, after: Theme | null) =>
      replaceTheme(harness.db, { organizationId: id, id }, before, after);
    await replace(null, { logo });
    await removeUnusedAssets(harness.db, harness.store, -1);
    expect(await harness.store.assets.has(logo)).toBe(true);
    expect(await findLessonTheme(harness.db, { organizationId: id, lessonId: 'none' })).toEqual({ logo });
    const { organization: other } = await buildOrganization(harness);
    const stolen = { organizationId: other._id, lessonId: id };
    expect(await findLessonTheme(harness.db, stolen)).toBeNull();
    await replace({ logo }, null);
    await removeUnusedAssets(harness.db, harness.store, -1);
    expect(await harness.store.assets.has(logo)).toBe(false);
  });
});
