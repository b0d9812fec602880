import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../platform/errors.ts';

/** How long one link serves all requests for its file. */
const shareMs = 30_000;

/** The lifetime of a link. A proxy can open it for at least this time minus `shareMs`. */
const linkMs = 120_000;

/** A second name of a stored file, for a proxy that sends the file. */
export interface FileLink {
  kind: 'file';
  /** In the folder `v1/proxied` of the store. */
  name: string;
  /** Absolute. */
  path: string;
}

/** A presigned URL of an object, for a proxy that knows the host of the bucket. */
export interface ObjectLink {
  kind: 'object';
  /** The path and query of the URL, without the leading slash. */
  target: string;
}

/** Where a proxy reads a file that it sends. */
export type ProxyLink = FileLink | ObjectLink;

/**
 * Hard links to stored files. Between Lectern's response and the proxy's opening of the file, an evictor may remove the
 * file's own name; the link keeps its bytes. A link reveals neither an export key nor a digest.
 */
export class ProxyLinks {
  readonly #folder: string;
  /** The newest link to each file, by the file's path. */
  readonly #links = new Map<string, { madeAt: number; link: Promise<FileLink | null> }>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Returns a link to a file, which the proxy can open for at least 90 seconds; null if the file is gone.
   *
   * @throws if the filesystem does not allow the link.
   */
  linkTo(path: string): Promise<FileLink | null> {
    const newest = this.#links.get(path);
    if (newest !== undefined && performance.now() - newest.madeAt < shareMs) return newest.link;
    const made = { madeAt: performance.now(), link: this.#create(path) };
    this.#links.set(path, made);
    const forget = () => {
      if (this.#links.get(path) === made) this.#links.delete(path);
    };
    made.link.then((created) => {
      if (created === null) return forget();
      setTimeout(() => {
        forget();
        unlink(created.path).catch(() => undefined);
      }, linkMs).unref();
    }, forget);
    return made.link;
  }

  /** Removes the links of processes that have ended; returns their number. */
  async sweep(olderThanSeconds: number): Promise<number> {
    const newest = Date.now() - olderThanSeconds * 1000;
    const names = await readdir(this.#folder).catch((error: unknown) => absent(error, []));
    const old = names.filter((name) => Number(name.split('-', 1)[0]) <= newest);
    for (const name of old) {
      // Another sweep may have removed it.
      await unlink(join(this.#folder, name)).catch((error: unknown) => absent(error, undefined));
    }
    return old.length;
  }

  async #create(path: string): Promise<FileLink | null> {
    // The times of a link are those of its file, so its name states when it was made.
    const name = `${Date.now()}-${randomUUID()}`;
    const target = join(this.#folder, name);
    try {
      await link(path, target);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      // Either the folder is missing or the file.
      await mkdir(this.#folder, { recursive: true });
      const linked = await link(path, target).then(
        () => true,
        (second: unknown) => absent(second, false),
      );
      if (!linked) return null;
    }
    return { kind: 'file', name, path: target };
  }
}

function absent<T>(error: unknown, value: T): T {
  if (codeOf(error) === 'ENOENT') return value;
  throw error;
}
