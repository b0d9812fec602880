import { randomUUID } from 'node:crypto';
import type { LineItem, LineItemDetails, Link } from '../../../simulator/model.ts';
import type { SimulatorOptions } from '../../../simulator/start.ts';
import { createLogger } from '../../../shared/platform/log.ts';
import { gradeScopes } from '../../../shared/lti/claims.ts';
import { createLtiKeys } from '../../../shared/lti/keys.ts';
import { createPlatformClient } from '../../../shared/lti/platform-requests.ts';
import { createServiceTokens } from '../../../shared/lti/service-token.ts';
import { registerLineItem } from '../../../shared/lti/scores/register-line-item.ts';
import { progressRepository } from '../../../api/player/progress-repositories.ts';
import { findLtiProgress } from '../../../shared/models/lti-progress.ts';
import type { LtiLearner } from '../../../shared/models/lti-progress.ts';
import { saveResourceLink } from '../../../shared/models/lti-resource-link.ts';
import type { LtiResourceLink } from '../../../shared/models/lti-resource-link.ts';
import type { LtiScore } from '../../../shared/models/lti-score.ts';
import { stateOf } from '../../../shared/models/progress-record.ts';
import { initialProgress } from '../../../shared/progress/merge.ts';
import type { ProgressState } from '../../../shared/progress/state.ts';
import { DeliverySender } from '../../../worker/deliveries/delivery-sender.ts';
import type { Outcome } from '../../../worker/deliveries/delivery-sender.ts';
import { scoreFormat } from '../../../worker/deliveries/scores.ts';
import { outline, versionId } from '../../progress/build-progress.ts';
import { testPepper } from '../../support/harness.ts';
import { useStarted } from '../../support/use.ts';
import { startLaunchLab } from './launch-lab.ts';

/** A learner of the platform, in a lesson that one link leads to. */
export interface GradedLearner {
  learner: LtiLearner;
  link: Link;
  lineItem: LineItem;
  resourceLink: LtiResourceLink;
}

/** The fields of a record that scores depend on. */
export type Told = Pick<ProgressState, 'status'> &
  Partial<Pick<ProgressState, 'score' | 'maxScore' | 'finished'>>;

/** A finished attempt, by default the same one whatever its points. */
export const completed = (score: number | null, maxScore: number | null = 100, at = new Date(0)): Told => ({
  status: 'completed',
  score,
  maxScore,
  finished: { at, score, maxScore, isCurrent: true },
});

/** A platform, and a Lectern whose worker is the test itself. */
export type ScoreLab = Awaited<ReturnType<typeof startScoreLab>>;

/**
 * @param otherHosts private hosts, beside the platform's, that Lectern may call; known when tests
 * begin.
 * @param options of the platform.
 * @param requestTimeouts timeout of one platform response; as in production by default.
 */
export function useScoreLab(
  otherHosts: () => string[] = () => [],
  options?: SimulatorOptions,
  requestTimeouts: { timeoutMs?: number } = {},
): ScoreLab {
  return useStarted(
    () => startScoreLab(otherHosts(), requestTimeouts, options),
    (lab) => lab.close(),
  );
}

