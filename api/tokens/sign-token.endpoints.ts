import { findPublishedVersion } from '../../shared/models/lesson-version.ts';
import { lessonExists } from '../../shared/models/lesson.ts';
import type { Database } from '../../shared/models/database.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { learnerSubject, pseudonymOf } from '../../shared/tokens/learner-subject.ts';
import { signEmbedToken, tokenIdOf } from '../../shared/tokens/player-tokens.ts';
import {
  parseSignTokenRequest,
  signTokenFaults,
  signTokenSchema,
} from '../../shared/tokens/sign-token-request.ts';
import { z } from 'zod';
import { apiAccess } from '../accounts/access.ts';
import { auditedChange, auditRequest } from '../http/audit.ts';
import type { AuditDependencies } from '../http/audit.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { textErrors } from '../http/error-format.ts';
import * as example from '../http/examples.ts';
import { noStore } from '../http/headers.ts';
import { jsonBody } from '../http/middleware/json-body.ts';
import { failure, json } from '../http/responses.ts';

const signedToken = z
  .strictObject({
    token: z.jwt().meta({ description: 'A JWT, for the `token` parameter of the player endpoints.' }),
    expiresAt: z.iso.datetime().meta({ description: 'When the token expires.' }),
  })
  .meta({ id: 'SignedToken' });

const notFound = 'Lesson not found or does not belong to your organization';

/** POST /api/public/sign-token: signs a token that lets one learner load one lesson. */
export const signToken = defineEndpoint(
  {
    method: 'post',
    path: '/api/public/sign-token',
    access: apiAccess,
    scope: 'tokens',
    errors: textErrors('Failed to generate token'),
    // The handler records it, and does not wait for MongoDB: most API requests sign a token.
    audit: null,
    operationId: 'signToken',
    tag: 'Tokens',
    summary: 'Sign an embed token',
    description:
      'Creates a JWT with which one learner loads one lesson. Its claims are `lessonId`, `versionId` (when given), ' +
      '`learnerId`, `organizationId`, `userAttributes`, `iat`, `exp` and `iss` ("lectern"). A lesson without a ' +
      'published version can be signed; loading it returns 404 until one is published.',
    body: jsonBody({
      maxBytes: 64 * 1024,
      description: 'Unknown fields are rejected. The error names the first invalid field.',
      schema: signTokenSchema,
      parse: parseSignTokenRequest,
      faults: signTokenFaults,
      examples: {
        newest: {
          summary: 'The newest published version, for two hours',
          value: { lessonId: example.lessonId, learnerId: example.learnerId },
        },
        pinned: {
          summary: 'A pinned version, with attributes, for 15 minutes',
          value: {
            lessonId: example.lessonId,
            versionId: example.versionId,
            learnerId: example.learnerId,
            userAttributes: example.userAttributes,
            timeout: 900,
          },
        },
      },
    }),
    responses: {
      200: json(
        'The token.',
        signedToken,
        { token: { value: { token: example.token, expiresAt: '2026-11-21T11:12:04.000Z' } } },
        noStore,
      ),
      404: failure(
        "The lesson does not exist, is deleted or another organization's, or has no such published version.",
        notFound,
      ),
      500: failure('Something failed on the server, or it has no signing secret.'),
    },
  },
  (deps: { db: Database; secrets: Pick<Secrets, 'signing' | 'keyPepper'> } & AuditDependencies) =>
    async ({ ctx, caller, readBody }) => {
      const { db, secrets } = deps;
      const { timeout, ...claims } = await readBody();
      const organizationId = caller.organization._id;
      const { lessonId, versionId } = claims;
      const isKnown =
        versionId === null
          ? await lessonExists(db, organizationId, lessonId)
          : (await findPublishedVersion(db, organizationId, lessonId, versionId)) !== null;
      if (!isKnown) throw new LecternError('NOT_FOUND', notFound);
      const { token, expiresAt } = signEmbedToken(secrets.signing, { organizationId, ...claims }, timeout);
      const learner = learnerSubject(organizationId, claims.learnerId, null);
      auditedChange.set(ctx, {
        target: { type: 'learner', id: pseudonymOf(secrets.keyPepper, learner) },
        details: { lessonId, token: tokenIdOf(token) },
      });
      await auditRequest(deps, ctx, 'token.sign', {}, false);
      return { status: 200, body: { token, expiresAt: expiresAt.toISOString() } };
    },
);
