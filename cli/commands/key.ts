import { Command } from 'commander';
import type { Credentials } from '../../shared/credentials.ts';
import { LecternError } from '../../shared/errors.ts';
import { issueApiKey, listApiKeys, revokeApiKey, rotateApiKey } from '../../shared/models/api-key.ts';
import type { ApiKey } from '../../shared/models/api-key.ts';
import { requireOrganization, withContext } from '../context.ts';
import { print, table } from '../output.ts';
import type { Output } from '../output.ts';
import { countValue, futureTimeValue } from '../values.ts';

interface JsonOption {
  json?: boolean;
}

const defaultOverlapHours = 24;

/** `lectern key …` */
export function keyCommands(): Command {
  const key = new Command('key').description('API credentials of organizations');

  key
    .command('create')
    .description('issue credentials; the secret is shown this once')
    .requiredOption('--org <slug>', 'the organization')
    .option('--label <label>', 'what they are for')
    .option('--expires <time>', 'when they end, ISO 8601', futureTimeValue)
    .option('--json', 'print one JSON document')
    .action(async (options: { org: string; label?: string; expires?: Date } & JsonOption) => {
      const credentials = await withContext(async ({ db, secrets }) => {
        const { _id: organizationId } = await requireOrganization(db, options.org);
        const { label = null, expires: expiresAt = null } = options;
        return issueApiKey(db, (await secrets()).keyPepper, { organizationId, label, expiresAt });
      });
      print(presentCredentials(credentials), options);
    });

  key
    .command('rotate')
    .description('issue a successor, and let the old key live for an overlap')
    .argument('<public-key>')
    .option('--overlap-hours <hours>', 'how long the old key lives', countValue, defaultOverlapHours)
    .option('--json', 'print one JSON document')
    .action(async (publicKey: string, options: { overlapHours: number } & JsonOption) => {
      const credentials = await withContext(async ({ db, secrets }) =>
        rotateApiKey(db, (await secrets()).keyPepper, publicKey, options.overlapHours * 3600),
      );
      if (credentials === null) throw unknownKey(publicKey);
      print(presentCredentials(credentials), options);
    });

  key
    .command('list')
    .description('list the keys of an organization, without their secrets')
    .requiredOption('--org <slug>', 'the organization')
    .option('--json', 'print one JSON document')
    .action(async (options: { org: string } & JsonOption) => {
      const keys = await withContext(async ({ db }) => {
        const { _id } = await requireOrganization(db, options.org);
        return listApiKeys(db, _id);
      });
      const rows = keys.map((row) => [
        row._id,
        row.label ?? '',
        stateOf(row),
        row.createdAt.toISOString(),
        row.lastUsedAt?.toISOString() ?? 'never',
      ]);
      print(
        {
          json: keys.map(presentKey),
          text: table(['PUBLIC KEY', 'LABEL', 'STATE', 'CREATED', 'LAST USED'], rows),
        },
        options,
      );
    });

  key
    .command('revoke')
    .description('end a key at once')
    .argument('<public-key>')
    .option('--json', 'print one JSON document')
    .action(async (publicKey: string, options: JsonOption) => {
      const revoked = await withContext(({ db }) => revokeApiKey(db, publicKey));
      if (revoked === null) throw unknownKey(publicKey);
      print({ json: presentKey(revoked), text: `Revoked ${publicKey}` }, options);
    });

  return key;
}

function presentCredentials({ publicKey, secretKey }: Credentials): Output {
  const credentials = `${publicKey}.${secretKey}`;
  return {
    json: { publicKey, secretKey, credentials },
    text: `Credentials (shown this once):\n  ${credentials}\nUse them as: Authorization: Bearer <credentials>`,
  };
}

function presentKey({ _id, label, createdAt, expiresAt, revokedAt, lastUsedAt }: ApiKey) {
  return { publicKey: _id, label, createdAt, expiresAt, revokedAt, lastUsedAt };
}

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  return expiresAt.getTime() <= Date.now() ? 'expired' : `until ${expiresAt.toISOString()}`;
}

function unknownKey(publicKey: string): LecternError {
  return new LecternError(
    'NOT_FOUND',
    `There is no key ${publicKey} that could be changed. See: lectern key list`,
  );
}
