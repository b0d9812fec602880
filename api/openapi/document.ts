import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDocument } from 'zod-openapi';
import type { CreateDocumentOptions } from 'zod-openapi';
import type { Config } from '../../shared/platform/config.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { pathsOf } from './operations.ts';
import { securitySchemes } from './security.ts';

/** An OpenAPI 3.1 document, as far as Lectern's own code looks into it. */
export type ApiDocument = ReturnType<typeof createDocument>;

const description = `
Lectern delivers lessons: it signs the tokens with which learners load them, records how far learners get, and hands
out published versions as self-contained archives.

## Getting started

1. **Credentials.** The operator makes them with \`lectern key create\`: PUBLIC_KEY.SECRET_KEY. Your server sends them
as \`Authorization: Bearer PUBLIC_KEY.SECRET_KEY\`, and gives them to nobody.
2. **A lesson.** \`GET /api/lessons\` lists what your organization has.
3. **A token.** When a learner opens a lesson, your server signs a token for the two with
\`POST /api/public/sign-token\`, and puts it into the learner's page.
4. **The lesson.** The page loads it with \`GET /api/public/lessons/{lessonId}/player-data\`, its media with
\`GET /api/public/lessons/{lessonId}/media/{mediaId}\` and its widgets with
\`GET /api/public/lessons/{lessonId}/widgets/{file}\`.
5. **The session.** The page asks where the learner is (\`GET /api/public/lessons/{lessonId}/session\`), and records
what the learner does (\`POST /api/public/lessons/{lessonId}/session\`).
6. **Progress.** Your server reads it with \`GET /api/public/lessons/{lessonId}/progress/{learnerId}\`.
7. **An archive.** \`GET /api/lessons/{lessonId}/versions/{versionId}/export-zip\` has all that it takes to play the
lesson elsewhere.

## Conventions

- Ids are UUIDs, in either case; the rest of a path is case-sensitive. Times are ISO 8601 in UTC. JSON is UTF-8.
- What stands in a path or a query is percent-encoded. A parameter is given once.
- \`HEAD\` answers as \`GET\` does, without a body.
- What a token or a signature opens answers pages of every origin, and \`OPTIONS\` with 204. What a session opens does so
for the origins that the operator has allowed. API credentials are for servers.
- Each answer has \`X-Request-Id\` and \`X-Content-Type-Options: nosniff\`, over HTTPS also \`Strict-Transport-Security\`.

## Errors

- The body is \`{"error": "…"}\`, of exports \`{"error": "…", "message": "…", "code": "…", "timestamp": "…"}\`. Texts are
for people: decide by the status, and of exports by \`code\`.
- Checks come in this order: credentials, path, query and body, plan, existence, content. What belongs to another
organization is 404, as if it did not exist.
- A known path answers another method with 405, the header \`Allow\` and a text such as "PUT is not allowed here"; where
there are credentials to check, after these. An unknown path is 404 "Not found".
- What is no good request of any address is 400 ("The request is not valid HTTP", "The address of the request is not
valid", "The Host header must be a host name or an IP address, with or without a port"), 408 ("The request took too
long to arrive") or 431 ("The address and the headers of a request must be at most 32768 bytes").
- 500 with \`Retry-After\` may pass by itself: ask again after that many seconds. Without it, tell the operator, with the
\`X-Request-Id\`.

## Limits

- Requests are counted by the minute: those with good API credentials by key, all others by client address. Over the
limit the answer is 429, and \`Retry-After\` says when to come again.
- \`RateLimit-Policy\` and \`RateLimit\` tell what the limit is, and what is left of it.
- Files at signed addresses, \`/health\` and this page are not counted.
`;

const tags = [
  { name: 'Tokens', description: 'For your server: let one learner load one lesson.' },
  { name: 'Progress', description: 'For your server: how far learners got.' },
  { name: 'Lessons', description: 'What lessons and versions there are.' },
  { name: 'Export', description: 'Published versions, to keep and to play elsewhere.' },
  { name: 'Player', description: "For players: what a learner's token opens." },
  { name: 'Embedding', description: 'For your pages: lessons in a frame.' },
  { name: 'LTI', description: 'For learning platforms: launches, and registration.' },
  { name: 'Users', description: 'For people of your organization: log in and out.' },
  { name: 'Service', description: 'For operators and tools.' },
];

/** The whole API, made from the schemas that requests are parsed with. */
export function apiDocument(
  { publicUrl }: Pick<Config, 'publicUrl'>,
  endpoints: readonly Endpoint<never>[],
): ApiDocument {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    version: string;
  };
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Lectern',
        version,
        description: description.trim(),
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: publicUrl ?? '/' }],
      tags,
      security: [],
      paths: pathsOf(endpoints),
      components: { securitySchemes: securitySchemes(publicUrl?.startsWith('https:') === true) },
    },
    { override: plain },
  );
}

/** What zod says beyond what a reader or a generator of requests can use. */
const plain: CreateDocumentOptions['override'] = ({ jsonSchema }) => {
  const { format, maximum } = jsonSchema;
  // A format says it better than the pattern that zod checks it with.
  if (format === 'uuid' || format === 'date-time' || format === 'email') delete jsonSchema.pattern;
  if (maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  delete jsonSchema.propertyNames;
  // Not every language's patterns know classes of characters.
  jsonSchema.pattern &&= jsonSchema.pattern.replace('\\p{Cc}\\p{Cs}', controlCharacters);
};

const controlCharacters = String.raw`\u0000-\u001f\u007f-\u009f`;
