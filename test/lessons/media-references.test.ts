import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  mediaReferences,
  restoreMediaReferences,
  rewriteMediaReferences,
} from '../../shared/lessons/media-references.ts';
import { nested } from './build-lesson.ts';

const a = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const b = 'bbbbbbbb-bbbb-5bbb-9bbb-bbbbbbbbbbbb';

/** Makes the path as an export does, with the extension of the media file. */
const extensionOf = (id: string): string => (id === a ? 'jpg' : id === b ? 'mp4' : 'bin');
const toPath = (id: string): string => `./media/${id}.${extensionOf(id)}`;
const exported = <T>(content: T): T => rewriteMediaReferences(content, toPath);
const imported = <T>(content: T): T => restoreMediaReferences(content, extensionOf);

/** Strings full of references, paths, and adjacent fragments of both. */
const fragments = ['media:', './media/', `./media/${a}`, `./media/${b}.`, ...'.:m" ', 'jpg', 'media'];
const pieces = fc.oneof(
  fc.constantFrom(a, b, `media:${a}`, `media:${b.toUpperCase()}`, toPath(a), toPath(b), `./media/${a}.PNG`),
  fc.constantFrom(...fragments),
  fc.uuid().map((id) => `media:${id}`),
  fc.string({ unit: 'binary', maxLength: 5 }),
);
const text = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(''));
const key = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', '0'));

const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    text,
    fc.jsonValue(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(fc.tuple(key, tie('value')), { maxLength: 4 })
      .map((entries) => Object.fromEntries(entries) as unknown),
  ),
})).value;

describe('finding media references', () => {
  test('finds them at any depth, alone and inside text, lower-cased, once, sorted', () => {
    const content = {
      src: `media:${b}`,
      html: `<img src="media:${a.toUpperCase()}" srcset="media:${a} 1x, media:${b} 2x"><p>media:nothing</p>`,
      deep: [[{ style: `url(media:${a})` }]],
    };

    expect(mediaReferences(content)).toEqual([a, b]);
  });

  test('ignores keys, numbers, and text that only looks similar', () => {
    expect(mediaReferences({ [`media:${a}`]: 1, x: a, y: `./media/${a}.jpg`, z: 'media:aaaaaaaa' })).toEqual(
      [],
    );
  });
});

describe('rewriting media references', () => {
  test.each([
    [`media:${a}`, `./media/${a}.jpg`],
    [`media:${a.toUpperCase()}`, `./media/${a}.jpg`],
    [`media:${a} 1x, media:${b} 2x`, `./media/${a}.jpg 1x, ./media/${b}.mp4 2x`],
    [`media:${a}media:${b}`, `./media/${a}.jpg./media/${b}.mp4`],
    [`media:${a}#t=1`, `./media/${a}.jpg#t=1`],
  ])('%s becomes %s', (before, after) => {
    expect(exported({ value: [before] })).toEqual({ value: [after] });
  });

  test('keeps a __proto__ key as an own property, without prototype pollution', () => {
    const content: unknown = JSON.parse(
      `{"__proto__": {"polluted": "media:${a}"}, "constructor": "media:${a}"}`,
    );

    expect(JSON.stringify(exported(content))).toBe(
      `{"__proto__":{"polluted":"./media/${a}.jpg"},"constructor":"./media/${a}.jpg"}`,
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('replaces exactly the references in any JSON, once and for all', () => {
    fc.assert(
      fc.property(json, (content) => {
        const expected = JSON.stringify(content, (_key, value: unknown) =>
          typeof value === 'string'
            ? value.replace(/media:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/gi, (_match, id: string) =>
                toPath(id.toLowerCase()),
              )
            : value,
        );
        const once = exported(content);
        expect(JSON.stringify(once)).toBe(expected);
        expect(mediaReferences(once)).toEqual([]);
        expect(exported(once)).toBe(once);
      }),
      { numRuns: 100 },
    );
  });
});

describe('restoring media references', () => {
  test.each([
    [`./media/${a}.jpg`, `media:${a}`],
    [`./media/${a.toUpperCase()}.jpg`, `media:${a}`],
    [`media:${a.toUpperCase()}`, `media:${a}`],
    [`<img src="./media/${a}.png" alt="">`, `<img src="media:${a}" alt="">`],
    [`./media/${a}.jpg 1x, ./media/${b}.mp4 2x`, `media:${a} 1x, media:${b} 2x`],
    [`./media/${a.toUpperCase()}.jpgand more`, `media:${a}and more`],
    [`./media/${a}`, `./media/${a}`],
    [`https://example.org/media/${a}.jpg`, `https://example.org/media/${a}.jpg`],
  ])('%s becomes %s', (before, after) => {
    expect(imported(['text', before])).toEqual(['text', after]);
  });

  test('can be undone and redone without any difference, and is idempotent, for any JSON', () => {
    fc.assert(
      fc.property(json, (content) => {
        const stored = imported(content);
        expect(JSON.stringify(imported(exported(stored)))).toBe(JSON.stringify(stored));
        expect(imported(stored)).toEqual(stored);
        const ofUnknownMedia = restoreMediaReferences(content);
        expect(restoreMediaReferences(ofUnknownMedia)).toEqual(ofUnknownMedia);
      }),
      { numRuns: 100 },
    );
  });

  test('restores any exported JSON that had only lower-case references', () => {
    const plain = json.filter((content) => {
      const written = JSON.stringify(content);
      return !written.includes('./media/') && !/media:[^"]*[A-F]/.test(written);
    });
    fc.assert(
      fc.property(plain, (content) => {
        expect(JSON.stringify(imported(exported(content)))).toBe(JSON.stringify(content));
      }),
    );
  });
});

test('content that is nested too deep is rejected with an error, not with a stack overflow', () => {
  for (const walk of [mediaReferences, exported, imported]) {
    for (const levels of [201, 100_000])
      expect(() => walk(nested(levels))).toThrow('The content is nested deeper than 200 levels');
  }
  expect(exported(nested(200))).toEqual(nested(200));
});
