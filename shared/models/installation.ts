import { createHmac, randomUUID } from 'node:crypto';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { LecternError } from '../platform/errors.ts';
import { schemaOptions } from '../platform/mongo.ts';
import type { Secrets } from '../platform/secrets.ts';
import type { Store } from '../storage/store.ts';

/**
 * The values that all processes of an installation share. A process with another pepper rejects all API keys, and one with another
 * store finds no files; both look healthy otherwise.
 */
export interface Installation {
  _id: 'installation';
  /** Fingerprints of the secrets that the last process started with. */
  secrets: Record<keyof Secrets, string>;
  /** A name that the store holds, too. */
  storeId: string;
}

export const installationSchema = new Schema<Installation>(
  {
    _id: { type: String, required: true },
    secrets: {
      keyPepper: { type: String, required: true },
      signing: { type: String, required: true },
      asset: { type: String, required: true },
      cookie: { type: String, required: true },
    },
    storeId: { type: String, required: true },
  },
  schemaOptions,
);

export interface InstallationDatabase {
  installations: Model<Installation>;
}

const settings: Record<keyof Secrets, string> = {
  keyPepper: 'LECTERN_KEY_PEPPER',
  signing: 'LECTERN_SIGNING_SECRETS',
  asset: 'LECTERN_ASSET_SECRET',
  cookie: 'LECTERN_COOKIE_SECRET',
};

const _id = 'installation';

/**
 * Compares the secrets and the store of a process with those of its installation. The first process records its own.
 * Secrets other than the pepper may be replaced: a change only warns, and is recorded.
 *
 * @param warn gets a sentence for each secret that has changed.
 * @throws {LecternError} INTERNAL_ERROR if the pepper or the store is another one.
 */
export async function joinInstallation(
  { db, store, secrets }: { db: InstallationDatabase; store: Pick<Store, 'identity'>; secrets: Secrets },
  warn: (message: string) => void,
): Promise<void> {
  const [installation, isNew] = await findOrRecord(db, store, secrets);
  if (isNew) return;
  const { faults, warnings } = await compare(installation, { store, secrets });
  if (faults.length > 0) throw new LecternError('INTERNAL_ERROR', faults.join('\n'));
  if (warnings.length === 0) return;
  for (const warning of warnings) warn(warning);
  await db.installations.updateOne({ _id }, { $set: { secrets: fingerprintsOf(secrets) } });
}

/** Returns whether a process has recorded its secrets and its store. */
export async function isInstalled(db: InstallationDatabase): Promise<boolean> {
  return (await db.installations.exists({ _id })) !== null;
}

/** Returns the differences from the installation; none if no process has started yet. */
export async function differencesFromInstallation({
  db,
  ...own
}: {
  db: InstallationDatabase;
  store: Pick<Store, 'identity'>;
  secrets: Secrets;
}): Promise<string[]> {
  const installation = await db.installations.findById(_id).lean();
  if (installation === null) return [];
  const { faults, warnings } = await compare(installation, own);
  return [...faults, ...warnings];
}

/** Forgets secrets and store of an installation, so that the next process records its own. */
export async function forgetInstallation(db: InstallationDatabase): Promise<void> {
  await db.installations.deleteOne({ _id });
}

/** Adds a name to the store before MongoDB has it, so that a crash in between leaves an unused name. */
async function findOrRecord(
  db: InstallationDatabase,
  store: Pick<Store, 'identity'>,
  secrets: Secrets,
): Promise<[installation: Installation, isNew: boolean]> {
  const known = await db.installations.findById(_id).lean();
  if (known !== null) return [known, false];
  const own: Installation = { _id, secrets: fingerprintsOf(secrets), storeId: randomUUID() };
  await store.identity.add(own.storeId);
  const recorded = await db.installations
    .findOneAndUpdate({ _id }, { $setOnInsert: own }, { upsert: true, returnDocument: 'after' })
    .lean();
  return [recorded, recorded.storeId === own.storeId];
}

async function compare(
  { secrets: recorded, storeId }: Installation,
  { store, secrets }: { store: Pick<Store, 'identity'>; secrets: Secrets },
): Promise<{ faults: string[]; warnings: string[] }> {
  const own = fingerprintsOf(secrets);
  const faults: string[] = [];
  if (own.keyPepper !== recorded.keyPepper) {
    const remedy = 'Set the same one in all processes. If the old one is lost, run: lectern doctor --accept';
    faults.push(`LECTERN_KEY_PEPPER is not the one that API keys were created with. ${remedy}`);
  }
  if (!(await has(store, storeId))) {
    const remedy =
      'Use the same folder or bucket in all processes. If the old store is lost, run: lectern doctor --accept';
    faults.push(`The store is not the one that the other processes use. ${remedy}`);
  }
  const changed = (['signing', 'asset', 'cookie'] as const).filter((name) => own[name] !== recorded[name]);
  const warnings = changed.map(
    (name) => `${settings[name]} differs from the one of the last start. Set the same one in all processes.`,
  );
  return { faults, warnings };
}

async function has({ identity }: Pick<Store, 'identity'>, storeId: string): Promise<boolean> {
  for await (const names of identity.list()) if (names.includes(storeId)) return true;
  return false;
}

function fingerprintsOf({ keyPepper, signing, asset, cookie }: Secrets): Installation['secrets'] {
  const ring = signing.map(({ kid, secret }) => `${kid}:${secret}`).sort();
  return {
    keyPepper: fingerprint(keyPepper),
    signing: fingerprint(ring.join('\n')),
    asset: fingerprint(asset),
    cookie: fingerprint(cookie),
  };
}

/** Secrets have at least 32 characters, so a fingerprint does not reveal one. */
function fingerprint(secret: string): string {
  return createHmac('sha256', secret).update('lectern installation').digest('base64url').slice(0, 22);
}
