import { LRUCache } from 'lru-cache';
import type { Database } from '../../shared/models/database.ts';
import { findPlayerRelease, savePlayerRelease } from '../../shared/models/player-release.ts';
import type { PlayerRelease } from '../../shared/models/player-release.ts';
import { scriptSourceOf } from './frame-policy.ts';
import { widgetFrameSource } from '../../shared/player/player-release.ts';
import { EncodedFile } from '../http/encoded-file.ts';

/** The maximum number of other releases in memory: one during an upgrade, and earlier ones of open pages. */
const maxOtherReleases = 3;

/** How long the process remembers that a release does not exist. Its first process may start at any moment. */
const absenceMs = 2_000;

const releaseName = /^[\w.+-]{1,100}$/;

/** A file as this API serves it. */
interface PlayerFile {
  content: EncodedFile;
  /** The source expressions of the inline scripts, for the Content-Security-Policy; null except for pages. */
  scriptSource: string | null;
}

type Files = ReadonlyMap<string, PlayerFile>;

/**
 * The player files that this API serves: its own, and those that APIs of other releases have stored. During a rolling
 * upgrade, a page may come from one process and load its player from another.
 */
export class PlayerReleases {
  /** The release of this API. */
  readonly name: string;
  readonly #db: Database;
  readonly #own: PlayerRelease;
  readonly #ownFiles: Files;
  readonly #others: LRUCache<string, Files>;
  readonly #absent = new LRUCache<string, true>({ max: 1_000, ttl: absenceMs });

  constructor(db: Database, player: PlayerRelease) {
    this.#db = db;
    this.name = player.name;
    this.#own = player;
    this.#ownFiles = encoded(this.#own);
    this.#others = new LRUCache<string, Files>({
      max: maxOtherReleases,
      fetchMethod: async (name) => {
        const found = await findPlayerRelease(db, name);
        if (found === null) this.#absent.set(name, true);
        return found === null ? undefined : encoded(found);
      },
    });
  }

  /** Stores this API's files for other processes. Call it before the first page refers to them. */
  announce(): Promise<void> {
    return savePlayerRelease(this.#db, this.#own);
  }

  /** Returns a file of a release; null if there is no such release or file. */
  async find(release: string, file: string): Promise<PlayerFile | null> {
    const files = release === this.name ? this.#ownFiles : await this.#findOther(release);
    return files?.get(file) ?? null;
  }

  async #findOther(name: string): Promise<Files | undefined> {
    if (!releaseName.test(name) || this.#absent.has(name)) return undefined;
    return this.#others.fetch(name);
  }
}

function encoded({ files }: PlayerRelease): Files {
  return new Map(
    [...files].map(([name, bytes]) => [
      name,
      {
        content: new EncodedFile(bytes),
        scriptSource: name.endsWith('.html')
          ? `${scriptSourceOf(bytes.toString())} ${widgetFrameSource(files)}`
          : null,
      },
    ]),
  );
}
