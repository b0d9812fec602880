import { createDocument } from 'zod-openapi';
import type { CreateDocumentOptions, ZodOpenApiSecuritySchemeObject } from 'zod-openapi';
import { keyScopeNames, keyScopes, rolePermissions } from '../../shared/accounts/permissions.ts';
import type { Config } from '../../shared/platform/config.ts';
import { release } from '../../shared/platform/paths.ts';
import { sessionCookieName } from '../accounts/user-sessions.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { rejectionTexts } from '../http/http-server.ts';
import { documentedEvents } from '../webhooks/document-events.ts';
import { pathsOf } from './operations.ts';

const description = `
Lectern delivers lessons. It signs the tokens with which learners load them, records learners' progress, and exports
published versions as self-contained archives.

## Getting started

1. **Credentials.** The operator creates them with \`lectern key create\`: PUBLIC_KEY.SECRET_KEY. Your server sends them
as \`Authorization: Bearer PUBLIC_KEY.SECRET_KEY\`. Keep them on your server.
2. **A lesson.** \`GET /api/lessons\` lists your organization's lessons.
3. **A token.** When a learner opens a lesson, your server signs a token for this learner and lesson with
\`POST /api/public/sign-token\`, and puts it into the learner's page.
4. **The lesson.** The page loads it with \`GET /api/public/lessons/{lessonId}/player-data\`, its media with
\`GET /api/public/lessons/{lessonId}/media/{mediaId}\` and its widgets with
\`GET /api/public/lessons/{lessonId}/widgets/{file}\`.
5. **The session.** The page reads the learner's state with \`GET /api/public/lessons/{lessonId}/session\` and writes it
with \`POST /api/public/lessons/{lessonId}/session\`.
6. **Progress.** Your server reads it with \`GET /api/public/lessons/{lessonId}/progress/{learnerId}\`.
7. **Events.** \`POST /api/webhooks\` has Lectern send events to your server as they occur.
8. **An archive.** \`GET /api/lessons/{lessonId}/versions/{versionId}/export-zip\` has everything that plays the lesson
elsewhere.

## Commands

Some endpoints have a shell command with variables. Set these first:

- \`$LECTERN\` is the URL of this service, \`$CREDENTIALS\` is PUBLIC_KEY.SECRET_KEY.
- \`$LESSON_ID\` is an \`id\` of \`GET /api/lessons\`, \`$VERSION_ID\` its \`latestVersion.id\`.
- \`$MEDIA_ID\` follows \`media:\` in a lesson. \`$TOKEN\` is the \`token\` of \`POST /api/public/sign-token\`.
- \`$SIGNED_URL\` is the \`Location\` of a media file or a widget; if it begins with "/", put \`$LECTERN\` before it.

## Conventions

- Ids are UUIDs, in either case; the rest of a path is case-sensitive. Times are ISO 8601 in UTC. JSON is UTF-8.
- Percent-encode values in paths and queries. Send each parameter once.
- \`HEAD\` returns what \`GET\` does, without the body.
- Pages of every origin may call endpoints that need a token or a signed URL; \`OPTIONS\` on them returns 204. Endpoints
that take API credentials take a user's session as well, also from pages of the origins that the operator has allowed.
API credentials are for servers.
- Every response has \`X-Request-Id\` and \`X-Content-Type-Options: nosniff\`, and over HTTPS \`Strict-Transport-Security\`.

## Errors

- Every error has a code in the header \`Error-Code\`: programs decide by it, or by the status. Texts are for people.
- The body is \`{"error": "…", "code": "…"}\`; for tokens, progress and player data \`{"error": "…"}\`; for exports
\`{"error": "…", "message": "…", "code": "…", "timestamp": "…"}\`.
- Checks run in this order: credentials, their scope, path, query and body, plan, existence, content. Another organization's
resource is 404, as if it did not exist.
- A known path returns 405 for another method, with the header \`Allow\` and a text such as "PUT is not allowed here".
Credentials are checked first. An unknown path is 404 "Not found".
- A request that is malformed for every endpoint is 400 ("${rejectionTexts.malformed}", "The URL of the request
is not valid", "The Host header must be a host name or an IP address, with or without a port"), 408
("${rejectionTexts.tooSlow}") or 431 ("${rejectionTexts.largeHeaders}").
- 500 with \`Retry-After\` may be temporary: retry after that many seconds. Otherwise, report the \`X-Request-Id\` to the
operator.

## Limits

- Requests are counted per minute: by API key or user where credentials or session are valid, otherwise by the client's IP address. Over
the limit, the response is 429, with the seconds to wait in \`Retry-After\`.
- \`RateLimit-Policy\` is the limit, \`RateLimit\` what is left of it.
- Files at signed URLs, \`/health\` and this page are not counted.
`;

