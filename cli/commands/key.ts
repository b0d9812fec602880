import type { Command } from 'commander';
import type { Credentials } from '../../shared/accounts/credentials.ts';
import { maxAddressRanges } from '../../shared/accounts/allowed-addresses.ts';
import { keyScopes } from '../../shared/accounts/permissions.ts';
import type { KeyScope, KeyScopes } from '../../shared/accounts/permissions.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import {
  defaultExpiry,
  issueApiKey,
  listApiKeys,
  ownerOfApiKey,
  revokeApiKey,
  rotateApiKey,
  setAllowedAddresses,
} from '../../shared/models/api-key.ts';
import type { ApiKey } from '../../shared/models/api-key.ts';
import type { CommandResult } from '../terminal/json-output.ts';
import { contextCommand, readingCommand, requireOrganization } from '../installation/context.ts';
import { table } from '../terminal/output.ts';
import {
  collectAddresses,
  parseCount,
  parseExpiry,
  parsePublicKey,
  parseScopes,
} from '../terminal/option-parsers.ts';

const defaultOverlapHours = 24;

interface CreateOptions {
  org: string;
  label?: string;
  /** Null for never; the organization's default if undefined. */
  expires?: Date | null;
  address?: string[];
  scopes?: KeyScope[];
}

const scopeLines = Object.entries(keyScopes)
  .map(([scope, allows]) => `  ${scope.padEnd(13)}${allows}`)
  .join('\n');

/** `lectern key …` */
export function addKeyCommands(key: Command): void {
  addCreateCommand(key);
  addRotateCommand(key);
  addSetAddressesCommand(key);
  readingCommand(
    key
      .command('list')
      .description('list the keys of an organization, without their secrets')
      .requiredOption('--org <slug>', 'the organization'),
    async ({ db }, { org }: { org: string }) => {
      const { _id } = await requireOrganization(db, org);
      const keys = await listApiKeys(db, _id);
      return { json: keys.map(presentKey), text: keyTable(keys, org) };
    },
  );

  contextCommand(
    key
      .command('revoke')
      .description('revoke a key at once')
      .argument('<public-key>', 'the key, lkp_…', parsePublicKey),
    async ({ db, audit }, publicKey: string) => {
      const revoked = await revokeApiKey(db, { publicKey });
      if (revoked === null) throw unknownKey(publicKey);
      await audit(revoked.organizationId, 'key.revoke', keyTarget(publicKey));
      return { json: presentKey(revoked), text: `Revoked ${publicKey}` };
    },
  );
}

function addCreateCommand(key: Command): void {
  contextCommand(
    key
      .command('create')
      .description('issue credentials; the secret is shown only once')
      .requiredOption('--org <slug>', 'the organization')
      .option('--label <label>', 'the purpose of the credentials')
      .option(
        '--expires <time>',
        'expiry, such as 2027-01-31T12:00:00Z, or never (default: see org set-limits)',
        parseExpiry,
      )
      .option(
        '--address <range>',
        'an IP address or range from which it is valid, such as 203.0.113.0/24; repeatable (default: all)',
        collectAddresses,
      )
      .option(
        '--scopes <scopes>',
        'what the key may do, such as read,tokens (default: everything)',
        parseScopes,
      )
      .addHelpText('after', `\nScopes:\n${scopeLines}`),
    async ({ db, secrets, audit }, options: CreateOptions) => {
      const organization = await requireOrganization(db, options.org);
      const { _id: organizationId } = organization;
      const { label = null, expires: expiresAt = defaultExpiry(organization), scopes = null } = options;
      const allowedAddresses = rangesOf(options.address);
      const { keyPepper } = await secrets();
      const fields = { organizationId, label, expiresAt, scopes, allowedAddresses };
      const issued = await issueApiKey(db, keyPepper, fields);
      await audit(organizationId, 'key.create', keyTarget(issued.publicKey));
      return presentCredentials(issued);
    },
  );
}

