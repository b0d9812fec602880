import { findOrganizationBySlug } from '../../shared/models/organization.ts';
import { openDatabase } from '../../shared/models/database.ts';
import { importPackage } from '../../shared/packages/import.ts';
import { loadConfig } from '../../shared/platform/config.ts';
import { createStore } from '../../shared/storage/create-store.ts';

/*
 * Imports a package and dies, as in a power failure, right after the store has accepted this many
 * files: crashing-import.ts <path> <organization's slug> <files>
 */
const [path = '', slug = '', files = ''] = process.argv.slice(2);
const config = loadConfig();
const db = await openDatabase(config.mongodbUri ?? '');
const organization = await findOrganizationBySlug(db, slug);
if (organization === null) throw new Error(`There is no organization ${slug}`);
const disk = await createStore(config);
let stored = 0;
const store: typeof disk = {
  ...disk,
  assets: {
    ...disk.assets,
    async put(source, announce) {
      const blob = await disk.assets.put(source, announce);
      stored += 1;
      if (stored === Number(files)) process.kill(process.pid, 'SIGKILL');
      return blob;
    },
  },
};
await importPackage({ db, store, config }, organization, path, {
  asNew: false,
  signal: new AbortController().signal,
});
