import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from './config.ts';
import { codeOf } from './errors.ts';

/** Secrets of this installation that the credentials and signatures depend on. */
export interface Secrets {
  /** Keys the hash under which API secrets are stored. */
  keyPepper: string;
}

/**
 * The configured secrets; one that is not configured is made at the first start and kept in the data directory,
 * readable by its owner alone. (In production the configuration requires them.)
 */
export async function loadSecrets(config: Config, warn: (message: string) => void): Promise<Secrets> {
  return {
    keyPepper: config.keyPepper ?? (await keptSecret(config, 'key-pepper', 'LECTERN_KEY_PEPPER', warn)),
  };
}

async function keptSecret(
  config: Config,
  name: string,
  setting: string,
  warn: (message: string) => void,
): Promise<string> {
  const folder = join(config.dataDir, 'secrets');
  const path = join(folder, name);
  const kept = await readSecret(path);
  if (kept !== null) return kept;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Written whole under another name, then linked: two first starts at once agree on one secret.
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(temporary, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' });
  try {
    await link(temporary, path);
    warn(`${setting} is not set: made one and kept it in ${path}. Set it before you run more than one host.`);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  return readFile(path, 'utf8');
}

async function readSecret(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
