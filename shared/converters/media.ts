import { posix } from 'node:path';
import { lookup } from 'mime-types';
import type { Attribution } from '../lessons/player-lesson.ts';
import { extensionOf } from '../media/file-formats.ts';
import { uuidV5 } from '../platform/uuid.ts';
import type { Source } from './source.ts';

/** A media file of a converted lesson: a file of the source, or bytes that the source has in another form. */
export interface ConvertedMedium {
  id: string;
  /** In the package: `media/<id>.<extension>`. */
  path: string;
  mimeType: string;
  origin: { path: string } | { bytes: Uint8Array };
  attributions: Attribution[];
}

/** Ids are made from paths in this namespace. Those of the lesson replace them. */
const namespace = '6f0b2c3e-5c55-4f0b-9f3e-9a1d0c2b7e10';

/** The media of a converted lesson. */
export class ConvertedMedia {
  readonly #source: Source;
  readonly #media = new Map<string, ConvertedMedium>();

  constructor(source: Source) {
    this.#source = source;
  }

  get all(): ConvertedMedium[] {
    return [...this.#media.values()];
  }

  /**
   * Adds a file of the source, once however often it is used.
   *
   * @returns the reference for props and HTML, `media:<id>`; null if the source has no such file
   */
  file(path: string, attributions: Attribution[] = []): string | null {
    if (!this.#source.has(path)) return null;
    return this.#add(path, { path }, attributions);
  }

  /** Adds a file by its bytes, under a name that is unique in the source. Returns the reference. */
  bytes(name: string, bytes: Uint8Array): string {
    return this.#add(name, { bytes }, []);
  }

  #add(name: string, origin: ConvertedMedium['origin'], attributions: Attribution[]): string {
    const id = uuidV5(namespace, name);
    const known = this.#media.get(id);
    if (known === undefined) {
      const written = posix.extname(name).slice(1).toLowerCase();
      const mimeType = lookup(written) || 'application/octet-stream';
      const extension = /^[a-z0-9]{1,8}$/.test(written) ? written : extensionOf(mimeType);
      this.#media.set(id, { id, path: `media/${id}.${extension}`, mimeType, origin, attributions });
    } else {
      const credits = new Set(known.attributions.map((credit) => JSON.stringify(credit)));
      known.attributions.push(...attributions.filter((credit) => !credits.has(JSON.stringify(credit))));
    }
    return `media:${id}`;
  }
}
