import { createHash } from 'node:crypto';
import { escapeHtml } from '../html.ts';
import type { ApiDocument } from './document.ts';
import { definitionList, fieldList, typeText } from './page-schema.ts';
import type { Marked, PageSchema } from './page-schema.ts';
import { pageStyle } from './page-style.ts';
import { inline, markdown } from './page-text.ts';

/** The document, as far as the page tells of it; `createDocument` has resolved nothing that it needs. */
interface PageDocument {
  info: { title: string; version: string; description?: string };
  servers?: { url: string }[];
  tags?: { name: string; description?: string }[];
  paths?: Record<string, Record<string, Operation>>;
  components?: {
    schemas?: Record<string, PageSchema>;
    headers?: Record<string, Header>;
    securitySchemes?: Record<string, { description?: string }>;
  };
}

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security?: Record<string, unknown>[];
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema: PageSchema }[];
  requestBody?: { description?: string; content: Content };
  responses: Record<string, Response>;
}

interface Response {
  description: string;
  headers?: Record<string, Header>;
  content?: Content;
}

type Content = Record<string, { schema?: PageSchema; examples?: Record<string, Example> }>;
interface Example {
  summary?: string;
  value: unknown;
}
interface Header {
  $ref?: string;
  description?: string;
  required?: boolean;
}

/** An operation and where it is. */
interface Endpoint extends Operation {
  method: string;
  path: string;
}

/** The page has no script, and asks nobody for anything. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(pageStyle).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The document as an HTML page for people. */
export function apiPage(apiDocument: ApiDocument): string {
  const document = apiDocument as unknown as PageDocument;
  const { info, tags = [], components = {} } = document;
  const groups = tags.map((tag) => ({ ...tag, endpoints: endpointsOf(document, tag.name) }));
  const server = document.servers?.[0]?.url ?? '/';
  const where =
    server === '/' ? 'the address of this service, such as `http://127.0.0.1:3000`' : `\`${server}\``;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)} API</title>
<link rel="icon" href="data:,">
<style>${pageStyle}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<div class="layout">
<nav aria-label="Contents">
<p><a href="#content">${escapeHtml(info.title)} API</a></p>
${groups.map(({ name, endpoints }) => navGroup(name, endpoints)).join('')}
<p class="group"><a href="#schemas">Schemas</a></p>
</nav>
<main id="content">
<h1>${escapeHtml(info.title)} API <small>${escapeHtml(info.version)}</small></h1>
${markdown(info.description ?? '')}
<p>The same for programs: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1). In the commands below,
<code>$LECTERN</code> is ${inline(where)}.</p>
<h2 id="authentication">Authentication</h2>
${definitionListOf(components.securitySchemes ?? {})}
${groups
  .map(
    ({ name, description = '', endpoints }) => `<section aria-labelledby="tag-${name}">
<h2 id="tag-${name}">${name}</h2>
${markdown(description)}
${endpoints.map((endpoint) => endpointSection(endpoint, components.headers ?? {})).join('')}
</section>`,
  )
  .join('')}
<h2 id="schemas">Schemas</h2>
${Object.entries(components.schemas ?? {})
  .map(schemaSection)
  .join('')}
</main>
</div>
</body>
</html>
`;
}

function endpointsOf({ paths = {} }: PageDocument, tag: string): Endpoint[] {
  return Object.entries(paths)
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        ...operation,
      })),
    )
    .filter(({ tags }) => tags.includes(tag));
}

function navGroup(name: string, endpoints: Endpoint[]): string {
  const links = endpoints.map(
    ({ operationId, summary }) => `<li><a href="#${operationId}">${escapeHtml(summary)}</a></li>`,
  );
  return `<p class="group">${name}</p><ul>${links.join('')}</ul>\n`;
}

function definitionListOf(schemes: Record<string, { description?: string }>): string {
  const rows = Object.entries(schemes).map(
    ([name, { description = '' }]) => `<dt><code>${name}</code></dt><dd>${markdown(description)}</dd>`,
  );
  return `<dl>${rows.join('')}</dl>`;
}

function endpointSection(endpoint: Endpoint, headers: Record<string, Header>): string {
  const { operationId, method, path, summary, description = '', parameters = [], requestBody } = endpoint;
  const fields = parameters.map(({ name, in: place, required = false, description: text, schema }) => ({
    name,
    required,
    schema: { ...schema, description: [`In the ${place}.`, text].filter(Boolean).join(' ') },
  }));
  return `<section class="operation" id="${operationId}" aria-labelledby="${operationId}-title">
