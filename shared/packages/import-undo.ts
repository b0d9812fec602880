import type { Database } from '../models/database.ts';
import { deleteVersion } from '../models/lesson-version.ts';
import { removeImport } from './unfinished-imports.ts';

/** What an import has written so far, for the case that it fails; its files and releases are left to a sweep. */
export class ImportUndo {
  readonly #db: Database;
  readonly #versionId: string;
  #hasVersion = false;

  /** The content and the media are found by the version's id. */
  constructor(db: Database, versionId: string) {
    this.#db = db;
    this.#versionId = versionId;
  }

  addVersion(): void {
    this.#hasVersion = true;
  }

  async run(): Promise<void> {
    if (this.#hasVersion) await deleteVersion(this.#db, this.#versionId);
    await removeImport(this.#db, this.#versionId);
  }
}
