import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from './config.ts';
import { codeOf, LecternError, messageOf } from './errors.ts';
import type { SigningSecret } from './setting-forms.ts';

const leastCharacters = 32;

/** Secrets of this installation that the credentials and signatures depend on. */
export interface Secrets {
  /** Keys the hash under which API secrets are stored. */
  keyPepper: string;
  /** Embed and launch tokens: the first signs, all verify. Empty where they are turned off. */
  signing: readonly SigningSecret[];
  /** Signs the addresses of media and widgets. */
  asset: string;
  /** Signs the cookies of user sessions. */
  cookie: string;
}

/** The `kid` of a signing secret that Lectern made itself. */
const keptKid = 'local';

/**
 * The configured secrets; one that is not configured is made at the first start and kept in the data directory,
 * readable by its owner alone. (In production the configuration requires them.)
 *
 * @param warn told once, of all that were made.
 * @throws {LecternError} when one can neither be read nor made.
 */
export async function loadSecrets(config: Config, warn: (message: string) => void): Promise<Secrets> {
  const folder = join(config.dataDir, 'secrets');
  const made: string[] = [];
  const kept = (name: string, setting: string) => keptSecret(join(folder, name), setting, made);
  const secrets: Secrets = {
    keyPepper: config.keyPepper ?? (await kept('key-pepper', 'LECTERN_KEY_PEPPER')),
    signing: config.signingSecrets ?? [
      { kid: keptKid, secret: await kept('signing-secret', 'LECTERN_SIGNING_SECRETS') },
    ],
    asset: config.assetSecret ?? (await kept('asset-secret', 'LECTERN_ASSET_SECRET')),
    cookie: config.cookieSecret ?? (await kept('cookie-secret', 'LECTERN_COOKIE_SECRET')),
  };
  if (made.length > 0) {
    const what = `Made secrets for settings that are not set, and kept them in ${folder}: ${made.join(', ')}.`;
    warn(`${what} Set them before you run more than one host.`);
  }
  return secrets;
}

/** @param made gets the name of the setting when the secret was made just now. */
async function keptSecret(path: string, setting: string, made: string[]): Promise<string> {
  try {
    const kept = await readSecret(path);
    if (kept !== null) return kept;
    if (await makeSecret(path)) made.push(setting);
    return await readFile(path, 'utf8');
  } catch (error) {
    const message = `${setting} is not set, and ${path} is of no use: ${messageOf(error)}`;
    throw new LecternError('INTERNAL_ERROR', message, { cause: error });
  }
}

async function readSecret(path: string): Promise<string | null> {
  let text: string;
  try {
    text = (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
  // A damaged file must not become a secret that anybody can guess, nor be replaced: credentials depend on it.
  if (text.length < leastCharacters) throw new Error(`it holds fewer than ${leastCharacters} characters`);
  return text;
}

/** Written whole and synced under another name, then linked: of several first starts at once, one makes it. */
async function makeSecret(path: string): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(temporary, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx', flush: true });
    await link(temporary, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}