<h3 id="${operationId}-title">${escapeHtml(summary)}</h3>
<p class="address"><span class="method ${method.toLowerCase()}">${method}</span><code>${escapeHtml(path)}</code></p>
${markdown(description)}
<p class="soft">Authentication: ${authentication(endpoint.security)}</p>
<pre tabindex="0"><code>${escapeHtml(command(endpoint))}</code></pre>
${fields.length === 0 ? '' : `<h4>Parameters</h4>${definitionList(fields, 'required')}`}
${requestBody === undefined ? '' : `<h4>Body</h4>${markdown(requestBody.description ?? '')}${contentText(requestBody.content, 'required')}`}
<h4>Answers</h4>
${Object.entries(endpoint.responses)
  .map(([status, response]) => responseDetails(status, response, headers))
  .join('')}
</section>
`;
}

function authentication(security: Record<string, unknown>[] = []): string {
  const ways = security
    .map((way) => Object.keys(way)[0])
    .map((name) => (name ? `<code>${name}</code>` : 'none'));
  return ways.length === 0 ? 'none' : ways.join(' or ');
}

/** The request as a command for a terminal; names in capitals are to be filled in. */
function command({ method, path, security = [], parameters = [], requestBody }: Endpoint): string {
  const capitals = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  const query = parameters
    .filter(({ in: place, required }) => place === 'query' && required)
    .map(({ name }) => `${name}=$${capitals(name)}`)
    .join('&');
  const address = path.replace(/\{(\w+)\}/g, (_match, name: string) => `$${capitals(name)}`);
  const [body] = Object.values(requestBody?.content['application/json']?.examples ?? {});
  const ways = security.flatMap((way) => Object.keys(way));
  return [
    `curl${method === 'GET' ? '' : ` -X ${method}`} "$LECTERN${address}${query && '?'}${query}"`,
    ...(ways.includes('credentials') ? ['-H "Authorization: Bearer $PUBLIC_KEY.$SECRET_KEY"'] : []),
    ...(ways[0] === 'session' ? ['-b cookies.txt'] : []),
    ...(path === '/api/session' && method === 'POST' ? ['-c cookies.txt'] : []),
    ...(body === undefined
      ? []
      : ['-H "Content-Type: application/json"', `-d '${JSON.stringify(body.value)}'`]),
  ].join(' \\\n  ');
}

function responseDetails(status: string, response: Response, named: Record<string, Header>): string {
  const { description, headers = {}, content = {} } = response;
  // Failures of one status differ in their texts alone.
  const shown = Number(status) < 400 ? Infinity : 1;
  const lines = Object.entries(headers).map(([name, header]) => {
    const { description: text = '', required } = named[header.$ref?.split('/').at(-1) ?? ''] ?? header;
    return `<li><code>${name}</code>${required === true ? '' : ' (not always)'} ${inline(text)}</li>`;
  });
  return `<details><summary><strong>${status}</strong> ${inline(description)}</summary><div class="inside">
${contentText(content, 'optional', shown)}
${lines.length === 0 ? '' : `<details><summary>Headers</summary><ul>${lines.join('')}</ul></details>`}
</div></details>
`;
}

function contentText(content: Content, marked: Marked, examplesShown = Infinity): string {
  return Object.entries(content)
    .map(([type, { schema = {}, examples = {} }]) => {
      const shape = `<p><code>${escapeHtml(type)}</code>: ${typeText(schema)}</p>`;
      const fields = schema.properties === undefined ? '' : fieldList(schema, marked);
      return shape + fields + exampleText(Object.values(examples), examplesShown);
    })
    .join('');
}

function exampleText(examples: Example[], shown: number): string {
  const whole = examples.slice(0, shown).map(({ summary = 'Example', value }) => {
    const json = escapeHtml(JSON.stringify(value, null, 2));
    return `<p class="soft">${inline(summary)}</p><pre tabindex="0"><code>${json}</code></pre>`;
  });
  const others = examples.slice(shown).map(({ summary = '' }) => `<li>${inline(summary)}</li>`);
  return whole.join('') + (others.length === 0 ? '' : `<p class="soft">Or</p><ul>${others.join('')}</ul>`);
}

function schemaSection([name, schema]: [string, PageSchema]): string {
  return `<section class="schema" id="schema-${name}" aria-labelledby="schema-${name}-title">
<h3 id="schema-${name}-title">${name}</h3>
${markdown(schema.description ?? '')}
${schema.properties === undefined ? `<p>${typeText(schema)}</p>` : fieldList(schema, 'optional')}
</section>
`;
}
