import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { isMissing } from '../../shared/models/missed-events.ts';
import { listDestinations, xapiVerbs, xapiVersions } from '../../shared/models/xapi-destination.ts';
import type { XapiDestination, XapiVerb, XapiVersion } from '../../shared/models/xapi-destination.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import {
  changeDestination,
  createDestination,
  endpointFault,
  removeDestination,
  requireDestination,
  pauseText,
} from '../../shared/xapi/destinations.ts';
import { contextCommand, readingCommand, requireOrganization } from '../installation/context.ts';
import { oneOf, parseUuid } from '../terminal/option-parsers.ts';
import { table } from '../terminal/output.ts';
import { readForeignPassword } from '../terminal/read-password.ts';
import { addReplay } from './replay.ts';

interface CreateOptions {
  org: string;
  endpoint: string;
  username: string;
  xapiVersion: XapiVersion;
  verb?: XapiVerb[];
  pseudonyms?: boolean;
  passingScore?: number;
}

/** `lectern xapi …` */
export function addXapiCommands(xapi: Command): void {
  contextCommand(
    xapi
      .command('create')
      .description('send statements to a learning record store; reads its password from stdin')
      .requiredOption('--org <slug>', 'the organization')
      .requiredOption('--endpoint <url>', 'its xAPI URL, without "statements"')
      .requiredOption('--username <name>', 'for HTTP Basic authentication')
      .option('--xapi-version <version>', xapiVersions.join(' or '), oneOf(xapiVersions), '1.0.3')
      .option('--verb <verb>', `repeatable: ${xapiVerbs.join(', ')}; by default all`, collectVerbs)
      .option('--pseudonyms', 'identify learners by salted hashes')
      .option(
        '--passing-score <share>',
        'share of the points that passes, 0 to 1; also sends passed or failed',
        parseShare,
      ),
    async ({ db, secrets, config, audit }, options: CreateOptions) => {
      const { _id } = await requireOrganization(db, options.org);
      const { endpoint, username, xapiVersion: version, verb: verbs = [...xapiVerbs] } = options;
      const fault = endpointFault(endpoint, config);
      if (fault !== null) throw new LecternError('INVALID_CONTENT', `${fault}, not ${endpoint}`);
      const password = await readForeignPassword();
      const { pseudonyms = false, passingScore = null } = options;
      const settings = { endpoint, username, password, version, verbs, pseudonyms, passingScore };
      const { keyPepper } = await secrets();
      const created = await createDestination(db, keyPepper, _id, settings);
      await audit(_id, 'destination.create', targetOf(created._id));
      return { json: present(created), text: `xAPI destination ${created._id}` };
    },
  );
  readingCommand(
    xapi
      .command('list')
      .description('list the xAPI destinations of an organization')
      .requiredOption('--org <slug>', 'the organization'),
    async ({ db }, { org }: { org: string }) => {
      const { _id } = await requireOrganization(db, org);
      const destinations = await listDestinations(db, [_id]);
      const rows = destinations.map((one) => [one._id, stateOf(one), one.endpoint, one.verbs.join(' ')]);
      const empty = `${org} has no xAPI destinations yet. Create one with: lectern xapi create`;
      const text = rows.length === 0 ? empty : table(['ID', 'STATE', 'ENDPOINT', 'VERBS'], rows);
      return { json: destinations.map(present), text };
    },
  );
  for (const [name, description, isActive] of [
    ['resume', 'resume a paused destination, and send its waiting statements', true],
    ['pause', 'pause a destination: its statements wait', false],
  ] as const) {
    contextCommand(
      ofOne(xapi.command(name), description),
      async ({ db, secrets, audit }, id: string, { org }: { org: string }) => {
        const { _id: organizationId } = await requireOrganization(db, org);
        const { keyPepper } = await secrets();
        const changed = await changeDestination(db, keyPepper, { id, organizationId }, { isActive });
        await audit(organizationId, 'destination.change', { ...targetOf(id), details: { isActive } });
        return { json: present(changed), text: `${id} is ${stateOf(changed)}` };
      },
    );
  }
  addReplay(ofOne(xapi.command('replay'), 'send the statements of a period again'), {
    type: 'destination',
    requireTarget: requireDestination,
  });
  contextCommand(
    ofOne(xapi.command('delete'), 'delete a destination with its statements'),
    async ({ db, audit }, id: string, { org }: { org: string }) => {
      const { _id: organizationId } = await requireOrganization(db, org);
      await removeDestination(db, { id, organizationId });
      await audit(organizationId, 'destination.delete', targetOf(id));
      return { json: { id }, text: `Deleted ${id}` };
    },
  );
}

function targetOf(id: string) {
  return { target: { type: 'destination', id } };
}

function ofOne(command: Command, description: string): Command {
  return command
    .description(description)
    .argument('<destination-id>', 'the destination; see xapi list', parseUuid)
    .requiredOption('--org <slug>', 'the organization');
}

function present(destination: XapiDestination) {
  const { _id, endpoint, username, version, verbs, salt, passingScore, paused, missed } = destination;
  return {
    ...{ id: _id, endpoint, username, version, verbs, pseudonyms: salt !== null, passingScore },
    ...{ status: paused === null ? 'active' : 'paused', pausedReason: paused?.reason ?? null },
    missedEvents: missed,
  };
}

function stateOf(destination: XapiDestination): string {
  const { paused, missed } = destination;
  if (missed !== null && isMissing(destination))
    return `misses statements since ${missed.since.toISOString()}`;
  return paused === null ? 'active' : `paused (${pauseText(paused.reason)})`;
}

/** Adds a verb to those of the previous options, each once. */
function collectVerbs(text: string, previous: XapiVerb[] = []): XapiVerb[] {
  const verb = xapiVerbs.find((one) => one === text);
  if (verb === undefined) throw new InvalidArgumentError(`It must be one of ${xapiVerbs.join(', ')}.`);
  return [...new Set([...previous, verb])];
}

function parseShare(text: string): number {
  if (/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number from 0 to 1.');
}
