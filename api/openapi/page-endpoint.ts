import { escapeHtml } from '../http/html.ts';
import { commandOf } from './page-command.ts';
import type { Components, Content, Endpoint, Example, Header, Parameter, Response } from './page-document.ts';
import { definitionList, fieldList, referredName, typeText } from './page-schema.ts';
import type { PageSchema } from './page-schema.ts';
import { inline, markdown } from './page-text.ts';

/** All that the page says of one endpoint: what it is, how it is asked, and each of its answers. */
export function endpointSection(endpoint: Endpoint, components: Partial<Components>): string {
  const { operationId, method, path, summary, description = '', parameters = [], requestBody } = endpoint;
  return `<section class="operation" id="${operationId}" aria-labelledby="${operationId}-title">
<div class="head">
<h3 id="${operationId}-title"><a href="#${operationId}">${escapeHtml(summary)}</a></h3>
<p class="address">${methodMark(method)}<code>${escapeHtml(path)}</code></p>
${markdown(description)}
<p class="soft">Authentication: ${authentication(endpoint.security)}</p>
</div>
<div class="samples">
<h4>Request <span class="soft">click to select it</span></h4>
<pre class="command" tabindex="0"><code>${escapeHtml(commandOf(endpoint))}</code></pre>
${answerSample(endpoint.responses)}
</div>
<div class="rest">
${parameterTexts(parameters)}
${requestBody === undefined ? '' : bodyText(requestBody.description ?? '', requestBody.content)}
<h4>Answers</h4>
${Object.entries(endpoint.responses)
  .map(([status, response]) => answerText(status, response, components))
  .join('')}
</div>
</section>
`;
}

export function methodMark(method: string): string {
  return `<span class="method ${method.toLowerCase()}">${method}</span>`;
}

function authentication(security: Record<string, unknown>[] = []): string {
  const ways = security
    .map((way) => Object.keys(way)[0])
    .map((name) => (name ? `<a href="#auth-${name}">${name}</a>` : 'none'));
  return ways.length === 0 ? 'none' : ways.join(' or ');
}

const places: Record<string, string> = { path: 'Path', query: 'Query', header: 'Request headers' };

function parameterTexts(parameters: Parameter[]): string {
  return Object.entries(places)
    .map(([place, title]) => {
      const fields = parameters
        .filter((parameter) => parameter.in === place)
        .map(({ name, required = false, description, schema }) => ({
          name,
          required,
          schema: { description, ...schema },
        }));
      return fields.length === 0 ? '' : `<h4>${title}</h4>${definitionList(fields, 'required')}`;
    })
    .join('');
}

function bodyText(description: string, content: Content): string {
  const [[type, { schema = {}, examples = {} }] = ['', {}]] = Object.entries(content);
  // The first one is in the command.
  const others = Object.values(examples).slice(1);
  return (
    `<h4>Body <span class="soft">${escapeHtml(type)}</span></h4>${markdown(description)}` +
    fieldList(schema, 'required') +
    others.map((example) => folded(example.summary ?? 'Example', jsonText(example.value))).join('')
  );
}

/** The first answer with an example, which is the one to hope for. */
function answerSample(responses: Record<string, Response>): string {
  for (const [status, { content = {} }] of Object.entries(responses)) {
    const [first, ...others] = examplesOf(content);
    if (Number(status) >= 300 || first === undefined) continue;
    const more = others.map(({ summary = 'Example', value }) => folded(summary, jsonText(value)));
    return `<h4>Answer ${status} ${summaryText(first)}</h4>${jsonText(first.value)}${more.join('')}`;
  }
  return '';
}

function summaryText({ summary }: Example): string {
  return summary === undefined ? '' : `<span class="soft">${inline(summary)}</span>`;
}

function answerText(status: string, response: Response, { schemas = {}, headers = {} }: Partial<Components>) {
  const { description, content = {} } = response;
  const failed = Number(status) >= 400;
  const texts = failed ? examplesOf(content).flatMap(({ summary }) => summary ?? []) : [];
  const list = texts.map((text) => `<li>${escapeHtml(text)}</li>`).join('');
  return `<div class="answer">
<p><strong class="status of-${status[0]}">${status}</strong> ${inline(description)}</p>
${list === '' ? '' : `<ul class="texts">${list}</ul>`}
${Object.entries(content)
  .map(([type, { schema = {}, examples = {} }]) => {
    const [example] = Object.values(examples);
    const shown = failed && example !== undefined ? jsonText(example.value) : fieldsText(schema, schemas);
    return folded('Body', `<p><code>${escapeHtml(type)}</code> ${typeText(schema)}</p>${shown}`);
  })
  .join('')}
${headerTexts(response.headers ?? {}, headers)}
</div>
`;
}

function fieldsText(schema: PageSchema, schemas: Record<string, PageSchema>): string {
  const found = schema.$ref === undefined ? schema : schemas[referredName(schema.$ref)];
  return found?.properties === undefined ? '' : fieldList(found, 'optional');
}

function headerTexts(headers: Record<string, Header>, named: Record<string, Header>): string {
  const lines = Object.entries(headers).map(([name, header]) => {
    const { description = '', required } = named[referredName(header.$ref ?? '')] ?? header;
    const sometimes = required === true ? '' : ' <span class="soft">not always</span>';
    return `<li><code>${name}</code>${sometimes} ${inline(description)}</li>`;
  });
  return lines.length === 0 ? '' : folded('Headers', `<ul>${lines.join('')}</ul>`);
}

function examplesOf(content: Content): Example[] {
  return Object.values(content).flatMap(({ examples = {} }) => Object.values(examples));
}

function jsonText(value: unknown): string {
  return `<pre tabindex="0"><code>${escapeHtml(JSON.stringify(value, null, 2))}</code></pre>`;
}

function folded(summary: string, html: string): string {
  return `<details><summary>${inline(summary)}</summary>${html}</details>`;
}
