import { z } from 'zod';
import { deliveryStates } from '../../shared/deliveries/outbox.ts';
import { areOnOneSite } from '../../shared/lti/platform-url.ts';
import { platformStatuses } from '../../shared/models/lti-platform.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import type { LtiRegistration } from '../../shared/models/lti-registration.ts';
import type { LtiScore, ScoreValues } from '../../shared/models/lti-score.ts';
import { nextCursorField } from '../http/pagination.ts';
import { count, time, uuid } from '../http/responses.ts';

/* The bodies of the endpoints with which an organization manages its learning platforms. */

export const platformBody = z
  .strictObject({
    id: uuid.meta({ description: 'The `platformId` of progress and grades.' }),
    name: z.string().nullable(),
    status: z.enum(platformStatuses).meta({ description: '`pending` until it is approved.' }),
    issuer: z.string(),
    clientId: z.string(),
    deploymentIds: z.array(z.string()).meta({ description: 'The deployments whose launches are accepted.' }),
    anyDeployment: z.boolean().meta({ description: 'Whether those of all deployments are.' }),
    unknownDeployments: z
      .array(z.string())
      .meta({ description: 'Deployments whose launches were rejected, for approval; the newest last.' }),
    authUrl: z.string(),
    tokenUrl: z.string(),
    jwksUrl: z.string(),
    tokenAudience: z.string().nullable(),
    keySetUrl: z.string().meta({ description: 'The keys with which Lectern signs for this platform.' }),
    onOneSite: z.boolean().meta({
      description:
        'Whether tokens, audience and keys are on one site. If not, check that all are this platform’s.',
    }),
    createdAt: time,
    lastLaunchAt: time.nullable().meta({ description: 'The last accepted launch, accurate to a minute.' }),
    launchFaults: z.array(z.strictObject({ code: z.string(), at: time })).meta({
      description:
        'The last 20 rejected launches, the newest last; docs/lti/troubleshooting.md has the codes.',
    }),
  })
  .meta({ id: 'LtiPlatform' });
export const platformPage = z.strictObject({ platforms: z.array(platformBody), nextCursor: nextCursorField });

const registrationBody = z
  .strictObject({
    id: z.string(),
    status: z.enum(['open', 'used', 'expired']),
    createdAt: time,
    expiresAt: time,
    platformId: uuid.nullable().meta({ description: 'The platform that registered with it.' }),
    keySetId: uuid,
    keySetUrl: z.string(),
  })
  .meta({ id: 'LtiRegistration' });
export const registrationPage = z.strictObject({
  registrations: z.array(registrationBody),
  nextCursor: nextCursorField,
});
export const createdRegistration = registrationBody
  .extend({
    url: z.string().meta({ description: 'For one registration. It is shown only once.' }),
    loginUrl: z.string().meta({ description: 'For platforms without dynamic registration.' }),
    launchUrl: z.string(),
  })
  .meta({ id: 'CreatedLtiRegistration' });

const points = { scoreGiven: z.number(), scoreMaximum: z.number(), finishedAt: time };
const gradeBody = z
  .strictObject({
    id: uuid,
    platformId: uuid,
    lessonId: uuid,
    contextId: z.string().nullable(),
    ltiUserId: z.string(),
    state: z.enum(deliveryStates).meta({
      description:
        '`waiting` to be sent, `failed` and not retried, or `idle`: the platform has what it should have.',
    }),
    wanted: z
      .strictObject(points)
      .nullable()
      .meta({ description: 'What the platform should have; null until the lesson is finished.' }),
    sent: z
      .strictObject({ ...points, at: time })
      .nullable()
      .meta({ description: 'What it accepted last.' }),
    tries: count,
    nextTryAt: time.nullable(),
    failure: z
      .strictObject({
        at: time,
        since: time,
        reason: z.string().meta({ description: 'docs/lti/troubleshooting.md has the remedy for each.' }),
        status: z.int().nullable(),
        body: z.string().nullable().meta({ description: 'The beginning of the platform’s response.' }),
      })
      .nullable(),
    createdAt: time,
  })
  .meta({ id: 'LtiGrade' });
export const gradePage = z.strictObject({ grades: z.array(gradeBody), nextCursor: nextCursorField });
export const changedGrades = z
  .strictObject({
    changed: count,
    more: z.boolean().meta({ description: 'Whether there may be further ones: repeat the request.' }),
  })
  .meta({ id: 'ChangedLtiGrades' });

