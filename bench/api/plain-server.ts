import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import jwt from 'jsonwebtoken';
import { mongo } from 'mongoose';
import { playabilityErrors } from '../../shared/lessons/playability.ts';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import { playerLesson } from '../../shared/lessons/player-lesson.ts';
import type { ApiKey } from '../../shared/models/api-key.ts';
import type { EmbedProgress } from '../../shared/models/embed-progress.ts';
import type { ContentPart } from '../../shared/models/lesson-content.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Lesson } from '../../shared/models/lesson.ts';
import type { Organization } from '../../shared/models/organization.ts';
import type { TokenRevocation } from '../../shared/models/token-revocation.ts';

/*
 * The baseline: sign-token, progress and player-data with node:http and the MongoDB driver, with sequential queries and
 * no state between requests. It makes the same checks as Lectern, but has no log, no limits, and one error text.
 */

export interface PlainSettings {
  mongodbUri: string;
  pepper: string;
  signingSecret: string;
}

interface Answer {
  status: number;
  body: object;
}

class RequestError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`rejected with ${status}`);
    this.status = status;
  }
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const expand = promisify(gunzip);

async function connect({ mongodbUri, pepper, signingSecret }: PlainSettings) {
  const database = (await new mongo.MongoClient(mongodbUri).connect()).db();
  const apiKeys = database.collection<ApiKey>('apiKeys');
  const organizations = database.collection<Organization>('organizations');
  const lessons = database.collection<Lesson>('lessons');
  const versions = database.collection<LessonVersion>('lessonVersions');
  const contents = database.collection<ContentPart & { data: mongo.Binary }>('lessonContents');
  const progress = database.collection<EmbedProgress>('embedProgress');
  const revocations = database.collection<TokenRevocation>('tokenRevocations');
  // jsonwebtoken needs 300 microseconds to find that a text secret is no PEM file, which would dominate the
  // measurement.
  const signing = createSecretKey(Buffer.from(signingSecret));

  async function organizationOf({ headers }: IncomingMessage): Promise<Organization> {
    const [, publicKey, secretKey] = /^Bearer (\S+)\.(\S+)$/.exec(headers.authorization ?? '') ?? [];
    if (publicKey === undefined || secretKey === undefined) throw new RequestError(401);
    const key = await apiKeys.findOne({ _id: publicKey });
    if (key === null) throw new RequestError(401);
    const given = createHmac('sha256', pepper).update(secretKey).digest();
    if (!timingSafeEqual(given, Buffer.from(key.secretHash, 'hex'))) throw new RequestError(401);
    if (key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= new Date()))
      throw new RequestError(401);
    const organization = await organizations.findOne({ _id: key.organizationId });
    if (organization === null) throw new RequestError(401);
    return organization;
  }

  async function requireLesson(organizationId: string, lessonId: string): Promise<void> {
    const lesson = await lessons.findOne({ _id: lessonId, organizationId, deletedAt: null });
    if (lesson === null) throw new RequestError(404);
  }

  return {
    async progress(request: IncomingMessage, lessonId: string, learnerId: string): Promise<object> {
      const { _id: organizationId } = await organizationOf(request);
      if (!uuid.test(lessonId)) throw new RequestError(422);
      await requireLesson(organizationId, lessonId);
      const record = await progress.findOne({ organizationId, lessonId, learnerId });
      if (record === null) throw new RequestError(404);
      return {
        lessonId,
        learnerId,
        status: record.status,
        score: record.score,
        maxScore: record.maxScore,
        currentSectionIndex: record.sectionIndex,
        currentStepIndex: record.stepIndex,
        totalSteps: record.totalSteps,
        progressData: parse(record.progressData),
        variableState: Object.fromEntries(record.variables.map(({ name, value }) => [name, parse(value)])),
        items: record.items.map(({ answer, writeId: _writeId, ...item }) => ({
          ...item,
          answer: parse(answer),
        })),
        userAttributes: parse(record.userAttributes?.text ?? null),
        startedAt: record.startedAt,
        completedAt: record.completedAt,
        lastActivityAt: record.lastActivityAt,
      };
    },

    async signToken(request: IncomingMessage): Promise<object> {
      const { _id: organizationId } = await organizationOf(request);
      const body = await readJson(request);
      const { lessonId, versionId, learnerId, userAttributes = {}, timeout = 7200 } = body;
      if (typeof lessonId !== 'string' || !uuid.test(lessonId)) throw new RequestError(422);
      if (versionId !== undefined && (typeof versionId !== 'string' || !uuid.test(versionId)))
        throw new RequestError(422);
      if (typeof learnerId !== 'string' || learnerId.length < 1 || learnerId.length > 255)
        throw new RequestError(422);
      if (typeof userAttributes !== 'object') throw new RequestError(422);
      if (typeof timeout !== 'number' || timeout < 1 || timeout > 86_400) throw new RequestError(422);
      await requireLesson(organizationId, lessonId);
      if (versionId !== undefined) {
        const status = 'published';
        const version = await versions.findOne({ _id: versionId, lessonId, organizationId, status });
        if (version === null) throw new RequestError(404);
      }
      const iat = Math.floor(Date.now() / 1000);
      const exp = iat + timeout;
      const claims = { lessonId, versionId, learnerId, organizationId, userAttributes, iat, exp };
      const token = jwt.sign(JSON.parse(JSON.stringify({ ...claims, iss: 'lectern' })) as object, signing);
      return { token, expiresAt: new Date(exp * 1000) };
    },

    async playerData(lessonId: string, query: URLSearchParams): Promise<object> {
      if (!uuid.test(lessonId)) throw new RequestError(400);
      const claims = verify(query.get('token') ?? '');
      const { organizationId, learnerId } = claims;
      const revocation = await revocations.findOne({
        organizationId,
        lessonId: { $in: [null, claims.lessonId] },
        learnerId: { $in: [null, learnerId] },
        revokedBefore: { $gte: new Date(claims.iat * 1000) },
      });
      if (revocation !== null) throw new RequestError(401);
      if (claims.lessonId !== lessonId) throw new RequestError(403);
      await requireLesson(organizationId, lessonId);
      const version = await versions.findOne(
        { lessonId, organizationId, status: 'published' },
        { sort: { publishedAt: -1, versionNumber: -1 } },
      );
      if (version === null) throw new RequestError(404);
      const parts = await contents.find({ versionId: version._id }).sort({ part: 1 }).toArray();
      const json = await expand(Buffer.concat(parts.map(({ data }) => data.buffer)));
      const content = JSON.parse(json.toString('utf8')) as LessonContent;
      const errors = playabilityErrors(content);
      if (errors.length > 0) throw new RequestError(422);
      const { lesson, ...rest } = playerLesson(content, []);
      return {
        lesson: { lesson: { status: version.status, ...lesson }, ...rest },
        userAttributes: claims.userAttributes,
        playability: { valid: true, errors },
      };
    },
  };

  function verify(token: string) {
    try {
      return jwt.verify(token, signing, { algorithms: ['HS256'], issuer: 'lectern' }) as {
        organizationId: string;
        lessonId: string;
        learnerId: string;
        userAttributes: object;
        iat: number;
      };
    } catch {
      throw new RequestError(401);
    }
  }
}

