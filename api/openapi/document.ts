import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDocument } from 'zod-openapi';
import type { CreateDocumentOptions } from 'zod-openapi';
import type { Config } from '../../shared/config.ts';
import { packageRoot } from '../../shared/paths.ts';
import { embedPaths } from './paths/embed.ts';
import { exportPaths } from './paths/exports.ts';
import { filePaths } from './paths/files.ts';
import { integratorPaths } from './paths/integrators.ts';
import { lessonPaths } from './paths/lessons.ts';
import { playerPaths } from './paths/player.ts';
import { servicePaths } from './paths/service.ts';
import { userPaths } from './paths/users.ts';
import { securitySchemes } from './security.ts';

/** An OpenAPI 3.1 document, as far as Lectern's own code looks into it. */
export type ApiDocument = ReturnType<typeof createDocument>;

const description = `
Lectern delivers lessons: it signs the tokens with which learners load them, records how far learners get, and hands
out published versions as self-contained archives.

**From credentials to a learner's progress.** The operator makes API credentials with \`lectern key create\`. Your
server lists lessons (\`GET /api/lessons\`) and signs a token for one learner and one lesson
(\`POST /api/public/sign-token\`). The learner's page loads the lesson with it
(\`GET /api/public/lessons/{lessonId}/player-data\`) and records what happens
(\`POST /api/public/lessons/{lessonId}/session\`). Your server reads the progress
(\`GET /api/public/lessons/{lessonId}/progress/{learnerId}\`).

**Rules of every address.** Ids are UUIDs, in either case. Times are ISO 8601 in UTC. \`HEAD\` answers as \`GET\` does,
without a body. A known path answers another method with 405, the header \`Allow\` and an error such as "PUT is not
allowed here". An unknown path is 404 "Not found". Errors are \`{"error": "…"}\`, those of exports
\`{"error", "message", "code", "timestamp"}\`. Texts are for people: decide by the status, and of exports by \`code\`.

**Checks** come in this order: credentials, path, query and body, plan, existence, content. What belongs to another
organization is 404, as if it did not exist.

**Limits.** Requests are counted a minute, by API key, and by client address where there are no good credentials. Over
the limit the answer is 429 with \`Retry-After\`.
`;

const tags = [
  { name: 'Tokens', description: 'For your server: let one learner load one lesson.' },
  { name: 'Progress', description: 'For your server: how far learners got.' },
  { name: 'Lessons', description: 'What lessons and versions there are.' },
  { name: 'Export', description: 'Published versions, to keep and to play elsewhere.' },
  { name: 'Player', description: "For players: what a learner's token opens." },
  { name: 'Embedding', description: 'For your pages: lessons in a frame.' },
  { name: 'Users', description: 'For people of your organization: log in and out.' },
  { name: 'Service', description: 'For operators and tools.' },
];

/** The whole API, made from the schemas that requests are parsed with. */
export function apiDocument({ publicUrl }: Pick<Config, 'publicUrl'>): ApiDocument {
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
      paths: {
        ...integratorPaths,
        ...lessonPaths,
        ...exportPaths,
        ...playerPaths,
        ...filePaths,
        ...embedPaths,
        ...userPaths,
        ...servicePaths,
      },
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