/** @param base Lectern's public URL. */
export function presentPlatform(platform: LtiPlatform, base: string): z.input<typeof platformBody> {
  const { _id, name, status, issuer, clientId, deploymentIds, anyDeployment, unknownDeployments } = platform;
  const { authUrl, tokenUrl, jwksUrl, tokenAudience, keySetId, createdAt, lastLaunchAt } = platform;
  return {
    ...{ id: _id, name, status, issuer, clientId, deploymentIds, anyDeployment, unknownDeployments },
    ...{ authUrl, tokenUrl, jwksUrl, tokenAudience },
    keySetUrl: keySetUrl(base, keySetId),
    onOneSite: areOnOneSite([tokenUrl, jwksUrl, tokenAudience ?? tokenUrl]),
    createdAt: createdAt.toISOString(),
    lastLaunchAt: lastLaunchAt?.toISOString() ?? null,
    launchFaults: platform.launchFaults.map(({ code, at }) => ({ code, at: at.toISOString() })),
  };
}

export function presentRegistration(
  { _id, createdAt, expiresAt, platformId, keySetId }: LtiRegistration,
  base: string,
): z.input<typeof registrationBody> {
  const unused = expiresAt > new Date() ? 'open' : 'expired';
  return {
    id: _id,
    status: platformId === null ? unused : 'used',
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    ...{ platformId, keySetId },
    keySetUrl: keySetUrl(base, keySetId),
  };
}

function keySetUrl(base: string, keySetId: string): string {
  return `${base}/lti/jwks/${keySetId}`;
}

export function presentGrade(score: LtiScore): z.input<typeof gradeBody> {
  const { _id, platformId, lessonId, contextId, ltiUserId, state, wanted, sent, tries, failure } = score;
  const { nextTryAt, createdAt } = score;
  return {
    ...{ id: _id, platformId, lessonId, contextId, ltiUserId, state, tries },
    wanted: wanted && presentPoints(wanted),
    sent: sent && { ...presentPoints(sent), at: sent.at.toISOString() },
    nextTryAt: state === 'waiting' ? nextTryAt.toISOString() : null,
    failure: failure && {
      at: failure.at.toISOString(),
      since: failure.since.toISOString(),
      ...{ reason: failure.reason, status: failure.status, body: failure.body },
    },
    createdAt: createdAt.toISOString(),
  };
}

function presentPoints({ scoreGiven, scoreMaximum, finishedAt }: ScoreValues) {
  return { scoreGiven, scoreMaximum, finishedAt: finishedAt.toISOString() };
}

const keySetId = '5b0f6a52-0d9e-4a43-9a0c-6f2f1f6a3a90';
export const examplePlatform: z.input<typeof platformBody> = {
  id: '0c5de9a4-6f43-4f59-8d3c-2a1f5d7b9e10',
  name: 'Moodle of the Example School',
  status: 'active',
  issuer: 'https://moodle.school.example',
  clientId: 'kP3vX9bQ2rT7mZc',
  deploymentIds: ['1'],
  anyDeployment: false,
  unknownDeployments: ['2'],
  authUrl: 'https://moodle.school.example/mod/lti/auth.php',
  tokenUrl: 'https://moodle.school.example/mod/lti/token.php',
  jwksUrl: 'https://moodle.school.example/mod/lti/certs.php',
  tokenAudience: null,
  keySetUrl: `https://lectern.example/lti/jwks/${keySetId}`,
  onOneSite: true,
  createdAt: '2026-11-02T08:20:11.000Z',
  lastLaunchAt: '2026-11-21T09:12:04.180Z',
  launchFaults: [{ code: 'unknown_deployment', at: '2026-11-20T13:00:12.000Z' }],
};
export const exampleRegistration: z.input<typeof registrationBody> = {
  id: '4d967a3b0f7e4c1b8a5d2e6f9c0b1a2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b',
  status: 'open',
  createdAt: '2026-11-21T09:12:04.180Z',
  expiresAt: '2026-11-22T09:12:04.180Z',
  platformId: null,
  keySetId,
  keySetUrl: `https://lectern.example/lti/jwks/${keySetId}`,
};
export const exampleGrade: z.input<typeof gradeBody> = {
  id: '7a1d0f36-1c55-4f0a-9d1b-4c8b8f3e2d70',
  platformId: examplePlatform.id,
  lessonId: 'b2c31cf9-50e1-41e9-8a87-a67383019488',
  contextId: 'course-7',
  ltiUserId: 'user-42',
  state: 'failed',
  wanted: { scoreGiven: 8, scoreMaximum: 10, finishedAt: '2026-11-21T09:12:04.180Z' },
  sent: null,
  tries: 12,
  nextTryAt: null,
  failure: {
    at: '2026-11-21T10:12:04.180Z',
    since: '2026-11-21T09:12:05.180Z',
    reason: 'not_authorized',
    status: 403,
    body: '{"error": "insufficient scope"}',
  },
  createdAt: '2026-11-02T08:20:11.000Z',
};
