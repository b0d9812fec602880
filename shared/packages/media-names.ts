import type { PackageMedium } from './lesson-package.ts';
import type { PackageManifest } from './manifest.ts';
import { decodePath } from '../platform/parse-url.ts';

/**
 * Finds media by the names of their files, as authors write them: `./media/leaf.jpg`, `media/leaf.jpg` or `leaf.jpg`,
 * percent-encoded, with backslashes, in another case, or with accents in another Unicode form.
 */
export class MediaNames {
  /** Ids by names as the manifest writes them. */
  readonly #exact = new Map<string, string>();
  /** Ids by folded names; null for a name of several files. */
  readonly #folded = new Map<string, string | null>();

  constructor(manifest: PackageManifest, media: readonly PackageMedium[]) {
    const known = new Set(media.map(({ id }) => id));
    const files = [...manifest.files.media, ...manifest.failedMedia].filter(({ id }) => known.has(id));
    for (const { id, localPath } of files) {
      if (localPath === undefined) continue;
      const path = localPath.replace(/^\.\//, '');
      const name = path.replace(/^media\//, '');
      for (const written of [localPath, path, name]) {
        if (!this.#exact.has(written)) this.#exact.set(written, id);
      }
      for (const folded of new Set([fold(path), fold(name), fold(name.slice(name.lastIndexOf('/') + 1))])) {
        const other = this.#folded.get(folded);
        this.#folded.set(folded, other === undefined || other === id ? id : null);
      }
    }
  }

  /**
   * Returns `media:<id>` and the fragment of a text that names a file; undefined for any other text.
   *
   * @param isAnyText whether the text need not be a URL: then it names a file only as the manifest does, or with `media`
   *   before it
   */
  find(written: string, isAnyText: boolean): string | undefined {
    const exactly = isAnyText && !/^(?:media:|(?:\.{0,2}[\\/])*media[\\/])/i.test(written);
    const text = written.replace(/^media:/i, '');
    const id = this.#idOf(text, exactly);
    if (id !== undefined) return `media:${id}`;
    // `#` and `?` may also be part of a name.
    const [, path = '', fragment = ''] = /^([^?#]*)(?:\?[^#]*)?(#.*)?$/s.exec(text) ?? [];
    const withoutFragment = path === text ? undefined : this.#idOf(path, exactly);
    return withoutFragment && `media:${withoutFragment}${fragment}`;
  }

  #idOf(name: string, exactly: boolean): string | undefined {
    const decoded = decodePath(name);
    const exact = this.#exact.get(name) ?? this.#exact.get(decoded);
    if (exact !== undefined || exactly) return exact;
    return this.#folded.get(fold(name)) ?? this.#folded.get(fold(decoded)) ?? undefined;
  }
}

function fold(name: string): string {
  return name
    .replaceAll('\\', '/')
    .replace(/^(?:\.{0,2}\/)+/, '')
    .normalize('NFC')
    .toLowerCase()
    .normalize('NFC');
}