function parse(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
  } catch {
    throw new RequestError(422);
  }
}

type Endpoints = Awaited<ReturnType<typeof connect>>;

async function answer(endpoints: Endpoints, request: IncomingMessage): Promise<Answer> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const [, , , , lessonId = '', resource, learnerId = ''] = pathname.split('/');
  try {
    if (pathname === '/api/public/sign-token')
      return { status: 200, body: await endpoints.signToken(request) };
    if (resource === 'progress') {
      const body = await endpoints.progress(request, lessonId, decodeURIComponent(learnerId));
      return { status: 200, body };
    }
    if (resource === 'player-data')
      return { status: 200, body: await endpoints.playerData(lessonId, searchParams) };
    throw new RequestError(404);
  } catch (error) {
    const status = error instanceof RequestError ? error.status : 500;
    return { status, body: { error: String(error) } };
  }
}

process.once('message', (settings: PlainSettings) => {
  void connect(settings).then((endpoints) => {
    const server = createServer((request, response) => {
      void answer(endpoints, request).then(({ status, body }) => {
        const text = Buffer.from(JSON.stringify(body));
        response.writeHead(status, {
          'content-type': 'application/json; charset=utf-8',
          'content-length': text.length,
        });
        response.end(text);
      });
    });
    server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
  });
});
process.on('disconnect', () => process.exit());
