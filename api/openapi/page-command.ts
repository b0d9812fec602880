import { learnerId, lessonId, mediaId, versionId } from '../http/examples.ts';
import type { Endpoint } from './page-document.ts';

/** The variables that commands are filled in with, and what they stand for. */
export const variables: [name: string, value: string, meaning: string][] = [
  ['CREDENTIALS', 'PUBLIC_KEY.SECRET_KEY', 'from the operator'],
  ['LESSON_ID', lessonId, 'an `id` of `GET /api/lessons`'],
  ['VERSION_ID', versionId, 'its `latestVersion.id`'],
  ['LEARNER_ID', learnerId, 'your own name for a learner'],
  ['MEDIA_ID', mediaId, 'of a medium: what follows `media:` in a lesson'],
  ['TOKEN', 'eyJ…', 'the `token` of `POST /api/public/sign-token`'],
];

/** The request as a command for a terminal; what is to be filled in stands there as variables. */
export function commandOf(endpoint: Endpoint): string {
  const [sample] = endpoint['x-codeSamples'] ?? [];
  if (sample !== undefined) return sample.source;
  const { method, path, security = [], parameters = [], requestBody } = endpoint;
  const query = parameters
    .filter(({ in: place, required }) => place === 'query' && required)
    .map(({ name }) => `${name}=$${variableOf(name)}`)
    .join('&');
  const address = path.replace(/\{(\w+)\}/g, (_match, name: string) => `$${variableOf(name)}`);
  const [body] = Object.values(requestBody?.content['application/json']?.examples ?? {});
  const ways = security.flatMap((way) => Object.keys(way));
  const lines = [
    // A body makes it a POST by itself.
    `curl${method === 'GET' || body !== undefined ? '' : ` -X ${method}`} "$LECTERN${address}${query && '?'}${query}"`,
    ...(ways.includes('credentials') ? ['-H "Authorization: Bearer $CREDENTIALS"'] : []),
    ...(ways[0] === 'session' ? ['-b cookies.txt'] : []),
    ...(path === '/api/session' && body !== undefined ? ['-c cookies.txt'] : []),
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"', '-d @- <<END']),
  ];
  return lines.join(' \\\n  ') + (body === undefined ? '' : `\n${filledIn(body.value)}\nEND`);
}

function variableOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

function filledIn(body: unknown): string {
  return JSON.stringify(body, null, 2)
    .replaceAll(lessonId, '$LESSON_ID')
    .replaceAll(versionId, '$VERSION_ID');
}