function addRotateCommand(key: Command): void {
  contextCommand(
    key
      .command('rotate')
      .description('issue a successor; the old key stays valid during an overlap')
      .argument('<public-key>', 'the old key, lkp_…', parsePublicKey)
      .option('--overlap-hours <hours>', 'how long the old key stays valid', parseCount, defaultOverlapHours),
    async ({ db, secrets, audit }, publicKey: string, { overlapHours }: { overlapHours: number }) => {
      const { keyPepper } = await secrets();
      const successor = await rotateApiKey(db, keyPepper, { publicKey }, overlapHours * 3600);
      if (successor === null) throw unknownKey(publicKey);
      await audit(await ownerOfApiKey(db, publicKey), 'key.rotate', {
        ...keyTarget(publicKey),
        details: { successor: successor.publicKey },
      });
      return presentCredentials(successor);
    },
  );
}

function addSetAddressesCommand(key: Command): void {
  contextCommand(
    key
      .command('set-addresses')
      .description('set the IP addresses from which a key is valid')
      .argument('<public-key>', 'the key, lkp_…', parsePublicKey)
      .argument('[range...]', 'such as 203.0.113.0/24 or 2001:db8::/32', collectAddresses)
      .option('--all', 'all addresses', false),
    async ({ db, audit }, publicKey: string, ranges: string[], { all }: { all: boolean }) => {
      // An empty shell variable must not open a key to the world.
      if ((ranges.length === 0) !== all)
        throw new LecternError('BAD_REQUEST', 'Name the addresses, or use --all.');
      const changed = await setAllowedAddresses(db, publicKey, rangesOf(ranges));
      if (changed === null) throw unknownKey(publicKey);
      const addresses = addressesText(changed);
      await audit(changed.organizationId, 'key.set_addresses', {
        ...keyTarget(publicKey),
        details: { addresses },
      });
      return { json: presentKey(changed), text: `${publicKey} is valid from: ${addresses}` };
    },
  );
}

function keyTarget(publicKey: string) {
  return { target: { type: 'key', id: publicKey } };
}

function presentCredentials({ publicKey, secretKey }: Credentials): CommandResult {
  const credentials = `${publicKey}.${secretKey}`;
  return {
    json: { publicKey, secretKey, credentials },
    text: `Credentials (shown only once):\n  ${credentials}\nUse them as: Authorization: Bearer <credentials>`,
  };
}

function presentKey(key: ApiKey) {
  const { _id, label, scopes, allowedAddresses, createdAt, expiresAt, revokedAt, lastUsedAt } = key;
  return { publicKey: _id, label, scopes, allowedAddresses, createdAt, expiresAt, revokedAt, lastUsedAt };
}

/** @throws {LecternError} BAD_REQUEST for too many ranges */
function rangesOf(ranges: string[] = []): string[] | null {
  if (ranges.length > maxAddressRanges) {
    throw new LecternError(
      'BAD_REQUEST',
      `A key may have at most ${maxAddressRanges} ranges of addresses, not ${ranges.length}.`,
    );
  }
  return ranges.length === 0 ? null : ranges;
}

function addressesText({ allowedAddresses }: ApiKey): string {
  return allowedAddresses?.join(' ') ?? 'all';
}

function keyTable(keys: ApiKey[], slug: string): string {
  if (keys.length === 0)
    return `${slug} has no keys yet. Issue credentials with: lectern key create --org ${slug}`;
  const rows = keys.map((key) => [
    key._id,
    key.label ?? '',
    printScopes(key.scopes),
    stateOf(key),
    addressesText(key),
    key.createdAt.toISOString(),
    key.lastUsedAt?.toISOString() ?? 'never',
  ]);
  return table(['PUBLIC KEY', 'LABEL', 'SCOPES', 'STATE', 'ADDRESSES', 'CREATED', 'LAST USED'], rows);
}

function printScopes(scopes: KeyScopes | undefined): string {
  return scopes?.join(',') ?? 'all';
}

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  return expiresAt.getTime() <= Date.now() ? 'expired' : `until ${expiresAt.toISOString()}`;
}

function unknownKey(publicKey: string): LecternError {
  return new LecternError('NOT_FOUND', `There is no active key ${publicKey}. See: lectern key list`);
}