const tags = [
  { name: 'Tokens', description: 'For your server: let one learner load one lesson.' },
  { name: 'Progress', description: "For your server: read learners' progress." },
  {
    name: 'Learners',
    description: "For your server: read a lesson's learners, their answers and statistics.",
  },
  { name: 'Lessons', description: 'List lessons and their versions.' },
  { name: 'Content', description: 'For your server: check, publish and delete lessons.' },
  { name: 'Export', description: 'Download published versions to keep them, or to play them elsewhere.' },
  { name: 'Player', description: "For players: load lessons and keep progress with a learner's token." },
  { name: 'Embedding', description: 'For your pages: show lessons in frames.' },
  { name: 'LTI', description: 'For learning platforms: launch lessons and register.' },
  {
    name: 'Platforms',
    description: 'Connect learning platforms, and see what became of launches and grades.',
  },
  { name: 'Users', description: 'Log in and out; manage the users and API keys of an organization.' },
  { name: 'Organization', description: 'Your organization: its name, origins, look and storage.' },
  { name: 'Webhooks', description: 'For your server: get events as they occur.' },
  { name: 'xAPI', description: 'For your server: have statements sent to a learning record store.' },
  { name: 'Deliveries', description: 'For your server: everything that Lectern sends, in one list.' },
  {
    name: 'Operation',
    description: 'For operators with a session: all organizations, and the state of the service.',
  },
  { name: 'Service', description: 'For operators and tools.' },
];

/** Returns the OpenAPI document. */
export function apiDocument(
  { publicUrl }: Pick<Config, 'publicUrl'>,
  endpoints: readonly Endpoint<never>[],
): ReturnType<typeof createDocument> {
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Lectern',
        version: release,
        description: description.trim(),
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: publicUrl ?? '/' }],
      tags,
      security: [],
      paths: pathsOf(endpoints),
      webhooks: documentedEvents(),
      components: { securitySchemes: securitySchemes(publicUrl?.startsWith('https:') === true) },
    },
    { override: plain },
  );
}

const scopeList = Object.entries(keyScopes)
  .map(([scope, allows]) => `\`${scope}\` (${allows})`)
  .join('; ');

const roleList = Object.entries(rolePermissions)
  .map(
    ([role, has]) =>
      `\`${role}\` has ${has.length === keyScopeNames.length ? 'all scopes' : has.map((one) => `\`${one}\``).join(', ')}`,
  )
  .join('; ');

/** Returns the kinds of authentication. @param secure whether clients use HTTPS, on which the cookie's name depends. */
function securitySchemes(secure: boolean): Record<string, ZodOpenApiSecuritySchemeObject> {
  return {
    credentials: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'PUBLIC_KEY.SECRET_KEY',
      description:
        'API credentials: `Authorization: Bearer PUBLIC_KEY.SECRET_KEY`. They identify an organization and give ' +
        'access to its data only. The operator creates them with `lectern key create`, if wanted with `--scopes` ' +
        `that limit them: ${scopeList}. An endpoint names the scope that it needs in its security requirement. Keep ` +
        'credentials on a server, never in a page.',
    },
    token: {
      type: 'apiKey',
      in: 'query',
      name: 'token',
      description:
        'A short-lived JWT that lets one learner load one lesson, from `POST /api/public/sign-token` or from an LTI ' +
        'launch. It is for pages and frames of learners. `lectern lesson preview` signs a preview token (header ' +
        '`typ` `lectern-preview+jwt`): it plays one version, which may be a draft, records nothing and expires in an ' +
        'hour.',
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookieName(secure),
      description:
        'A user session, from `POST /api/session`. The cookie is HttpOnly and SameSite=Lax. A second cookie, ' +
        `\`${sessionCookieName(secure)}.sig\`, has its signature: send both. An endpoint names the permission that the ` +
        `user needs in its security requirement: ${roleList}.`,
    },
  };
}

/** Removes parts of zod's schemas that readers and request generators cannot use. */
const plain: CreateDocumentOptions['override'] = ({ jsonSchema }) => {
  const { format, maximum } = jsonSchema;
  // The format says enough; zod adds the pattern of its check.
  if (format === 'uuid' || format === 'date-time' || format === 'email') delete jsonSchema.pattern;
  if (maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  delete jsonSchema.propertyNames;
  // Not every language supports character classes in patterns.
  jsonSchema.pattern &&= jsonSchema.pattern.replace('\\p{Cc}\\p{Cs}', controlCharacters);
};

const controlCharacters = String.raw`\u0000-\u001f\u007f-\u009f`;