async function startScoreLab(
  otherHosts: string[],
  requestTimeouts: { timeoutMs?: number },
  options?: SimulatorOptions,
) {
  const lab = await startLaunchLab(options);
  const { harness, simulator, platform, tool } = lab;
  const { db } = harness;
  const allowedPrivateHosts = [new URL(simulator.issuer).host, ...otherHosts];
  const client = createPlatformClient({ allowedPrivateHosts }, requestTimeouts);
  const keys = createLtiKeys(db, { keyPepper: testPepper });
  const service = { client, tokens: createServiceTokens({ client, keys }) };
  const log = createLogger(harness.config, 'test');

  const addLinkTo = async (
    learner: LtiLearner,
    lineItem: LineItemDetails | null,
    changes: Partial<LtiResourceLink>,
  ) => {
    const course = simulator.sample.course;
    const link = simulator.addLink({ course, tool, lineItem });
    const [item] = simulator.lineItemsOf(link);
    const number = simulator.tools().findIndex(({ clientId }) => clientId === tool.clientId) + 1;
    const { organizationId, platformId, lessonId, contextId } = learner;
    const resourceLink = await saveResourceLink(db, {
      ...{ organizationId, platformId, lessonId, contextId },
      deploymentId: tool.deploymentIds[0] ?? '',
      resourceLinkId: link.id,
      versionId: null,
      lineItemUrl: item === undefined ? null : simulator.urlOf(item),
      lineItemsUrl: `${simulator.urls.url}/services/${course.id}/lineitems?type_id=${number}`,
      withoutColumn: false,
      scopes: [gradeScopes.score, gradeScopes.lineItem],
      lastLaunchAt: new Date(),
      ...changes,
    });
    await registerLineItem(db, resourceLink, learner.ltiUserId);
    // Undefined when the platform has none for the link.
    return { learner, link, lineItem: item as LineItem, resourceLink };
  };

  /** Saves the next revision of the learner's record, and its grade in the outbox, as the API does. */
  const tell = async ({ learner }: GradedLearner, told: Told) => {
    const stored = await findLtiProgress(db, learner);
    const first = initialProgress(versionId, outline, new Date());
    const next = { ...first, ...told, revision: (stored?.revision ?? 0) + 1 };
    const token = { kind: 'launch', issuedAt: 0, expiresAt: 0, versionId, ...learner } as const;
    const before = stored === null ? first : stateOf(stored);
    const change = { stored, before, next, erasedAt: null, receivers: null };
    await progressRepository(db, token).save(change);
  };
  /** A sender as in a worker, and the outcomes of its attempts. */
  const createSender = () => {
    const outcomes: Outcome[] = [];
    const onAttempt = (outcome: Outcome) => void outcomes.push(outcome);
    return { sender: new DeliverySender(scoreFormat(db, service), { onAttempt, log }), outcomes };
  };

  /** Makes the learner's score due if there is one, and all others later. */
  const makeDue = async ({ learner: { ltiUserId }, resourceLink }: GradedLearner) => {
    const row = { ltiUserId, linkId: resourceLink._id };
    const later = new Date(Date.now() + 3600_000);
    await db.ltiScores.updateMany({ state: 'waiting' }, { $set: { nextTryAt: later } });
    await db.ltiScores.updateOne({ ...row, state: 'waiting' }, { $set: { nextTryAt: new Date(0) } });
  };

  return {
    ...lab,
    ...{ service, tell, createSender },
    /** Creates a learner who has launched a new link to a new lesson, by default with a line item. */
    addLearner: (
      changes: Partial<LtiResourceLink> = {},
      lineItem: LineItemDetails | null = { label: 'A lesson', scoreMaximum: 10 },
    ) => {
      const { id: ltiUserId } = simulator.addUser();
      const { organizationId, _id: platformId } = platform;
      const learner = { organizationId, platformId, ltiUserId, lessonId: randomUUID(), contextId: 'course' };
      return addLinkTo(learner, lineItem, changes);
    },
    /** Launches the link again, as another learner. */
    launchAs: async (learner: GradedLearner) => {
      await registerLineItem(db, learner.resourceLink, learner.learner.ltiUserId);
      return learner;
    },
    /** Launches a learner's lesson by another link. */
    addLinkFor: ({ learner }: GradedLearner) => addLinkTo(learner, { label: 'Again', scoreMaximum: 100 }, {}),
    /** Makes everything waiting due and expires all leases. */
    passTime: async () => {
      const past = new Date(0);
      await db.ltiScores.updateMany({}, { $set: { nextTryAt: past, leaseUntil: past } });
    },
    makeDue,
    /** Sends the learner's score if there is one, even if it is not due yet; returns the outcome. */
    send: async (learner: GradedLearner) => {
      await makeDue(learner);
      const { sender, outcomes } = createSender();
      await sender.sendDue();
      return outcomes[0] ?? null;
    },
    rowOf: async ({ learner: { ltiUserId }, resourceLink }: GradedLearner) => {
      const row = await db.ltiScores.findOne({ ltiUserId, linkId: resourceLink._id }).lean<LtiScore>();
      if (row === null) throw new Error('there is no row');
      return row;
    },
    /** Scores that the platform has accepted, in order. */
    taken: ({ lineItem, learner: { ltiUserId } }: GradedLearner) =>
      simulator.scoresOf(lineItem).filter(({ userId }) => userId === ltiUserId),
    async close() {
      client.close();
      await lab.close();
    },
  };
}
