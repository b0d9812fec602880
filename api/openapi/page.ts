import { createHash } from 'node:crypto';
import { escapeHtml } from '../http/html.ts';
import type { ApiDocument } from './document.ts';
import { variables } from './page-command.ts';
import { endpointsOf } from './page-document.ts';
import type { Components, Endpoint, PageDocument } from './page-document.ts';
import { endpointSection, methodMark } from './page-endpoint.ts';
import { fieldList, typeText } from './page-schema.ts';
import type { PageSchema } from './page-schema.ts';
import { pageStyle } from './page-style.ts';
import { anchorOf, headingsOf, inline, markdown } from './page-text.ts';

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
  const title = escapeHtml(info.title);
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} API</title>
<link rel="icon" href="data:,">
<style>${pageStyle}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<p class="bar"><a href="#content">${title} API</a><a href="#contents">Contents</a></p>
<div class="layout">
<nav id="contents" aria-label="Contents">
<a class="close" href="#content">Close</a>
<p class="name"><a href="#content">${title} API</a> <small>${escapeHtml(info.version)}</small></p>
${navGroup('Overview', [...headingsOf(info.description ?? ''), 'Commands', 'Authentication'].map(headingLink))}
${groups.map(({ name, endpoints }) => navGroup(name, endpoints.map(endpointLink))).join('')}
${navGroup('Schemas', Object.keys(components.schemas ?? {}).map(schemaLink))}
</nav>
<main id="content">
<header class="overview">
<h1>${title} API <small>${escapeHtml(info.version)}</small></h1>
<p class="soft">For programs: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1)</p>
${markdown(info.description ?? '')}
${commandsText(document.servers?.[0]?.url)}
${authenticationText(components.securitySchemes ?? {})}
</header>
${groups.map((group) => groupSection(group, components)).join('')}
<h2 id="schemas">Schemas</h2>
${Object.entries(components.schemas ?? {})
  .map(schemaSection)
  .join('')}
</main>
</div>
</body>
</html>
`;
  return withLinks(
    page,
    groups.flatMap(({ endpoints }) => endpoints),
  );
}

function navGroup(name: string, links: string[]): string {
  const items = links.map((link) => `<li>${link}</li>`).join('');
  return `<p class="group">${name}</p><ul>${items}</ul>\n`;
}

function headingLink(heading: string): string {
  return `<a href="#${anchorOf(heading)}">${escapeHtml(heading)}</a>`;
}

function endpointLink({ operationId, method, summary }: Endpoint): string {
  return `<a class="to-endpoint" href="#${operationId}">${methodMark(method)}<span>${escapeHtml(summary)}</span></a>`;
}

function schemaLink(name: string): string {
  return `<a href="#schema-${name}">${name}</a>`;
}

/** @param server the address of the service; "/" where it does not know the one that it is reached by. */
function commandsText(server = '/'): string {
  const address = server === '/' ? 'http://127.0.0.1:3000' : server;
  const lines = variables.map(([name, value]) => `export ${name}=${value}`);
  const meanings = variables.map(
    ([name, , meaning]) => `<li><code>$${name}</code> is ${inline(meaning)}.</li>`,
  );
  const settings = [`export LECTERN=${address}`, ...lines].join('\n');
  return `<h2 id="commands">Commands</h2>
<p>Each endpoint has a command for a terminal. What it needs to know it takes from variables; set them first:</p>
<pre class="command" tabindex="0"><code>${escapeHtml(settings)}</code></pre>
<ul><li><code>$LECTERN</code> is the address of this service.</li>${meanings.join('')}</ul>
`;
}

function authenticationText(schemes: Components['securitySchemes']): string {
  const rows = Object.entries(schemes).map(
    ([name, { description = '' }]) =>
      `<dt id="auth-${name}"><code>${name}</code></dt><dd>${markdown(description)}</dd>`,
  );
  return `<h2 id="authentication">Authentication</h2><dl>${rows.join('')}</dl>`;
}

interface Group {
  name: string;
  description?: string;
  endpoints: Endpoint[];
}

function groupSection({ name, description = '', endpoints }: Group, components: Partial<Components>): string {
  return `<section aria-labelledby="tag-${name}">
<h2 id="tag-${name}">${name}</h2>
${markdown(description)}
${endpoints.map((endpoint) => endpointSection(endpoint, components)).join('')}
</section>
`;
}

function schemaSection([name, schema]: [string, PageSchema]): string {
  return `<section class="schema" id="schema-${name}" aria-labelledby="schema-${name}-title">
<h3 id="schema-${name}-title"><a href="#schema-${name}">${name}</a></h3>
${markdown(schema.description ?? '')}
${schema.properties === undefined ? `<p>${typeText(schema)}</p>` : fieldList(schema, 'optional')}
</section>
`;
}

/** Where a text names an endpoint, as in `GET /api/lessons`, it leads there. */
function withLinks(html: string, endpoints: Endpoint[]): string {
  const ids = new Map(endpoints.map(({ method, path, operationId }) => [`${method} ${path}`, operationId]));
  return html.replace(/<code>([A-Z]+ \/[^<]*)<\/code>/g, (code, name: string) => {
    const id = ids.get(name);
    return id === undefined ? code : `<a href="#${id}">${code}</a>`;
  });
}
