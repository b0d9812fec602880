import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey } from 'jose';
import { claim, gradeScopes, ltiVersion, messageTypes } from '../../shared/lti/claims.ts';

/** A learning platform that signs any launch. */
export interface BenchPlatform {
  issuer: string;
  clientId: string;
  deploymentId: string;
  publicKey: CryptoKey;
  /** Returns the signed message of a learner's launch, for a login's nonce. */
  sign(learner: number, nonce: string, target: { lessonId: string; targetLinkUri: string }): Promise<string>;
  close(): void;
}

const kid = 'bench';
const names = { clientId: 'bench-client', deploymentId: '1' };

export async function startPlatform(): Promise<BenchPlatform> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { modulusLength: 2048 });
  const keySet = JSON.stringify({
    keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' }],
  });
  const server = createServer((_request, response) => response.end(keySet));
  const issuer = await listen(server);
  return {
    issuer,
    ...names,
    publicKey,
    sign: (learner, nonce, target) =>
      new SignJWT({ ...messageOf(issuer, learner, target), nonce })
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid })
        .setIssuer(issuer)
        .setSubject(`learner-${learner}`)
        .setAudience(names.clientId)
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(privateKey),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Returns the usual claims of a launch. */
function messageOf(
  issuer: string,
  learner: number,
  { lessonId, targetLinkUri }: { lessonId: string; targetLinkUri: string },
): Record<string, unknown> {
  const course = learner % 10;
  return {
    name: 'A Learner',
    given_name: 'A',
    family_name: 'Learner',
    email: `learner-${learner}@school.example`,
    [claim.messageType]: messageTypes.resourceLink,
    [claim.version]: ltiVersion,
    [claim.deploymentId]: names.deploymentId,
    [claim.targetLinkUri]: targetLinkUri,
    [claim.resourceLink]: { id: `link-${course}`, title: 'A lesson' },
    [claim.context]: { id: `course-${course}`, label: 'C', title: 'A course' },
    [claim.roles]: ['http://purl.imsglobal.org/vocab/lis/v2/membership#Learner'],
    [claim.custom]: { lesson_id: lessonId },
    [claim.launchPresentation]: { locale: 'en', return_url: `${issuer}/course/${course}` },
    [claim.gradeService]: {
      scope: [gradeScopes.lineItem, gradeScopes.score],
      lineitems: `${issuer}/courses/${course}/lineitems`,
      lineitem: `${issuer}/courses/${course}/lineitems/1`,
    },
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
