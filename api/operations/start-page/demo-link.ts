import type { Context } from 'koa';
import { pageOfLessons } from '../../../shared/models/lesson-list.ts';
import { findOrganizationBySlug } from '../../../shared/models/organization.ts';
import { signEmbedToken } from '../../../shared/tokens/player-tokens.ts';
import type { Database } from '../../../shared/models/database.ts';
import type { Config } from '../../../shared/platform/config.ts';
import type { Secrets } from '../../../shared/platform/secrets.ts';
import { publicPath } from '../../http/public-url.ts';

/** The organization of `npm run demo`. */
const demoSlug = 'demo';
const learnerId = 'start-page';
const tokenSeconds = 7200;

export interface DemoLinkDependencies {
  config: Config;
  db: Database;
  secrets: Secrets;
}

/**
 * Returns a link that plays the demo lesson, with a token of its own. Only someone at the machine itself gets one, and
 * never in production: the start page asks for no credentials.
 *
 * @returns null where there is no demo lesson, and for everyone else.
 */
export async function findDemoLink(deps: DemoLinkDependencies, ctx: Context): Promise<string | null> {
  const { config, db, secrets } = deps;
  if (!isAtThisMachine(deps, ctx) || secrets.signing.length === 0) return null;
  const organization = await findOrganizationBySlug(db, demoSlug);
  if (organization === null) return null;
  const page = await pageOfLessons(db, organization._id, { status: 'published', limit: 1, after: null });
  const lessonId = page.lessons[0]?.lesson._id;
  if (lessonId === undefined) return null;
  const claims = { organizationId: organization._id, lessonId, versionId: null, learnerId };
  const { token } = signEmbedToken(secrets.signing, { ...claims, userAttributes: '{}' }, tokenSeconds);
  return `${publicPath(config)}/embed/${lessonId}?token=${token}`;
}

/** By the Host too: a tunnel connects from this machine, and so does a name that was made to lead here. */
function isAtThisMachine({ config }: Pick<DemoLinkDependencies, 'config'>, ctx: Context): boolean {
  if (config.production || config.trustProxy > 0 || config.publicUrl !== undefined) return false;
  const isLocalClient = /^(?:127\.|::1$|::ffff:127\.)/.test(ctx.req.socket.remoteAddress ?? '');
  return isLocalClient && /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i.test(ctx.host);
}
