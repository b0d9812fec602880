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
  config: Pick<Config, 'production' | 'publicUrl' | 'trustProxy'>;
  db: Database;
  secrets: Pick<Secrets, 'signing'>;
}

/**
 * Returns a link that plays the demo lesson with a new token. Only browsers on the same machine get one, and never in
 * production, because the start page requires no credentials.
 *
 * @returns null for other clients, or without a demo lesson.
 */
export async function findDemoLink(deps: DemoLinkDependencies, ctx: Context): Promise<string | null> {
  const { config, db, secrets } = deps;
  if (!isSameMachine(deps, ctx) || secrets.signing.length === 0) return null;
  const organization = await findOrganizationBySlug(db, demoSlug);
  if (organization === null) return null;
  const page = await pageOfLessons(db, organization._id, { status: 'published', limit: 1, after: null });
  const lessonId = page.lessons[0]?.lesson._id;
  if (lessonId === undefined) return null;
  const claims = { organizationId: organization._id, lessonId, versionId: null, learnerId };
  const { token } = signEmbedToken(secrets.signing, { ...claims, userAttributes: '{}' }, tokenSeconds);
  return `${publicPath(config)}/embed/${lessonId}?token=${token}`;
}

/** Checks the Host too: tunnels connect from this machine, and a foreign name may resolve to it (DNS rebinding). */
function isSameMachine({ config }: Pick<DemoLinkDependencies, 'config'>, ctx: Context): boolean {
  if (config.production || config.trustProxy > 0 || config.publicUrl !== undefined) return false;
  const isLocalClient = /^(?:127\.|::1$|::ffff:127\.)/.test(ctx.req.socket.remoteAddress ?? '');
  return isLocalClient && /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i.test(ctx.host);
}
