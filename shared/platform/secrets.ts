import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from './config.ts';
import { codeOf, LecternError, messageOf } from './errors.ts';
import type { SigningSecret } from './setting-forms.ts';

const minCharacters = 32;

/** The secrets of this installation. */
export interface Secrets {
  /** The key of the hashes of API secrets. */
  keyPepper: string;
  /**
   * The secrets of embed and launch tokens: the first signs, and all of them verify. Empty if these tokens are
   * disabled.
   */
  signing: readonly SigningSecret[];
  /** Signs the URLs of media and widgets. */
  asset: string;
  /** Signs the cookies of user sessions. */
  cookie: string;
}

/** The `kid` of a generated signing secret. */
const generatedKid = 'local';

/**
 * Returns the secrets. It generates missing ones at the first start and stores them in the data directory, readable only
 * by the owner. In production, the configuration requires all of them.
 *
 * @param warn called once if secrets were generated.
 * @throws {LecternError} if a secret can be neither read nor written.
 */
export async function loadSecrets(config: Config, warn: (message: string) => void): Promise<Secrets> {
  const folder = join(config.dataDir, 'secrets');
  const generated: string[] = [];
  const stored = (name: string, setting: string) => storedSecret(join(folder, name), setting, generated);
  const secrets: Secrets = {
    keyPepper: config.keyPepper ?? (await stored('key-pepper', 'LECTERN_KEY_PEPPER')),
    signing: config.signingSecrets ?? [
      { kid: generatedKid, secret: await stored('signing-secret', 'LECTERN_SIGNING_SECRETS') },
    ],
    asset: config.assetSecret ?? (await stored('asset-secret', 'LECTERN_ASSET_SECRET')),
    cookie: config.cookieSecret ?? (await stored('cookie-secret', 'LECTERN_COOKIE_SECRET')),
  };
  if (generated.length > 0) {
    const what = `Generated secrets for settings that are not set, and stored them in ${folder}: ${generated.join(', ')}.`;
    warn(`${what} Set them before you run more than one host.`);
  }
  return secrets;
}

/** Returns the pepper of keys; null if there is none yet. Unlike {@link loadSecrets}, it generates nothing. */
export async function findKeyPepper(config: Config): Promise<string | null> {
  return config.keyPepper ?? (await readSecret(join(config.dataDir, 'secrets', 'key-pepper')));
}

/** @param generated receives the setting's name if the secret was generated now. */
async function storedSecret(path: string, setting: string, generated: string[]): Promise<string> {
  try {
    const secret = await readSecret(path);
    if (secret !== null) return secret;
    if (await generateSecret(path)) generated.push(setting);
    return await readFile(path, 'utf8');
  } catch (error) {
    const message = `${setting} is not set, and ${path} cannot be used: ${messageOf(error)}`;
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
  // A damaged file must not become a guessable secret, and must not be replaced: credentials depend on it.
  if (text.length < minCharacters) throw new Error(`it holds fewer than ${minCharacters} characters`);
  return text;
}

/** Writes a temporary file, then links it: exactly one of several concurrent first starts creates the secret. */
async function generateSecret(path: string): Promise<boolean> {
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
