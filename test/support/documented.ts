import { endpoints } from '../../api/app.ts';
import { apiDocument } from '../../api/openapi/document.ts';
import { createChecker } from '../openapi/openapi-checks.ts';
import type { Answer, Document } from '../openapi/openapi-checks.ts';

interface Operation {
  method: string;
  path: RegExp;
  /** As in the document, such as "GET /api/lessons/{lessonId}/versions". */
  name: string;
}

const operations: Operation[] = endpoints.map(({ method, path, documentedPath = path }) => ({
  method: method.toUpperCase(),
  path: new RegExp(`^${path.replace(/:\w+/g, '[^/]+').replace(/\*\w+$/, '.+')}$`),
  name: `${method.toUpperCase()} ${documentedPath.replace(/:(\w+)/g, '{$1}')}`,
}));

const document = JSON.parse(JSON.stringify(apiDocument({ publicUrl: undefined }, endpoints))) as Document;
const { expectDocumented } = createChecker(document);

/** Asserts that the OpenAPI document has this response of an endpoint: its status, headers, type and JSON body. */
export function checkDocumented(url: string, method: string, answer: Answer): void {
  // These are for a reverse proxy, which replaces them.
  if (answer.headers.has('X-Sendfile') || answer.headers.has('X-Accel-Redirect')) return;
  const { pathname } = new URL(url);
  const operation = operations.find((one) => one.method === method && one.path.test(pathname));
  if (operation !== undefined) expectDocumented(operation.name, answer);
}
