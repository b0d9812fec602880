import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import pLimit from 'p-limit';
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

/** 32 MiB and some tenths of a second a hash, as OWASP's Password Storage Cheat Sheet has it. */
const currentCost: Cost = { logN: 15, r: 8, p: 3 };
const saltBytes = 16;
const keyBytes = 32;

const leastCharacters = 10;
const mostCharacters = 200;

/** Hashing takes memory, and threads that files and DNS need too. */
const hashing = pLimit(2);

/** More would wait longer than people do. */
const mostWaiting = 20;

/** What may not be in a password: control characters, and halves of a character that have no bytes of their own. */
const forbidden = /[\p{Cc}\p{Cs}]/u;

/** Compared with where there is no user, so that an unknown one takes as long as a known one. */
const nobody: Hash = { cost: currentCost, salt: Buffer.alloc(saltBytes), key: Buffer.alloc(keyBytes) };

/** @throws {LecternError} INVALID_CONTENT that says what a new password may be. */
export function assertValidPassword(password: string): void {
  const normal = password.normalize('NFKC');
  const length = [...normal].length;
  if (length >= leastCharacters && length <= mostCharacters && !forbidden.test(normal)) return;
  throw new LecternError(
    'INVALID_CONTENT',
    `A password has ${leastCharacters} to ${mostCharacters} characters, and no control characters.`,
  );
}

/**
 * Hashes a password. The text says how it was made, in the PHC string format: `$scrypt$ln=15,r=8,p=3$salt$key`.
 *
 * @throws {LecternError} TOO_MANY_REQUESTS as below.
 */
export async function hashPassword(password: string): Promise<string> {
  const hash = { cost: currentCost, salt: randomBytes(saltBytes) };
  return encode({ ...hash, key: await derive(password.normalize('NFKC'), hash) });
}

/**
 * Whether a password is the one that was hashed. The same text typed on another system may come in other code
 * points; both are brought to one form (NFKC).
 *
 * @param stored null where there is no user: it takes the same time, and is false.
 * @param signal aborted when nobody waits for the answer any more.
 * @throws {LecternError} TOO_MANY_REQUESTS when so many wait already that this one would wait too long.
 */
export async function passwordMatches(
  password: string,
  stored: string | null,
  signal?: AbortSignal,
): Promise<boolean> {
  const hash = stored === null ? nobody : decode(stored);
  const key = await derive(password.normalize('NFKC'), hash, signal);
  return timingSafeEqual(key, hash.key) && stored !== null && !forbidden.test(password);
}

/** Whether a stored hash costs something else than one that is made today. */
export function isOutdated(stored: string): boolean {
  const { cost } = decode(stored);
  return cost.logN !== currentCost.logN || cost.r !== currentCost.r || cost.p !== currentCost.p;
}

function derive(
  password: string,
  { cost, salt }: Pick<Hash, 'cost' | 'salt'>,
  signal?: AbortSignal,
): Promise<Buffer> {
  if (hashing.pendingCount >= mostWaiting) {
    throw new LecternError('TOO_MANY_REQUESTS', 'Too many log-in attempts; try again later', {
      retryAfterSeconds: 10,
    });
  }
  const options = { N: 2 ** cost.logN, r: cost.r, p: cost.p };
  return hashing(() => {
    signal?.throwIfAborted();
    return new Promise<Buffer>((resolve, reject) => {
      // Twice what the blocks take: the rest is scrypt's own.
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
