import slugify from '@sindresorhus/slugify';

const maxLength = 100;

/**
 * A lesson's slug: kebab-case, 1 to 100 characters of a-z, 0-9 and single hyphens, and so a safe file name.
 * Undefined when nothing of the text can be written that way.
 */
export function slugFrom(text: string): string | undefined {
  const slug = slugify(text.slice(0, 2 * maxLength).normalize('NFC'), { decamelize: false })
    .slice(0, maxLength)
    .replace(/^-+|-+$/g, '');
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(slug) ? slug : undefined;
}
