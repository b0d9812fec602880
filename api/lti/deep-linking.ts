import type { Context } from 'koa';
import { claim } from '../../shared/lti/claims.ts';
import type { DeepLinkingClaims } from '../../shared/lti/claims.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import type { LtiDependencies } from './dependencies.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { SelectionStore } from './selections.ts';
import { LaunchFault } from './faults.ts';
import { presentationOf } from './read-message.ts';
import { mayChooseLessons } from './roles.ts';

/** The only content type that Lectern offers: links to itself. */
const offeredType = 'ltiResourceLink';

/**
 * Redirects a teacher to the page where lessons are chosen, after a verified request (LTI Deep Linking 2.0).
 *
 * @throws {LaunchFault} not_for_learners, no_accepted_type.
 */
export async function startDeepLinking(
  { config, redis }: Pick<LtiDependencies, 'config' | 'redis'>,
  ctx: Context,
  { _id: platformId }: LtiPlatform,
  { claims, data }: { claims: DeepLinkingClaims; data: string | undefined },
): Promise<void> {
  const settings = claims[claim.deepLinkingSettings];
  const { accept_types: accepted } = settings;
  if (!mayChooseLessons(claims[claim.roles])) throw new LaunchFault('not_for_learners');
  if (accepted?.includes(offeredType) === false) throw new LaunchFault('no_accepted_type', { accepted });
  const id = await new SelectionStore(redis, config.redisPrefix).add({
    platformId,
    deploymentId: claims[claim.deploymentId],
    returnUrl: settings.deep_link_return_url,
    acceptsMultiple: settings.accept_multiple === true,
    // Platforms that omit the setting may ignore line items, which does no harm.
    acceptsLineItem: settings.accept_lineitem !== false,
    data,
    locale: presentationOf(claims).locale,
  });
  ctx.status = 303;
  ctx.redirect(`${publicUrlOf(ctx, config)}/lti/select/${id}`);
}
