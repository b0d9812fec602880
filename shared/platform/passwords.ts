import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import pLimit from 'p-limit';
import { isCommonPassword } from './common-passwords.ts';
import { LecternError } from './errors.ts';

/** The cost of one scrypt hash (RFC 7914): 2^logN blocks of 128 * r bytes, mixed p times. */
interface Cost {
  logN: number;
  r: number;
  p: number;
}

interface Hash {
  cost: Cost;
  salt: Buffer;
  key: Buffer;
}

/** OWASP's recommendation (Password Storage Cheat Sheet): 32 MiB and a few tenths of a second a hash. */
const currentCost: Cost = { logN: 15, r: 8, p: 3 };
const saltBytes = 16;
const keyBytes = 32;

const minCharacters = 10;
const maxCharacters = 200;

/** Limits concurrent hashing, which takes memory, and threads that files and DNS need too. */
const hashing = pLimit(2);

/** Beyond this number of waiting requests, users would give up before their turn. */
const maxWaiting = 20;

/** Passwords contain no control characters and no lone surrogates, which have no UTF-8 bytes. */
const forbidden = /[\p{Cc}\p{Cs}]/u;

/** Stands in for the hash of an unknown user, so that checking takes as long as for a known one. */
const dummyHash: Hash = { cost: currentCost, salt: Buffer.alloc(saltBytes), key: Buffer.alloc(keyBytes) };

/** Checks a new password. @throws {LecternError} INVALID_CONTENT with the rules. */
export function assertValidPassword(password: string): void {
  const normal = password.normalize('NFKC');
  const length = [...normal].length;
  if (length < minCharacters || length > maxCharacters || forbidden.test(normal)) {
    throw new LecternError(
      'INVALID_CONTENT',
      `A password has ${minCharacters} to ${maxCharacters} characters, and no control characters.`,
    );
  }
  if (isCommonPassword(password)) {
    throw new LecternError(
      'INVALID_CONTENT',
      'This password is among the most frequent ones in data breaches. Choose another one.',
    );
  }
}

/**
 * Hashes a password. The result contains its parameters (PHC string format): `$scrypt$ln=15,r=8,p=3$salt$key`.
 *
 * @throws {LecternError} TOO_MANY_REQUESTS as {@link passwordMatches}.
 */
export async function hashPassword(password: string): Promise<string> {
  const hash = { cost: currentCost, salt: randomBytes(saltBytes) };
  return encode({ ...hash, key: await derive(password.normalize('NFKC'), hash) });
}

/**
 * Returns whether a password matches a stored hash. It normalizes the password (NFKC), because systems encode the same
 * typed text differently.
 *
 * @param stored null for an unknown user: the result is false after the same time.
 * @param signal aborted when the caller no longer needs the result.
 * @throws {LecternError} TOO_MANY_REQUESTS if too many checks are waiting.
 */
export async function passwordMatches(
  password: string,
  stored: string | null,
  signal?: AbortSignal,
): Promise<boolean> {
  const hash = stored === null ? dummyHash : decode(stored);
  const key = await derive(password.normalize('NFKC'), hash, signal);
  return timingSafeEqual(key, hash.key) && stored !== null && !forbidden.test(password);
}

/** Returns whether a stored hash has other parameters than new ones. */
export function isOutdated(stored: string): boolean {
  const { cost } = decode(stored);
  return cost.logN !== currentCost.logN || cost.r !== currentCost.r || cost.p !== currentCost.p;
}

function derive(
  password: string,
  { cost, salt }: Pick<Hash, 'cost' | 'salt'>,
  signal?: AbortSignal,
): Promise<Buffer> {
  if (hashing.pendingCount >= maxWaiting) {
    throw new LecternError('TOO_MANY_REQUESTS', 'Too many login attempts; try again later', {
      retryAfterSeconds: 10,
    });
  }
  const options = { N: 2 ** cost.logN, r: cost.r, p: cost.p };
  return hashing(() => {
    signal?.throwIfAborted();
    return new Promise<Buffer>((resolve, reject) => {
      // Twice the memory of the blocks: scrypt needs some more.
      const maxmem = 2 * 128 * options.N * options.r;
      scrypt(password, salt, keyBytes, { ...options, maxmem }, (error, key) => {
        if (error === null) resolve(key);
        else reject(error);
      });
    });
  });
}

function encode({ cost, salt, key }: Hash): string {
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$scrypt$ln=${cost.logN},r=${cost.r},p=${cost.p}$${text(salt)}$${text(key)}`;
}

function decode(stored: string): Hash {
  const [, logN, r, p, salt = '', key = ''] =
    /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]+)\$([\w+/]+)$/.exec(stored) ?? [];
  const hash = {
    cost: { logN: Number(logN), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64'),
    key: Buffer.from(key, 'base64'),
  };
  if (hash.key.length !== keyBytes) throw new Error('A stored password hash is damaged');
  return hash;
}
